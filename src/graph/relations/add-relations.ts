import type { GraphQLResolveInfo } from 'graphql';
import { boundedList } from '../../core/bounded-list.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { repeatableResolverWithInfo, typeOfValue } from '../../execution/known-resolvers.ts';
import { type ListPage, type Row, valuesPerRead } from '../../load/reads/reads.ts';
import { ownerReferenceOf, targetOfOwner, targetOfReference } from '../../load/relations/reference-targets.ts';
import { eventsAbout, ownedBy, podsOfWorkload } from '../../load/relations/relation-queries.ts';
import { maxRelationDepth, type ReferenceTarget, type RelationPage, type RelationQuery } from '../../load/relations/relations.ts';
import { kindByAnyName } from '../../model/any-name.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { referenceType, ValueInRow } from '../builder/value-in-row.ts';
import { type GraphContext, rowOrFaults } from '../context/context.ts';
import { personal } from '../context/personal.ts';
import { aggregatedPaths } from '../objects/aggregates.ts';
import type { ConnectionTypes } from '../objects/query.ts';
import { type ToMany, type ToOne, toMany, toOne } from './kind-relations.ts';

/**
 * Adds `PodOwner`, and the fields that lead from objects to others in the same cluster: those of `Resource`, of references, and of single
 * kinds. They return values and not promises if no mirror must be waited for.
 */
export function addRelations(builder: GraphBuilder, connections: ConnectionTypes): void {
  addOwnership(builder, connections);
  addReferences(builder);
  addPodOwner(builder, connections);
  for (const relation of toOne) addToOne(builder, relation);
  for (const relation of toMany) addToMany(builder, connections, relation);
}

function addOwnership({ pothos, types, model }: GraphBuilder, { any, ofKinds }: ConnectionTypes): void {
  // The kinds by the list of their names. The list in a variable is the same object for each row, so its names are looked up once.
  const known = new WeakMap<readonly string[], readonly ModelKind[]>();
  const kindsNamed = (names: readonly string[], { budget }: GraphContext): readonly ModelKind[] => {
    const kinds = known.get(names) ?? [...new Set(boundedList('kinds', names).map((name) => kindByAnyName(model, name)))];
    if (!known.has(names)) budget.countReads(Math.ceil(names.length / valuesPerRead));
    known.set(names, kinds);
    return kinds;
  };
  pothos.interfaceFields(types.resource, (t) => ({
    owner: t.field({
      type: types.resource,
      description:
        'The owner of the object: its controller, or else the first of its owners. Null if it has no owner that the caller may read. ' +
        `At most ${maxRelationDepth} relations may be nested.`,
      ...personal,
      resolve: repeatableResolverWithInfo((row, _args, context, info) =>
        followOne(row, targetOfOwner(ownerReferenceOf(row.object), row.object), { model, context, info }),
      ),
    }),
    owned: t.field({
      type: any,
      nullable: false,
      description:
        'The objects that name this object as an owner. Name the `kinds`: without them, the gateway reads every kind that you may list, which is ' +
        'costly on first use.',
      ...personal,
      args: {
        kinds: t.arg.stringList({
          description: 'The kinds, by any of their names, such as `ReplicaSet` or `po`. Default: all kinds, which is costly.',
        }),
        first: t.arg.int(firstOptions),
        after: t.arg.string(afterOptions),
      },
      resolve: repeatableResolverWithInfo((row, { kinds, ...page }, context, info) => {
        const named = kinds == null ? undefined : kindsNamed(kinds, context);
        return followMany(row, { query: ownedBy(row, named), page }, { model, context, info });
      }),
    }),
  }));
  const events = ofKinds.get('Event');
  if (events === undefined) return;
  pothos.interfaceField(types.resource, 'events', (t) =>
    t.field({
      type: events,
      nullable: false,
      description: 'The Events about the object, newest first.',
      ...personal,
      args: { first: t.arg.int(firstOptions), after: t.arg.string(afterOptions) },
      resolve: repeatableResolverWithInfo((row, page, context, info) =>
        followMany(row, { query: eventsAbout(row), page }, { model, context, info }),
      ),
    }),
  );
}

const firstOptions = { defaultValue: 20, description: 'The maximum number of objects on the page: 1 to 500.' } as const;
const afterOptions = { description: 'Continue after this cursor. Default: the first page.' } as const;

function addReferences(builder: GraphBuilder): void {
  const { pothos, types, model } = builder;
  const description = 'The referenced object. Null if it no longer exists, or if another object has its name now.';
  pothos.objectField(types.ownerReference, 'resource', (t) =>
    t.field({
      type: types.resource,
      description,
      ...personal,
      resolve: repeatableResolverWithInfo(({ value, row }, _args, context, info) =>
        followOne(row, targetOfOwner(objectAt(value), row.object), { model, context, info }),
      ),
    }),
  );
  addReferenceField(builder, { of: referenceType, field: 'resource', description, referenceIn: objectAt });
  addReferenceField(builder, {
    of: 'Endpoint',
    field: 'target',
    description: 'The object behind the endpoint, most often a Pod. Null if there is none.',
    referenceIn: (value) => objectAt(value, 'targetRef'),
  });
}

interface ReferenceField {
  /** The name of a type that contains references. */
  readonly of: string;
  readonly field: string;
  readonly description: string;
  /** Returns the reference that a value of the type `of` contains, such as `targetRef` of an `Endpoint`. */
  readonly referenceIn: (value: Json | undefined) => JsonObject;
}

function addReferenceField(
  { pothos, types, partTypes: parts, model }: GraphBuilder,
  { of, field, description, referenceIn }: ReferenceField,
): void {
  const type = parts.get(of);
  if (type === undefined) return;
  pothos.objectField(type, field, (t) =>
    t.field({
      type: types.resource,
      description,
      ...personal,
      resolve: repeatableResolverWithInfo((source, _args, context, info) => {
        if (!(source instanceof ValueInRow)) return undefined;
        const { value, row } = source;
        return followOne(row, targetOfReference(referenceIn(value), row.object.metadata.namespace), { model, context, info });
      }),
    }),
  );
}

function addPodOwner({ pothos, types, model }: GraphBuilder, { ofKinds }: ConnectionTypes): void {
  const pods = ofKinds.get('Pod');
  types.podOwner.implement({
    description: 'A workload that manages Pods.',
    resolveType: ({ kind }) => kind.type,
    ...typeOfValue,
  });
  if (pods === undefined) return;
  pothos.interfaceField(types.podOwner, 'pods', (t) =>
    t.field({
      type: pods,
      nullable: false,
      description: 'The Pods that the workload controls and that match its selector. A Deployment controls Pods through its ReplicaSets.',
      ...personal,
      args: { first: t.arg.int(firstOptions), after: t.arg.string(afterOptions) },
      resolve: repeatableResolverWithInfo((row, page, context, info) =>
        followMany(row, { query: podsOfWorkload(row), page }, { model, context, info }),
      ),
    }),
  );
}

function addToOne({ pothos, types, model, kinds }: GraphBuilder, { of, field, to, description, target }: ToOne): void {
  const type = typeOf({ model, kinds }, of);
  const result = to === undefined ? types.resource : typeOf({ model, kinds }, to);
  if (type === undefined || result === undefined) return;
  pothos.objectField(type, field, (t) =>
    t.field({
      type: result,
      description,
      ...personal,
      resolve: repeatableResolverWithInfo((row: Row, _args, context, info) => followOne(row, target(row.object), { model, context, info })),
    }),
  );
}

function addToMany(
  { pothos, model, kinds }: GraphBuilder,
  { ofKinds }: ConnectionTypes,
  { of, field, to, description, query }: ToMany,
): void {
  const type = typeOf({ model, kinds }, of);
  const connection = ofKinds.get(model.kinds.get(to)?.type ?? '');
  if (type === undefined || connection === undefined) return;
  pothos.objectField(type, field, (t) =>
    t.field({
      type: connection,
      nullable: false,
      description,
      ...personal,
      args: { first: t.arg.int(firstOptions), after: t.arg.string(afterOptions) },
      resolve: repeatableResolverWithInfo((row: Row, page, context, info) =>
        followMany(row, { query: query(row), page }, { model, context, info }),
      ),
    }),
  );
}

function typeOf({ model, kinds }: Pick<GraphBuilder, 'model' | 'kinds'>, key: string): ObjectRefOf<Row> | undefined {
  return kinds.get(model.kinds.get(key)?.type ?? '');
}

/** The model and the arguments of a resolver that a relation needs. */
interface RelationContext {
  readonly model: Model;
  readonly context: GraphContext;
  readonly info: GraphQLResolveInfo;
}

/**
 * Returns the related object, and charges it to the budget. Undefined if it does not exist or the caller may not see it. Faults that may be
 * the reason are reported in the answer.
 */
function followOne(
  row: Row,
  target: ReferenceTarget | undefined,
  { model, context, info }: RelationContext,
): PromiseOrValue<Row | undefined> {
  if (target === undefined) return undefined;
  return mapPromiseOrValue(context.relations.one(row, { model, target }), (found) => {
    if (found.row !== undefined) context.budget.charge(1);
    return rowOrFaults(found, context, info);
  });
}

/** Returns a page of the objects that are related to the row. */
function followMany(
  row: Row,
  { query, page }: { readonly query: RelationQuery; readonly page: RelationPage },
  { model, context, info }: RelationContext,
): PromiseOrValue<ListPage> {
  return context.relations.many(row, {
    model,
    query,
    page: { first: page.first, after: page.after, aggregated: aggregatedPaths(info) },
  });
}
