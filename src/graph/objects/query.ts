import type { GraphQLResolveInfo } from 'graphql';
import { boundedList } from '../../core/bounded-list.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { isSecret } from '../../core/redaction.ts';
import {
  type InfoResolver,
  repeatableResolver,
  repeatableResolverUnless,
  repeatableResolverWithInfo,
} from '../../execution/known-resolvers.ts';
import type { ListPage } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf, RootFields } from '../builder/pothos.ts';
import { chargeList, maxAnswerObjects } from '../context/budget.ts';
import { type GraphContext, rowOrFaults } from '../context/context.ts';
import { kindDeprecation } from '../fleet/kinds.ts';
import { aggregatedPaths } from './aggregates.ts';
import { searchArgument, selectionArguments } from './selection-arguments.ts';

/** The types of connections: for objects of any kind, and for each kind by the name of its type. */
export interface ConnectionTypes {
  readonly any: ObjectRefOf<ListPage>;
  readonly ofKinds: ReadonlyMap<string, ObjectRefOf<ListPage>>;
}

/**
 * Adds `Query` with the fields for clusters, kinds and objects. These fields may return promises, because they wait for first lists and live
 * reads.
 */
export function addQuery(builder: GraphBuilder, connections: ConnectionTypes): void {
  builder.pothos.queryType({
    description:
      `Reads objects from all clusters of the fleet at once. One answer contains at most ${maxAnswerObjects} objects. Each element of a list counts as one ` +
      'object: an item, an edge, a kind of a cluster, an entry of `sync`. The elements of a list inside another list count again for each element ' +
      'of the outer list. A query that needs more is refused as a whole with `TOO_COSTLY`.',
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
      description: 'The clusters of the fleet, ordered by name.',
      args: {
        names: t.arg.stringList({ description: 'Only the clusters with these names. Default: all clusters.' }),
        labels: t.arg.string({
          description: 'Only clusters that match this label selector, such as `team=shop`, as `kubectl get -l` takes it.',
        }),
      },
      resolve: repeatableResolver((_root, filter, context) => chargeList(context.reads.clusters(context.read, filter), context)),
    }),
    cluster: t.field({
      type: types.cluster,
      description: 'The cluster with this name. Null if the fleet does not have it.',
      args: { name: t.arg.string({ required: true, description: 'The name of the cluster in the fleet.' }) },
      resolve: repeatableResolver((_root, { name }, { reads, read }) => reads.cluster(read, name)),
    }),
    gateway: t.field({
      type: types.gateway,
      nullable: false,
      description: 'The gateway that answers this request.',
      resolve: repeatableResolver((_root, _args, { gateway }) => gateway),
    }),
    kinds: t.field({
      type: [types.kind],
      nullable: false,
      description: 'The kinds of this schema, ordered by API group and kind.',
      args: {
        groups: t.arg.stringList({ description: 'Only kinds of these API groups. The core group is the empty text. Default: all groups.' }),
      },
      resolve: repeatableResolver((_root, { groups }, context) => {
        const named = groups == null ? undefined : new Set(boundedList('groups', groups));
        const chosen = [...model.kinds.values()].filter(({ group }) => named?.has(group) ?? true);
        return chargeList(chosen.toSorted(byGroupAndKind), context);
      }),
    }),
  }));
}

function addResourceFields({ pothos, types, model }: GraphBuilder, connection: ObjectRefOf<ListPage>): void {
  pothos.queryFields((t) => ({
    resource: t.field({
      type: types.resource,
      description: 'The object with this id. Null if it does not exist.',
      args: { id: t.arg.id({ required: true, description: 'The value of the field `id` of the object.' }), live: liveArgument(t) },
      resolve: unlessLive(async (_root, { id, live }, context, info) =>
        rowOrFaults(await context.reads.getById(context.read, { model, id, from: live === true ? 'live' : 'mirror' }), context, info),
      ),
    }),
    resources: t.field({
      type: connection,
      nullable: false,
      description:
        'Objects of several kinds from all clusters that serve them. Secrets come with their metadata only. Name the `kinds`: without them, the ' +
        'gateway reads every kind that you may list, which is costly on first use.',
      args: {
        kinds: t.arg.stringList({
          description:
            'The kinds, by any of their names, such as `Pod`, `po`, `pods`, `apps.v1.deployments` or `Certificate.cert-manager.io`. Default: all kinds, ' +
            'which is costly.',
        }),
        ...listArguments(t, types),
      },
      resolve: repeatableResolverWithInfo((_root, { kinds, ...args }, { reads, read }, info) =>
        reads.listKinds(read, { model, kinds }, { ...args, aggregated: aggregatedPaths(info) }),
      ),
    }),
  }));
}

/**
 * Adds the field for all objects of a kind, such as `pods`. Next: the fields of the page (`items`, `totalCount`) are in connections.ts, the
 * fields of its objects in generated.ts.
 */
function addListField({ pothos, types }: GraphBuilder, kind: ModelKind, connection: ObjectRefOf<ListPage>): void {
  const part = isSecret(kind) ? ', with their metadata only' : '';
  pothos.queryField(kind.many, (t) =>
    t.field({
      type: connection,
      nullable: false,
      description: `Objects of the kind ${keyOfKind(kind)} from all clusters that serve it${part}.`,
      ...kindDeprecation(kind),
      args: listArguments(t, types),
      resolve: repeatableResolverWithInfo((_root, args, { reads, read }, info) =>
        reads.list(read, kind, { ...args, aggregated: aggregatedPaths(info) }),
      ),
    }),
  );
}

function addSingleField({ pothos, kinds }: GraphBuilder, kind: ModelKind): void {
  const type = kinds.get(kind.type);
  if (type === undefined) return;
  const description = `One object of the kind ${keyOfKind(kind)}. Null if it does not exist.${isSecret(kind) ? ' Requires `live: true`.' : ''}`;
  const options = { type, description, ...kindDeprecation(kind) };
  const found = async (args: SingleArguments, context: GraphContext, info: GraphQLResolveInfo) => {
    const { live, ...key } = args;
    return rowOrFaults(await context.reads.get(context.read, { kind, key, from: live === true ? 'live' : 'mirror' }), context, info);
  };
  pothos.queryField(kind.one, (t) => {
    const cluster = t.arg.string({ required: true, description: 'The name of the cluster that contains the object.' });
    const name = t.arg.string({ required: true, description: 'The name of the object.' });
    const live = liveArgument(t);
    if (!kind.namespaced) {
      return t.field({
        ...options,
        args: { cluster, name, live },
        resolve: unlessLive((_root, args, context, info) => found(args, context, info)),
      });
    }
    const namespace = t.arg.string({ required: true, description: 'The namespace of the object.' });
    return t.field({
      ...options,
      args: { cluster, namespace, name, live },
      resolve: unlessLive((_root, args, context, info) => found(args, context, info)),
    });
  });
}

/** Declares a resolver that may be called again, unless its argument `live` is given. */
function unlessLive<Root, Args, Value>(resolver: InfoResolver<Root, Args, GraphContext, Value>) {
  return repeatableResolverUnless('live', resolver);
}

interface SingleArguments {
  readonly cluster: string;
  readonly namespace?: string;
  readonly name: string;
  readonly live?: boolean | null | undefined;
}

function liveArgument(t: RootFields) {
  return t.arg.boolean({
    defaultValue: false,
    description: 'True: read the object from the API server now. False: read it from the local copy of the gateway.',
  });
}

/** Returns the arguments of a list field. They are equal for all kinds, so that one component of a client works with every kind. */
function listArguments({ arg }: RootFields, types: GraphBuilder['types']) {
  return {
    ...selectionArguments(arg, types),
    search: searchArgument(arg),
    orderBy: arg({
      type: [types.orderBy],
      description:
        'The order of the list. Objects that are equal in this order are ordered by namespace, name and cluster, as is the whole list by default.',
    }),
    first: arg.int({ defaultValue: 100, description: 'The maximum number of objects on the page, over all clusters together: 1 to 500.' }),
    after: arg.string({ description: 'Continue after this cursor. Default: the first page.' }),
    waitSeconds: arg.float({
      defaultValue: 10,
      description:
        'The maximum number of seconds to wait for clusters whose first list is not complete yet: 0 to 60. The answer waits for nothing else. The wait ' +
        'ends early when four fifths of the time limit of the operation have passed, so that the other clusters are still answered. The time limit ' +
        'of a query is 30 s by default.',
    }),
  };
}

function byGroupAndKind(a: ModelKind, b: ModelKind): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  return a.kind < b.kind ? -1 : Number(a.kind > b.kind);
}
