import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode, type ValueNode, valueFromASTUntyped } from 'graphql';
import type { Json } from '../core/json.ts';
import { exactNumberOfQuantity, printQuantity, type Quantity } from '../core/quantities.ts';
import { mapPromiseOrValue } from '../core/scheduling/promise-or-value.ts';
import type { Aggregates, GroupView } from '../load/reads.ts';
import { charged } from './budget.ts';
import type { GraphBuilder } from './builder.ts';
import { enumsOf } from './faults.ts';

/** Adds `Sum`, `Group` and `GroupOrder`, and to `Connection` what is computed from all that matches. */
export function addAggregates(builder: GraphBuilder): void {
  const { pothos, types } = builder;
  const order = enumsOf(pothos)('GroupOrder', 'Which groups come first.', orderMeanings);
  const computed = computedFrom(builder);
  const group = pothos.objectRef<GroupView>('Group').implement({
    description: 'Objects that have the same values.',
    fields: (t) => ({
      keys: t.field({
        type: t.listRef('JSON', { nullable: true }),
        nullable: false,
        description: 'The values, one for each path, as served. Null for what is missing.',
        resolve: ({ keys }) => keys,
      }),
      count: t.exposeInt('count', { nullable: false, description: 'How many objects there are.' }),
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
        'The objects of all pages by their values at these paths. One with several values, through a list, counts in the group of each.',
      args: {
        by: t.arg.stringList({ required: true, description: 'One to four paths, such as `cluster.region` or `spec.containers.image`.' }),
        orderBy: t.arg({ type: order, defaultValue: 'COUNT_DESC', description: 'Which groups come first.' }),
        first: t.arg.int({ defaultValue: 100, description: 'Most groups: 1 to 500.' }),
      },
      resolve: (listed, args, context) => mapPromiseOrValue(listed.groups(args), (groups) => charged(groups, context)),
    }),
  }));
}

const orderMeanings = {
  COUNT_DESC: 'The largest first; of those as large, the smallest keys.',
  KEY_ASC: 'The smallest keys first, what is missing last.',
};

/** The same of all that matches and of each group. */
function computedFrom({ pothos }: GraphBuilder) {
  const sum = pothos.objectRef<Quantity>('Sum').implement({
    description: 'What numbers or amounts add up to.',
    fields: (t) => ({
      text: t.field({
        type: 'Quantity',
        nullable: false,
        description: 'To the last digit, such as `1250m` or `1088Mi`.',
        resolve: printQuantity,
      }),
      value: t.float({
        nullable: false,
        description: 'As a number: integers exactly, else the nearest double.',
        resolve: exactNumberOfQuantity,
      }),
    }),
  });
  const args = pothos.args((arg) => ({
    path: arg.string({ required: true, description: 'Such as `spec.replicas` or `status.capacity.cpu`.' }),
  }));
  return {
    sum: {
      type: sum,
      description: 'What the numbers or amounts at a path add up to, exactly. Null if there are none.',
      args,
      resolve: (of: Aggregates, { path }: { readonly path: string }) => of.sum(path),
    },
    min: {
      type: 'JSON',
      description: 'The smallest value at a path, as served. Null if there is none.',
      args,
      resolve: (of: Aggregates, { path }: { readonly path: string }) => mapPromiseOrValue(of.min(path), orNothing),
    },
    max: {
      type: 'JSON',
      description: 'The largest value at a path, as served. Null if there is none.',
      args,
      resolve: (of: Aggregates, { path }: { readonly path: string }) => mapPromiseOrValue(of.max(path), orNothing),
    },
  } as const;
}

function orNothing(value: Json | undefined): Exclude<Json, null> | undefined {
  return value ?? undefined;
}

/** The arguments that hold paths, of the fields that are computed. */
const pathArguments: ReadonlyMap<string, string> = new Map([
  ['sum', 'path'],
  ['min', 'path'],
  ['max', 'path'],
  ['groups', 'by'],
] satisfies readonly (readonly [keyof Aggregates | 'groups', string])[]);

/** By field: of what it stands for, nodes of a document say the same each time they are asked. */
const known = new WeakMap<FieldNode, readonly ValueNode[]>();

/**
 * The paths of the sums, extremes and groups that the connection of this field may be asked for; undefined if none may be. Whether `@skip` leaves them
 * out is not asked.
 */
export function aggregatedPaths(
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues'>,
): readonly string[] | undefined {
  const { fieldNodes, fragments, variableValues } = info;
  const values = fieldNodes.flatMap((node) => {
    const said = known.get(node) ?? (node.selectionSet === undefined ? [] : [...pathsIn(node.selectionSet, { ...fragments })]);
    known.set(node, said);
    return said;
  });
  if (values.length === 0) return undefined;
  return values.flatMap((value) => valueFromASTUntyped(value, variableValues.coerced)).filter((path) => typeof path === 'string');
}

/** @param unseen Fragments not looked at yet: each is once, however often it is spread. */
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
      // Groups have sums of their own.
      if (node.selectionSet !== undefined) yield* pathsIn(node.selectionSet, unseen);
    }
  }
}
