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

/** Maximum number of objects that an operation may have by its `first` arguments, even if there are fewer objects. */
export const maxEstimate = 1_000_000;

/** The largest page of any list. Larger values of `first` are refused by the lists themselves. */
const maxFirst = 500;

/** An operation of a document that is valid for the schema. */
export interface EstimatedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: JsonObject | undefined;
}

/**
 * Estimates the maximum number of objects of an operation. A field with `first` counts `first` objects, multiplied by the objects of the lists
 * around it. Other fields of a connection, such as groups, count once. Clusters do not multiply, because `first` is a total over all clusters.
 *
 * Variables count with their values. Fields that a directive leaves out count too.
 *
 * The time is bounded by the length of the document, even if fragments multiply. An operation that is below the limit with any variables is
 * examined once.
 */
export function estimateOf({ schema, document, operation, variables }: EstimatedOperation): number {
  const known = estimates.get(schema) ?? new WeakMap<OperationDefinitionNode, Estimate>();
  estimates.set(schema, known);
  const estimate = known.get(operation) ?? prepareEstimate(schema, document, operation);
  known.set(operation, estimate);
  return estimate(variables ?? {});
}

/** Returns the error for an operation that is too costly, before anything is read. Undefined if the operation may run. */
export function refusalOfCost(estimated: EstimatedOperation): GraphQLError | undefined {
  const estimate = estimateOf(estimated);
  if (estimate <= maxEstimate) return undefined;
  const code: ErrorCode = 'TOO_COSTLY';
  const message =
    `expected an operation of at most ${maxEstimate} objects, got ${estimate}: first times first, where a list is inside a list. ` +
    'Ask for smaller pages, or for inner lists by themselves';
  return new GraphQLError(message, { nodes: estimated.operation, extensions: { code } });
}

type Estimate = (variables: JsonObject) => number;

// The estimates by schema and operation. Parsed documents are kept over many requests, and the schema decides which fields take `first`.
const estimates = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, Estimate>>();

/** The lists and fragments in a selection set. Each fragment is counted once per place where it is spread, and computed once. */
interface SelectionLists {
  readonly lists: readonly CountedList[];
  /** The selections for each object of the connection that the selection set belongs to. */
  readonly ofEach: readonly SelectionLists[];
  readonly fragments: readonly SelectionLists[];
}

interface CountedList {
  readonly first: FirstArgument;
  readonly inside: SelectionLists;
}

/** The number of objects in a selection set: `once` in total, plus `each` for each object of its connection. */
interface Sum {
  readonly once: number;
  readonly each: number;
}

interface FirstArgument {
  readonly value: number;
  /** The variable that gives the value. `value` applies if the variable is absent, and `ofField` if it is null. */
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
  const known = new Map<string, SelectionLists>();
  const defaults = defaultsOf(operation);

  function readFragment(name: string): SelectionLists {
    const found = known.get(name);
    if (found !== undefined) return found;
    const fragment = fragments.get(name);
    const type = fragment && schema.getType(fragment.typeCondition.name.value);
    const selected = fragment !== undefined && isCompositeType(type) ? readSelections(fragment.selectionSet, type) : nothing;
    known.set(name, selected);
    return selected;
  }

  function readField(node: FieldNode, parent: GraphQLCompositeType): SelectionLists {
    const field = schema.getField(parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inside = node.selectionSet !== undefined && isCompositeType(type) ? readSelections(node.selectionSet, type) : nothing;
    if (isOfEach(node, parent)) return { ...nothing, ofEach: [inside] };
    const first = field && firstOf(node, field, defaults);
    if (first === undefined) return inside;
    const isList = isListType(getNullableType(field?.type));
    return { ...nothing, lists: [{ first, inside: isList ? { ...nothing, ofEach: [inside] } : inside }] };
  }

  function readSelections({ selections }: SelectionSetNode, parent: GraphQLCompositeType): SelectionLists {
    const lists: CountedList[] = [];
    const ofEach: SelectionLists[] = [];
    const below: SelectionLists[] = [];
    // A fragment that is spread several times in the same selection set counts once. A fragment that is spread below several fields counts
    // once for each field.
    const spread = new Set<SelectionLists>();
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

  function readInline(selections: SelectionSetNode, condition: string | undefined, parent: GraphQLCompositeType): SelectionLists {
    const type = condition === undefined ? parent : schema.getType(condition);
    return isCompositeType(type) ? readSelections(selections, type) : nothing;
  }

  return readSelections;
}

const nothing: SelectionLists = { lists: [], ofEach: [], fragments: [] };

/** True for `items` and `edges` of a connection: their selections are answered for each object. Types of connections are known by their name. */
function isOfEach({ name }: FieldNode, parent: GraphQLCompositeType): boolean {
  return (name.value === 'items' || name.value === 'edges') && parent.name.endsWith('Connection');
}

/** Counts the objects in a selection set. Each fragment is computed once, however often it is spread. */
function countIn(selected: SelectionLists, firstOf: (first: FirstArgument) => number): number {
  const known = new Map<SelectionLists, Sum>();
  const sumOf = ({ lists, ofEach, fragments }: SelectionLists): Sum => {
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

function firstOf(node: FieldNode, field: GraphQLField<unknown, unknown>, defaults: ReadonlyMap<string, number>): FirstArgument | undefined {
  const argument = field.args.find(({ name }) => name === 'first');
  if (argument === undefined) return undefined;
  const ofField = defaultOf(argument);
  const given = node.arguments?.find(({ name }) => name.value === 'first')?.value;
  if (given?.kind !== Kind.VARIABLE) return { value: given?.kind === Kind.INT ? bounded(Number(given.value)) : ofField };
  const name = given.name.value;
  return { value: defaults.get(name) ?? ofField, variable: { name, ofField } };
}

/**
 * Returns the default value of `first`. It is a literal if the schema was parsed from SDL, a value if the schema was built by hand, and
 * `defaultValue` (deprecated in graphql-js) if Pothos built the schema.
 */
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

function countOf({ value, variable }: FirstArgument, variables: JsonObject): number {
  if (variable === undefined) return value;
  const given = variables[variable.name];
  if (given === undefined) return value;
  return given === null ? variable.ofField : bounded(given);
}

/** Returns a value of `first`, at most the largest page. A value that is no valid count becomes 0: it is refused when the list is read. */
function bounded(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, maxFirst) : 0;
}

function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((node) => [node.name.value, node]));
}
