import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { ErrorCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';

/** Most objects that an operation may come to by its `first`s, however few there are in truth. */
export const maxEstimate = 1_000_000;

/** More than any list hands out: what is larger is refused where it is read, by its own bound. */
const maxFirst = 500;

/** An operation of a document that is valid for the schema. */
export interface EstimatedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: JsonObject | undefined;
}

/**
 * How many objects an operation may come to: of each field that takes `first` that many, times as many for a list inside a list. What stands in a
 * connection beside its objects, such as groups, is there once. Clusters do not multiply, as `first` is a total over all of them. Variables count by
 * their values; what is left out by a directive counts as well.
 *
 * The time is bounded by the length of the document, also where fragments multiply. An operation that is below the bound whatever its variables
 * is looked at once.
 */
export function estimateOf({ schema, document, operation, variables }: EstimatedOperation): number {
  const known = estimates.get(schema) ?? new WeakMap<OperationDefinitionNode, Estimate>();
  estimates.set(schema, known);
  const estimate = known.get(operation) ?? prepareEstimate(schema, document, operation);
  known.set(operation, estimate);
  return estimate(variables ?? {});
}

/** The error with which an operation is refused before anything is read; undefined for one that may run. */
export function refusalOfCost(asked: EstimatedOperation): GraphQLError | undefined {
  const estimate = estimateOf(asked);
  if (estimate <= maxEstimate) return undefined;
  const code: ErrorCode = 'TOO_COSTLY';
  const message =
    `expected an operation of at most ${maxEstimate} objects, got ${estimate}: first times first, where a list stands inside a list. ` +
    'Ask for smaller pages, or for inner lists by themselves';
  return new GraphQLError(message, { nodes: asked.operation, extensions: { code } });
}

type Estimate = (variables: JsonObject) => number;

// Documents are kept parsed over many requests; the schema decides what takes `first`.
const estimates = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, Estimate>>();

/** What a selection set holds: lists, and the fragments that are spread there, each of which is worked out once and counts where it stands. */
interface Selected {
  readonly lists: readonly CountedList[];
  /** What is selected of each object of the connection that the selection set is of. */
  readonly ofEach: readonly Selected[];
  readonly fragments: readonly Selected[];
}

interface CountedList {
  readonly first: First;
  readonly inside: Selected;
}

/** Objects in a selection set: `once`, and `each` for each object of its connection. */
interface Sum {
  readonly once: number;
  readonly each: number;
}

interface First {
  readonly value: number;
  /** The variable it stands in, with `value` where that is absent; `ofField` where it is null. */
  readonly variable?: { readonly name: string; readonly ofField: number };
}

function prepareEstimate(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Estimate {
  const root = schema.getRootType(operation.operation);
  if (root == null) return () => 0;
  const selected = selectionReader(schema, fragmentsOf(document), operation)(operation.selectionSet, root);
  const most = countIn(selected, ({ value, variable }) => (variable === undefined ? value : maxFirst));
  if (most <= maxEstimate) return () => most;
  return (variables) => countIn(selected, (first) => countOf(first, variables));
}

function selectionReader(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
) {
  const known = new Map<string, Selected>();
  const defaults = defaultsOf(operation);

  function readFragment(name: string): Selected {
    const found = known.get(name);
    if (found !== undefined) return found;
    const fragment = fragments.get(name);
    const type = fragment && schema.getType(fragment.typeCondition.name.value);
    const selected = fragment !== undefined && isCompositeType(type) ? readSelections(fragment.selectionSet, type) : nothing;
    known.set(name, selected);
    return selected;
  }

  function readField(node: FieldNode, parent: GraphQLCompositeType): Selected {
    const field = schema.getField(parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inside = node.selectionSet !== undefined && isCompositeType(type) ? readSelections(node.selectionSet, type) : nothing;
    if (isOfEach(node, parent)) return { ...nothing, ofEach: [inside] };
    const first = field && firstOf(node, field, defaults);
    if (first === undefined) return inside;
    const isList = isListType(getNullableType(field?.type));
    return { ...nothing, lists: [{ first, inside: isList ? { ...nothing, ofEach: [inside] } : inside }] };
  }

  function readSelections({ selections }: SelectionSetNode, parent: GraphQLCompositeType): Selected {
    const lists: CountedList[] = [];
    const ofEach: Selected[] = [];
    const below: Selected[] = [];
    // In one place it is one, however often it is spread; in each field it is another.
    const spread = new Set<Selected>();
    for (const node of selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        spread.add(readFragment(node.name.value));
        continue;
      }
      const inner =
        node.kind === Kind.FIELD ? readField(node, parent) : readInline(node.selectionSet, node.typeCondition?.name.value, parent);
      lists.push(...inner.lists);
      ofEach.push(...inner.ofEach);
      if (node.kind === Kind.FIELD) below.push(...inner.fragments);
      else for (const fragment of inner.fragments) spread.add(fragment);
    }
    return { lists, ofEach, fragments: [...below, ...spread] };
  }

  function readInline(selections: SelectionSetNode, condition: string | undefined, parent: GraphQLCompositeType): Selected {
    const type = condition === undefined ? parent : schema.getType(condition);
    return isCompositeType(type) ? readSelections(selections, type) : nothing;
  }

  return readSelections;
}

const nothing: Selected = { lists: [], ofEach: [], fragments: [] };

/** By the convention of names that connections have. */
function isOfEach({ name }: FieldNode, parent: GraphQLCompositeType): boolean {
  return (name.value === 'items' || name.value === 'edges') && parent.name.endsWith('Connection');
}

/** Each fragment is summed up once, however often it is spread. */
function countIn(selected: Selected, firstOf: (first: First) => number): number {
  const known = new Map<Selected, Sum>();
  const sumOf = ({ lists, ofEach, fragments }: Selected): Sum => {
    let once = lists.reduce((total, { first, inside }) => total + countList(firstOf(first), sumOf(inside)), 0);
    let each = ofEach.reduce((total, inside) => total + totalOf(sumOf(inside)), 0);
    for (const fragment of fragments) {
      const sum = known.get(fragment) ?? sumOf(fragment);
      known.set(fragment, sum);
      once += sum.once;
      each += sum.each;
    }
    return { once, each };
  };
  return totalOf(sumOf(selected));
}

function totalOf({ once, each }: Sum): number {
  return once + each;
}

function countList(first: number, { once, each }: Sum): number {
  return once + first * (1 + each);
}

function firstOf(node: FieldNode, field: GraphQLField<unknown, unknown>, defaults: ReadonlyMap<string, number>): First | undefined {
  const argument = field.args.find(({ name }) => name === 'first');
  if (argument === undefined) return undefined;
  const ofField = defaultOf(argument);
  const given = node.arguments?.find(({ name }) => name.value === 'first')?.value;
  if (given?.kind !== Kind.VARIABLE) return { value: given?.kind === Kind.INT ? bounded(Number(given.value)) : ofField };
  const name = given.name.value;
  return { value: defaults.get(name) ?? ofField, variable: { name, ofField } };
}

/** Read from SDL it is a literal, built by hand a value, and as Pothos builds it what graphql-js calls deprecated. */
function defaultOf({ default: given, defaultValue }: GraphQLArgument): number {
  if (given?.literal === undefined) return bounded(given === undefined ? defaultValue : given.value);
  return given.literal.kind === Kind.INT ? bounded(Number(given.literal.value)) : 0;
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlyMap<string, number> {
  return new Map(
    variableDefinitions.flatMap(({ variable, defaultValue }): [string, number][] =>
      defaultValue?.kind === Kind.INT ? [[variable.name.value, bounded(Number(defaultValue.value))]] : [],
    ),
  );
}

function countOf({ value, variable }: First, variables: JsonObject): number {
  if (variable === undefined) return value;
  const given = variables[variable.name];
  if (given === undefined) return value;
  return given === null ? variable.ofField : bounded(given);
}

/** What is no count is refused where it is read; until then it is none. */
function bounded(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, maxFirst) : 0;
}

function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((node) => [node.name.value, node]));
}
