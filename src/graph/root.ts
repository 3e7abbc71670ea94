import type { GraphQLResolveInfo } from 'graphql';
import { boundedList } from '../core/bounded-list.ts';
import { keyOfKind } from '../core/kinds.ts';
import { isSecret } from '../core/redaction.ts';
import type { Listed } from '../load/reads.ts';
import type { ModelKind } from '../model/model.ts';
import { aggregatedPaths } from './aggregates.ts';
import { charged, maxObjects } from './budget.ts';
import type { GraphBuilder, ObjectRefOf, RootFields } from './builder.ts';
import { foundRow, type GraphContext } from './context.ts';
import { deprecationOf } from './kinds.ts';
import { searchArgument, selectionArguments } from './selection-arguments.ts';

/** The types of connections: of objects of any kind, and of each kind by the name of its type. */
export interface Connections {
  readonly any: ObjectRefOf<Listed>;
  readonly ofKinds: ReadonlyMap<string, ObjectRefOf<Listed>>;
}

/** Adds `Query`. Its fields alone may be asynchronous: they wait for first lists and live answers; nothing below them waits. */
export function addRoot(builder: GraphBuilder, connections: Connections): void {
  builder.pothos.queryType({
    description:
      `Reads from every cluster of the fleet at once. One answer holds at most ${maxObjects} objects: each element of a list counts, such as an ` +
      'item, an edge, a kind of a cluster or a part of `sync`, and a list inside another one counts each time. What asks for more is refused as ' +
      'a whole: `TOO_COSTLY`.',
  });
  addFleetFields(builder);
  addResourceFields(builder, connections.any);
  for (const kind of builder.model.kinds.values()) {
    const connection = connections.ofKinds.get(kind.type);
    if (connection !== undefined) addListField(builder, kind, connection);
    addSingleField(builder, kind);
  }
}

function addFleetFields({ pothos, types, model }: GraphBuilder): void {
  pothos.queryFields((t) => ({
    clusters: t.field({
      type: [types.cluster],
      nullable: false,
      description: 'The clusters of the fleet, by name.',
      args: {
        names: t.arg.stringList({ description: 'Only these.' }),
        labels: t.arg.string({ description: 'Only those with such labels: what kubectl takes after `-l`.' }),
      },
      resolve: (_root, filter, context) => charged(context.reads.clusters(context.read, filter), context),
    }),
    cluster: t.field({
      type: types.cluster,
      description: 'One cluster, or null if there is none of that name.',
      args: { name: t.arg.string({ required: true, description: 'What the fleet calls it.' }) },
      resolve: (_root, { name }, { reads, read }) => reads.cluster(read, name),
    }),
    gateway: t.field({
      type: types.gateway,
      nullable: false,
      description: 'This gateway itself.',
      resolve: (_root, _args, { gateway }) => gateway,
    }),
    kinds: t.field({
      type: [types.kind],
      nullable: false,
      description: 'The kinds of this schema, by group and kind.',
      args: { groups: t.arg.stringList({ description: 'Only those of these API groups; the core group is the empty text.' }) },
      resolve: (_root, { groups }, context) => {
        const named = groups == null ? undefined : new Set(boundedList('groups', groups));
        const asked = [...model.kinds.values()].filter(({ group }) => named?.has(group) ?? true);
        return charged(asked.toSorted(byGroupAndKind), context);
      },
    }),
  }));
}

function addResourceFields({ pothos, types, model }: GraphBuilder, connection: ObjectRefOf<Listed>): void {
  pothos.queryFields((t) => ({
    resource: t.field({
      type: types.resource,
      description: 'The object of an id, or null if there is none.',
      args: { id: t.arg.id({ required: true, description: 'As the field `id` of an object gives it.' }), live: liveArgument(t) },
      resolve: async (_root, { id, live }, context, info) =>
        foundRow(await context.reads.getById(context.read, { model, id, from: live === true ? 'live' : 'mirror' }), context, info),
    }),
    resources: t.field({
      type: connection,
      nullable: false,
      description:
        'Objects of several kinds, of every cluster that serves them. Of Secrets their metadata only. Without `kinds` it mirrors every kind that ' +
        'may be listed, which is costly on first use: name the kinds.',
      args: {
        kinds: t.arg.stringList({
          description:
            'By any of their names, such as `Pod`, `po`, `pods`, `apps.v1.deployments` or `Certificate.cert-manager.io`; absent, all, which is costly.',
        }),
        ...listArguments(t, types),
      },
      resolve: (_root, { kinds, ...args }, { reads, read }, info) =>
        reads.listKinds(read, { model, kinds }, { ...args, aggregated: aggregatedPaths(info) }),
    }),
  }));
}

function addListField({ pothos, types }: GraphBuilder, kind: ModelKind, connection: ObjectRefOf<Listed>): void {
  const part = isSecret(kind) ? ': their metadata only' : '';
  pothos.queryField(kind.many, (t) =>
    t.field({
      type: connection,
      nullable: false,
      description: `Objects of the kind ${keyOfKind(kind)}, of every cluster that serves it${part}.`,
      ...deprecationOf(kind),
      args: listArguments(t, types),
      resolve: (_root, args, { reads, read }, info) => reads.list(read, kind, { ...args, aggregated: aggregatedPaths(info) }),
    }),
  );
}

function addSingleField({ pothos, kinds }: GraphBuilder, kind: ModelKind): void {
  const type = kinds.get(kind.type);
  if (type === undefined) return;
  const description = `One object of the kind ${keyOfKind(kind)}, or null if there is none${isSecret(kind) ? '. Only live' : ''}.`;
  const options = { type, description, ...deprecationOf(kind) };
  const found = async (asked: SingleArguments, context: GraphContext, info: GraphQLResolveInfo) => {
    const { live, ...key } = asked;
    return foundRow(await context.reads.get(context.read, { kind, key, from: live === true ? 'live' : 'mirror' }), context, info);
  };
  pothos.queryField(kind.one, (t) => {
    const cluster = t.arg.string({ required: true, description: 'The cluster it lives in.' });
    const name = t.arg.string({ required: true, description: 'Its name.' });
    const live = liveArgument(t);
    if (!kind.namespaced) {
      return t.field({ ...options, args: { cluster, name, live }, resolve: (_root, args, context, info) => found(args, context, info) });
    }
    const namespace = t.arg.string({ required: true, description: 'The namespace it lives in.' });
    return t.field({
      ...options,
      args: { cluster, namespace, name, live },
      resolve: (_root, args, context, info) => found(args, context, info),
    });
  });
}

interface SingleArguments {
  readonly cluster: string;
  readonly namespace?: string;
  readonly name: string;
  readonly live?: boolean | null | undefined;
}

function liveArgument(t: RootFields) {
  return t.arg.boolean({ defaultValue: false, description: 'Ask the cluster itself, now, instead of the copy that is held.' });
}

/** The same for every kind, so that one component of a client serves all. */
function listArguments({ arg }: RootFields, types: GraphBuilder['types']) {
  return {
    ...selectionArguments(arg, types),
    search: searchArgument(arg),
    orderBy: arg({ type: [types.orderBy], description: 'What comes first; then, and by default, by namespace, name and cluster.' }),
    first: arg.int({ defaultValue: 100, description: 'Most objects on the page, over all clusters together: 1 to 500.' }),
    after: arg.string({ description: 'A cursor: the page begins behind it.' }),
    waitSeconds: arg.float({
      defaultValue: 10,
      description:
        'How long to wait for clusters whose first list is not whole yet: 0 to 60. Nothing else is ever waited for. The wait ends when four fifths of the ' +
        'time of the operation have passed (30 s for a query by default), so that the other clusters are answered.',
    }),
  };
}

function byGroupAndKind(a: ModelKind, b: ModelKind): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  return a.kind < b.kind ? -1 : Number(a.kind > b.kind);
}
