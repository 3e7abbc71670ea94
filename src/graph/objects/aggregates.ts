import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode, type ValueNode, valueFromASTUntyped } from 'graphql';
import type { Json } from '../../core/json.ts';
import { exactNumberOfQuantity, printQuantity, type Quantity } from '../../core/quantities.ts';
import { mapPromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { Aggregates, GroupView } from '../../load/reads/reads.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf } from '../builder/pothos.ts';
import { chargeList } from '../context/budget.ts';

/** Adds `Sum`, `Group` and `GroupOrder`, and the aggregates of `Connection`. */
export function addAggregates(builder: GraphBuilder): void {
  const { pothos, types } = builder;
  const order = enumsOf(pothos)('GroupOrder', 'The order of groups.', orderMeanings);
  const computed = computedFrom(builder);
  const group = pothos.objectRef<GroupView>('Group').implement({
    description: 'The objects that have equal values at the paths of a grouping.',
    fields: (t) => ({
      keys: t.field({
        type: t.listRef('JSON', { nullable: true }),
        nullable: false,
        description: 'The values of the group, one for each path, in the form the API server serves. Null for a missing value.',
        resolve: ({ keys }) => keys,
      }),
      count: t.exposeInt('count', { nullable: false, description: 'The number of objects in the group.' }),
      sum: t.field(computed.sum),
      min: t.field(computed.min),
      max: t.field(computed.max),
    }),
  });
  pothos.interfaceFields(types.connection, (t) => ({
    sum: t.field(computed.sum),
    min: t.field(computed.min),
    max: t.field(computed.max),
    groups: t.field({
      type: [group],
      nullable: false,
      description:
        'The objects of all pages, grouped by their values at these paths. An object with several values, through a list, counts in several groups.',
      args: {
        by: t.arg.stringList({
          required: true,
          description: 'One to four paths to group by, such as `cluster.region` or `spec.containers.image`.',
        }),
        orderBy: t.arg({ type: order, defaultValue: 'COUNT_DESC', description: 'The order of groups.' }),
        first: t.arg.int({ defaultValue: 100, description: 'The maximum number of groups: 1 to 500.' }),
      },
      resolve: (listed, args, context) => mapPromiseOrValue(listed.groups(args), (groups) => chargeList(groups, context)),
    }),
  }));
}

const orderMeanings = {
  COUNT_DESC: 'The largest groups come first. Groups of equal size are ordered by their keys, the smallest first.',
  KEY_ASC: 'The smallest keys come first, missing values last.',
};

/** Declares the fields that connections and groups share. */
function computedFrom({ pothos }: GraphBuilder) {
  const sum = pothos.objectRef<Quantity>('Sum').implement({
    description: 'The exact sum of numbers or amounts.',
    fields: (t) => ({
      text: t.field({
        type: 'Quantity',
        nullable: false,
        description: 'The sum with all its digits, such as `1250m` or `1088Mi`.',
        resolve: printQuantity,
      }),
      value: t.float({
        nullable: false,
        description: 'The sum as a number: exact if it is an integer, otherwise the nearest double.',
        resolve: exactNumberOfQuantity,
      }),
    }),
  });
  const args = pothos.args((arg) => ({
    path: arg.string({ required: true, description: 'The path to the value, such as `spec.replicas` or `status.capacity.cpu`.' }),
  }));
  return {
    sum: {
      type: sum,
      description: 'The exact sum of the numbers or amounts at this path. Null if no object has a value.',
      args,
      resolve: (of: Aggregates, { path }: { readonly path: string }) => of.sum(path),
    },
    min: {
      type: 'JSON',
      description: 'The smallest value at this path, in the form the API server serves. Null if no object has a value.',
      args,
      resolve: (of: Aggregates, { path }: { readonly path: string }) => mapPromiseOrValue(of.min(path), orNothing),
    },
    max: {
      type: 'JSON',
      description: 'The largest value at this path, in the form the API server serves. Null if no object has a value.',
      args,
      resolve: (of: Aggregates, { path }: { readonly path: string }) => mapPromiseOrValue(of.max(path), orNothing),
    },
  } as const;
}

function orNothing(value: Json | undefined): Exclude<Json, null> | undefined {
  return value ?? undefined;
}

/** The fields for aggregates, with the argument that has their paths. */
const pathArguments: ReadonlyMap<string, string> = new Map([
  ['sum', 'path'],
  ['min', 'path'],
  ['max', 'path'],
  ['groups', 'by'],
] satisfies readonly (readonly [keyof Aggregates | 'groups', string])[]);

/** The values of the path arguments below each field node. Cached, because the arguments of a node never change. */
const known = new WeakMap<FieldNode, readonly ValueNode[]>();

/**
 * Returns the paths of all sums, extremes and groups that are selected below the connection of this field. Undefined if there are none. Fields
 * with `@skip` count.
 */
export function aggregatedPaths(
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues'>,
): readonly string[] | undefined {
  const { fieldNodes, fragments, variableValues } = info;
  const values = fieldNodes.flatMap((node) => {
    const nodes = known.get(node) ?? (node.selectionSet === undefined ? [] : [...pathsIn(node.selectionSet, { ...fragments })]);
    known.set(node, nodes);
    return nodes;
  });
  if (values.length === 0) return undefined;
  return values.flatMap((value) => valueFromASTUntyped(value, variableValues.coerced)).filter((path) => typeof path === 'string');
}

/**
 * Returns the path arguments of all aggregates in a selection set, also inside fragments and groups.
 *
 * @param unseen The fragments that were not visited yet. A visit removes the fragment, so that each is visited once.
 */
function* pathsIn({ selections }: SelectionSetNode, unseen: Record<string, GraphQLResolveInfo['fragments'][string]>): Generator<ValueNode> {
  for (const node of selections) {
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const { [node.name.value]: fragment } = unseen;
      delete unseen[node.name.value];
      if (fragment !== undefined) yield* pathsIn(fragment.selectionSet, unseen);
    } else if (node.kind === Kind.INLINE_FRAGMENT) {
      yield* pathsIn(node.selectionSet, unseen);
    } else {
      const argument = pathArguments.get(node.name.value);
      if (argument === undefined) continue;
      for (const { name, value } of node.arguments ?? []) if (name.value === argument) yield value;
      // Each group may have sums and extremes too, whose paths are selected below `groups`.
      if (node.selectionSet !== undefined) yield* pathsIn(node.selectionSet, unseen);
    }
  }
}
