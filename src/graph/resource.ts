import type { GraphQLFieldResolver } from 'graphql';
import { boundedList } from '../core/bounded-list.ts';
import { printYaml } from '../core/json/print-yaml.ts';
import { isRawNumber, type Json, type RawNumber } from '../core/json.ts';
import { textAt, valueAt } from '../core/json-at.ts';
import { apiVersionOf } from '../core/kinds.ts';
import { idOfObject } from '../core/object-ids.ts';
import { exactNumberOfQuantity, parseQuantity } from '../core/quantities.ts';
import type { PromiseOrValue } from '../core/scheduling/promise-or-value.ts';
import { manifestOf } from '../load/manifest.ts';
import { type Row, valuesPerLook } from '../load/reads.ts';
import { yamlCost } from './budget.ts';
import type { GraphBuilder } from './builder.ts';
import type { GraphContext } from './context.ts';
import { Within } from './relations/within.ts';
import { type StoredResolver, storedAs } from './stored-values.ts';

/** Adds `Resource`, `ObjectMeta`, `OwnerReference` and `ResourceList`. */
export function addResource(builder: GraphBuilder): void {
  const { types } = builder;
  types.resource.implement({
    description: 'An object of any kind in one cluster.',
    resolveType: ({ kind }) => kind.type,
    fields: (t) => ({
      id: t.id({
        nullable: false,
        description: 'Opaque. Stands for this very object: one that is created again under its name has another id.',
        resolve: idOf,
      }),
      cluster: t.field({ type: types.cluster, nullable: false, description: 'Where it lives.', resolve: (row) => row.cluster }),
      apiVersion: t.string({
        nullable: false,
        description: 'Group and version it was read in, such as `apps/v1`.',
        resolve: ({ resource }) => apiVersionOf(resource),
      }),
      kind: t.string({ nullable: false, description: 'Its kind, such as `Deployment`.', resolve: ({ kind }) => kind.kind }),
      metadata: t.field({
        type: types.objectMeta,
        nullable: false,
        description: 'What every object has, such as name and labels.',
        resolve: (row) => row,
      }),
      sync: t.field({
        type: types.sync,
        nullable: false,
        description: 'How complete and old the copy is that it was read from.',
        resolve: (row) => row.sync,
      }),
      object: t.field({
        type: 'JSON',
        nullable: false,
        description: 'All of it, also what this schema does not know. Without managedFields; of a Secret without its data.',
        resolve: manifestOf,
      }),
      yaml: t.string({
        nullable: false,
        description: `The same as YAML that kubectl reads. Counts as ${yamlCost} objects more.`,
        resolve: yamlOf,
      }),
    }),
  });
  addMetadata(builder);
  addResourceList(builder);
}

function addMetadata({ types, outputOf }: GraphBuilder): void {
  types.objectMeta.implement({
    description: 'What every object has.',
    fields: (t) => ({
      name: t.string({
        resolve: ({ object }) => object.metadata.name,
        nullable: false,
        description: 'Unique for its kind in its namespace and cluster.',
      }),
      namespace: t.string({
        resolve: ({ object }) => object.metadata.namespace,
        description: 'The namespace it lives in; null if its kind lives in none.',
      }),
      uid: t.string({ resolve: ({ object }) => object.metadata.uid, description: 'Unique in its cluster for all time.' }),
      resourceVersion: t.string({
        resolve: ({ object }) => object.metadata.resourceVersion,
        description: 'Opaque; another one after each change.',
      }),
      generation: t.field({ type: 'Int64', description: 'Counts the changes of what is desired.', resolve: inMetadata }),
      creationTimestamp: t.field({ type: 'DateTime', description: 'When it was created.', resolve: inMetadata }),
      deletionTimestamp: t.field({
        type: 'DateTime',
        description: 'When it will be gone; null unless it is being deleted.',
        resolve: inMetadata,
      }),
      finalizers: t.field({
        type: outputOf({ list: { scalar: 'String' } }),
        description: 'Who still has to agree before it is deleted.',
        resolve: inMetadata,
      }),
      ownerReferences: t.field({
        type: [types.ownerReference],
        description: 'The objects it belongs to: it is deleted with the last of them.',
        resolve: ownerReferencesOf,
      }),
      labels: t.field({ type: 'StringMap', description: 'All its labels.', resolve: inMetadata }),
      label: t.string({
        description: 'One of its labels.',
        args: { key: t.arg.string({ required: true, description: 'The whole key, such as `app.kubernetes.io/name`.' }) },
        resolve: ({ object }, { key }) => ownValue(object.metadata.labels, key),
      }),
      annotations: t.field({
        type: 'StringMap',
        description: 'Its annotations.',
        args: { keys: t.arg.stringList({ description: 'Only these; absent, all.' }) },
        resolve({ object: { metadata } }, { keys }, { budget }) {
          if (keys == null) return metadata.annotations;
          budget.look(Math.ceil(boundedList('keys', keys).length / valuesPerLook));
          return onlyKeys(metadata.annotations, keys);
        },
      }),
      annotation: t.string({
        description: 'One of its annotations.',
        args: { key: t.arg.string({ required: true, description: 'The whole key.' }) },
        resolve: ({ object }, { key }) => ownValue(object.metadata.annotations, key),
      }),
    }),
  });
  types.ownerReference.implement({
    description: 'An object that another one belongs to, in the same cluster and namespace.',
    fields: (t) => ({
      apiVersion: t.string({ description: 'Its group and version.', resolve: ({ value }) => textAt(value, 'apiVersion') }),
      kind: t.string({ description: 'Its kind.', resolve: ({ value }) => textAt(value, 'kind') }),
      name: t.string({ description: 'Its name.', resolve: ({ value }) => textAt(value, 'name') }),
      uid: t.string({ description: 'Its uid.', resolve: ({ value }) => textAt(value, 'uid') }),
      controller: t.boolean({
        description: 'True for the one that manages the object.',
        resolve: ({ value }) => truthAt(value, 'controller'),
      }),
    }),
  });
}

function truthAt(value: Json | undefined, key: string): boolean | undefined {
  const found = valueAt(value, key);
  return typeof found === 'boolean' ? found : undefined;
}

/** Reads the property of the field's own name. */
const inMetadata: GraphQLFieldResolver<Row, GraphContext> = ({ object }, _args, _context, { fieldName }) => object.metadata[fieldName];

function ownerReferencesOf(row: Row): readonly Within[] | undefined {
  const { ownerReferences } = row.object.metadata;
  return Array.isArray(ownerReferences) ? ownerReferences.map((reference) => new Within(reference, row)) : undefined;
}

function addResourceList({ types }: GraphBuilder): void {
  types.resourceList.implement({
    description: 'Amounts by the name of the resource.',
    fields: (t) => ({
      cpu: t.field({ type: 'Quantity', description: 'Processor time: `1` is one core.', resolve: amountOf('cpu') }),
      memory: t.field({ type: 'Quantity', description: 'Bytes of memory.', resolve: amountOf('memory') }),
      ephemeralStorage: t.field({ type: 'Quantity', description: 'Bytes of local disk.', resolve: amountOf('ephemeral-storage') }),
      pods: t.field({ type: 'Quantity', description: 'How many pods.', resolve: amountOf('pods') }),
      get: t.field({
        type: 'Quantity',
        description: 'Any of them.',
        args: { name: t.arg.string({ required: true, description: 'The name of the resource, such as `nvidia.com/gpu`.' }) },
        resolve: storedAs<Amounts>({ scalar: 'Quantity' }, (list, { name }) => ownValue(list, name)),
      }),
      all: t.field({ type: 'StringMap', nullable: false, description: 'All of them by name, each as text.', resolve: amountsAsTexts }),
      cpuCores: t.float({ description: '`cpu` as a number of cores.', resolve: numberOf('cpu') }),
      memoryBytes: t.float({ description: '`memory` as a number of bytes.', resolve: numberOf('memory') }),
    }),
  });
}

type Amounts = Readonly<Record<string, Json>>;

function amountOf(name: string): StoredResolver<Amounts> {
  return storedAs({ scalar: 'Quantity' }, (list) => ownValue(list, name));
}

function numberOf(name: string): GraphQLFieldResolver<Amounts, GraphContext, object, number | RawNumber | undefined> {
  const resolve = amountOf(name);
  return (list, args, context, info) => {
    const text = textOfAmount(resolve(list, args, context, info));
    const quantity = text === undefined ? undefined : parseQuantity(text);
    return quantity === undefined ? undefined : exactNumberOfQuantity(quantity);
  };
}

const amountsAsTexts = storedAs<Amounts>({ scalar: 'StringMap' }, (list) =>
  Object.fromEntries(Object.entries(list).map(([name, amount]) => [name, textOfAmount(amount) ?? amount])),
);

/** Undefined for what is no amount. */
function textOfAmount(amount: unknown): string | undefined {
  if (isRawNumber(amount)) return amount.rawJSON;
  return typeof amount === 'string' || typeof amount === 'number' ? String(amount) : undefined;
}

/** Printing an object of 1 MB takes 3 ms, and 30 aliases may ask for it: a text whose operation has used up its slice is printed in a later one. */
function yamlOf(row: Row, _args: unknown, { budget, read }: GraphContext): PromiseOrValue<string> {
  budget.charge(yamlCost);
  const print = () => budget.text(printYaml(manifestOf(row)));
  const pause = read.timeSlices.pause();
  return pause === undefined ? print() : pause.then(print);
}

/** The id of the object in its row. */
export function idOf({ cluster, kind, object }: Row): string {
  const { namespace = '', name, uid } = object.metadata;
  return idOfObject({ cluster: cluster.name, group: kind.group, kind: kind.kind, namespace, name, uid });
}

/** Maps come from outside: a key such as `constructor` must not find what every object inherits. */
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
