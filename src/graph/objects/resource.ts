import type { GraphQLFieldResolver } from 'graphql';
import { boundedList } from '../../core/bounded-list.ts';
import { printYaml } from '../../core/json/print-yaml.ts';
import { isRawNumber, type Json, type RawNumber } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import { idOfObject } from '../../core/object-ids.ts';
import { exactNumberOfQuantity, parseQuantity } from '../../core/quantities.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import {
  objectResolver,
  repeatableResolver,
  repeatableResolverWithInfo,
  storedResolver,
  typeOfValue,
  valueResolver,
} from '../../execution/known-resolvers.ts';
import { manifestOf } from '../../load/reads/manifest.ts';
import { type Row, valuesPerRead } from '../../load/reads/reads.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { FieldsOf } from '../builder/pothos.ts';
import { resolveStored, type StoredResolver } from '../builder/stored-values.ts';
import { ValueInRow } from '../builder/value-in-row.ts';
import { yamlCost } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';

/** Adds `Resource`, `ObjectMeta`, `OwnerReference` and `ResourceList`. */
export function addResource(builder: GraphBuilder): void {
  const { types } = builder;
  types.resource.implement({
    description: 'An object of any kind in one cluster.',
    resolveType: ({ kind }) => kind.type,
    ...typeOfValue,
    fields: (t) => ({
      id: t.id({
        nullable: false,
        description: 'An opaque id of this object. An object that is created again under the same name has another id.',
        resolve: objectResolver(idOf),
      }),
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster that contains the object.',
        resolve: objectResolver((row) => row.cluster),
      }),
      apiVersion: t.string({
        nullable: false,
        description: 'The group and version in which the object was read, such as `apps/v1`.',
        resolve: objectResolver(({ resource }) => apiVersionOf(resource)),
      }),
      kind: t.string({
        nullable: false,
        description: 'The kind of the object, such as `Deployment`.',
        resolve: objectResolver(({ kind }) => kind.kind),
      }),
      metadata: t.field({
        type: types.objectMeta,
        nullable: false,
        description: 'The metadata of the object, such as its name and labels.',
        resolve: objectResolver((row) => row),
      }),
      sync: t.field({
        type: types.sync,
        nullable: false,
        description: 'How complete and current the local copy is that the object was read from.',
        resolve: valueResolver((row) => row.sync),
      }),
      object: t.field({
        type: 'JSON',
        nullable: false,
        description:
          'The whole object as JSON, including fields that this schema does not have. Without managedFields, and without the data of a Secret.',
        resolve: objectResolver(manifestOf),
      }),
      yaml: t.string({
        nullable: false,
        description: `The content of \`object\` as YAML that kubectl reads. It counts as ${yamlCost} additional objects.`,
        resolve: yamlOf,
      }),
    }),
  });
  addMetadata(builder);
  addOwnerReference(builder);
  addResourceList(builder);
}

function addMetadata({ types, outputOf }: GraphBuilder): void {
  types.objectMeta.implement({
    description: 'The metadata of an object.',
    fields: (t) => ({
      name: t.string({
        resolve: inMetadata('name'),
        nullable: false,
        description: 'The name of the object. It is unique for its kind in its namespace and cluster.',
      }),
      namespace: t.string({
        resolve: inMetadata('namespace'),
        description: 'The namespace of the object. Null for cluster-scoped kinds.',
      }),
      uid: t.string({
        resolve: inMetadata('uid'),
        description: 'The uid of the object. Its cluster never uses it for another object.',
      }),
      resourceVersion: t.string({
        resolve: inMetadata('resourceVersion'),
        description: 'The opaque version of the object. Each change of the object changes it.',
      }),
      generation: t.field({
        type: 'Int64',
        description: 'A number that grows with each change of the desired state. Null if the API server does not count these changes.',
        resolve: inMetadata('generation'),
      }),
      creationTimestamp: t.field({
        type: 'DateTime',
        description: 'The time at which the object was created.',
        resolve: inMetadata('creationTimestamp'),
      }),
      deletionTimestamp: t.field({
        type: 'DateTime',
        description: 'The time at which the object will be deleted. Null unless its deletion was requested.',
        resolve: inMetadata('deletionTimestamp'),
      }),
      finalizers: t.field({
        type: outputOf({ list: { scalar: 'String' } }),
        description: 'The finalizers of the object. Its deletion waits until all of them are removed. Null if it has none.',
        resolve: inMetadata('finalizers'),
      }),
      ownerReferences: t.field({
        type: [types.ownerReference],
        description: 'The owners of the object. It is deleted when the last owner is deleted. Null if it has none.',
        resolve: valueResolver(ownerReferencesOf),
      }),
      ...labelFields(t),
    }),
  });
}

function labelFields(t: FieldsOf<Row>) {
  return {
    labels: t.field({ type: 'StringMap', description: 'The labels of the object. Null if it has none.', resolve: inMetadata('labels') }),
    label: t.string({
      description: 'The value of one label. Null if the object does not have it.',
      args: { key: t.arg.string({ required: true, description: 'The full key of the label, such as `app.kubernetes.io/name`.' }) },
      resolve: repeatableResolver(({ object }, { key }) => ownValue(object.metadata.labels, key)),
    }),
    annotations: t.field({
      type: 'StringMap',
      description: 'The annotations of the object. Null if it has none.',
      args: { keys: t.arg.stringList({ description: 'Only the annotations with these keys. Default: all annotations.' }) },
      resolve: repeatableResolver(({ object: { metadata } }, { keys }, { budget }) => {
        if (keys == null) return metadata.annotations;
        budget.countReads(Math.ceil(boundedList('keys', keys).length / valuesPerRead));
        return onlyKeys(metadata.annotations, keys);
      }),
    }),
    annotation: t.string({
      description: 'The value of one annotation. Null if the object does not have it.',
      args: { key: t.arg.string({ required: true, description: 'The full key of the annotation.' }) },
      resolve: repeatableResolver(({ object }, { key }) => ownValue(object.metadata.annotations, key)),
    }),
  };
}

function addOwnerReference({ types }: GraphBuilder): void {
  types.ownerReference.implement({
    description: 'A reference from an object to its owner in the same cluster. The owner is in the same namespace, or cluster-scoped.',
    fields: (t) => ({
      apiVersion: t.string({
        description: 'The group and version of the owner, such as `apps/v1`.',
        resolve: valueResolver(({ value }) => textAt(value, 'apiVersion')),
      }),
      kind: t.string({ description: 'The kind of the owner.', resolve: valueResolver(({ value }) => textAt(value, 'kind')) }),
      name: t.string({ description: 'The name of the owner.', resolve: valueResolver(({ value }) => textAt(value, 'name')) }),
      uid: t.string({ description: 'The uid of the owner.', resolve: valueResolver(({ value }) => textAt(value, 'uid')) }),
      controller: t.boolean({
        description: 'True if this owner is the controller of the object. An object has at most one.',
        resolve: valueResolver(({ value }) => truthAt(value, 'controller')),
      }),
    }),
  });
}

function truthAt(value: Json | undefined, key: string): boolean | undefined {
  const found = valueAt(value, key);
  return typeof found === 'boolean' ? found : undefined;
}

/** Returns a resolver for a member of the metadata. */
function inMetadata<const Name extends string>(name: Name) {
  const read = ({ object }: Row): Row['object']['metadata'][Name] => object.metadata[name];
  return storedResolver({ path: ['object', 'metadata'], key: name, fit: 'any' }, read);
}

function ownerReferencesOf(row: Row): readonly ValueInRow[] | undefined {
  const { ownerReferences } = row.object.metadata;
  return Array.isArray(ownerReferences) ? ownerReferences.map((reference) => new ValueInRow(reference, row)) : undefined;
}

function addResourceList({ types }: GraphBuilder): void {
  types.resourceList.implement({
    description: 'Amounts of resources such as CPU and memory, by the name of the resource.',
    fields: (t) => ({
      cpu: t.field({
        type: 'Quantity',
        description: 'The amount of CPU. `1` is one core. Null if this ResourceList has no `cpu`.',
        resolve: amountOf('cpu'),
      }),
      memory: t.field({
        type: 'Quantity',
        description: 'The amount of memory in bytes, such as `512Mi`. Null if this ResourceList has no `memory`.',
        resolve: amountOf('memory'),
      }),
      ephemeralStorage: t.field({
        type: 'Quantity',
        description: 'The amount of local disk in bytes, such as `1Gi`. Null if this ResourceList has no `ephemeral-storage`.',
        resolve: amountOf('ephemeral-storage'),
      }),
      pods: t.field({
        type: 'Quantity',
        description: 'The number of Pods. Null if this ResourceList has no `pods`.',
        resolve: amountOf('pods'),
      }),
      get: t.field({
        type: 'Quantity',
        description: 'The amount of the resource with this name. Null if this ResourceList does not have it.',
        args: { name: t.arg.string({ required: true, description: 'The name of the resource, such as `nvidia.com/gpu`.' }) },
        resolve: repeatableResolverWithInfo(resolveStored<Amounts>({ scalar: 'Quantity' }, (list, { name }) => ownValue(list, name))),
      }),
      all: t.field({
        type: 'StringMap',
        nullable: false,
        description: 'The amounts of all resources of this ResourceList, by name, each as text.',
        resolve: amountsAsTexts,
      }),
      cpuCores: t.float({
        description: 'The value of `cpu` as a number of cores. Null if this ResourceList has no `cpu`.',
        resolve: numberOf('cpu'),
      }),
      memoryBytes: t.float({
        description: 'The value of `memory` as a number of bytes. Null if this ResourceList has no `memory`.',
        resolve: numberOf('memory'),
      }),
    }),
  });
}

type Amounts = Readonly<Record<string, Json>>;

function amountOf(name: string): StoredResolver<Amounts> {
  return repeatableResolverWithInfo(resolveStored({ scalar: 'Quantity' }, (list) => ownValue(list, name)));
}

function numberOf(name: string): GraphQLFieldResolver<Amounts, GraphContext, object, number | RawNumber | undefined> {
  const resolve = amountOf(name);
  return repeatableResolverWithInfo((list, args, context, info) => {
    const text = textOfAmount(resolve(list, args, context, info));
    const quantity = text === undefined ? undefined : parseQuantity(text);
    return quantity === undefined ? undefined : exactNumberOfQuantity(quantity);
  });
}

const amountsAsTexts = repeatableResolverWithInfo(
  resolveStored<Amounts>({ scalar: 'StringMap' }, (list) =>
    Object.fromEntries(Object.entries(list).map(([name, amount]) => [name, textOfAmount(amount) ?? amount])),
  ),
);

/** Returns the text of an amount. Undefined for a value that is no amount. */
function textOfAmount(amount: unknown): string | undefined {
  if (isRawNumber(amount)) return amount.rawJSON;
  return typeof amount === 'string' || typeof amount === 'number' ? String(amount) : undefined;
}

/**
 * Prints the object as YAML. An object of 1 MB takes 3 ms, and 30 aliases may select the field. If the operation has used up its time
 * slice, the text is printed in a later slice.
 */
function yamlOf(row: Row, _args: unknown, { budget, read }: GraphContext): PromiseOrValue<string> {
  budget.charge(yamlCost);
  const print = () => budget.text(printYaml(manifestOf(row)));
  const pause = read.timeSlices.pause();
  return pause === undefined ? print() : pause.then(print);
}

/** Returns the id of the object in a row. */
export function idOf({ cluster, kind, object }: Row): string {
  const { namespace = '', name, uid } = object.metadata;
  return idOfObject({ cluster: cluster.name, group: kind.group, kind: kind.kind, namespace, name, uid });
}

/**
 * Returns an own property of a map, or undefined if the map does not have it. A key such as `constructor` must not find a member that every
 * object inherits.
 */
function ownValue<T>(map: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return map != null && Object.hasOwn(map, key) ? map[key] : undefined;
}

function onlyKeys(
  map: Readonly<Record<string, string>> | null | undefined,
  keys: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (map == null) return undefined;
  const wanted = new Set(keys);
  return Object.fromEntries(Object.entries(map).filter(([key]) => wanted.has(key)));
}
