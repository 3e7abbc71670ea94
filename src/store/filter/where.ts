import { MusterError } from '../../core/errors.ts';
import type { ValueType } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Model, ModelKind, TypeReference } from '../../model/model.ts';
import { printTypeReference } from '../../model/model.ts';
import { findPathFrom, isMisfit, type ModelPath, type PathMisfit } from '../../model/paths/paths.ts';
import { createPathFinder, noKindHasPath } from '../../model/paths/paths-of-kinds.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { QuerySource, RelatedObjects } from '../query-source.ts';
import {
  type ComparisonOperator,
  type CompiledComparison,
  comparisonOperators,
  compileComparison,
  impossibleOperand,
  isPossibleOperand,
  type OperandContext,
  type ValueTest,
} from './comparison.ts';
import { exactLookupOfWhere, hintsOfWhere, type IndexHint } from './index-hints.ts';
import { createPathMeaning } from './path-meaning.ts';
import { createPathContext, hasMatchingElement, hasMatchingValue, type PathStart, type ReadCost } from './path-values.ts';
import type { WhereInput } from './where-input.ts';

/** A filter that was checked against the model by `compileWhere`. */
export interface CompiledWhere {
  /**
   * Returns a function that is true for the objects of this source that match the filter. It is false for an object if a related object
   * that decides the match could not be read. The filter must have been compiled for the kind of the source.
   *
   * @param read Counts the values that are read.
   */
  predicateFor(source: QuerySource, read?: ReadCost): (object: KubernetesObject) => boolean;
  /** Returns properties that every matching object has, so that an index can find them. */
  indexHintsFor(kind: ModelKind): readonly IndexHint[];
  /** Returns the index lookup that finds exactly the matching objects. Undefined if there is none. */
  exactLookupFor(kind: ModelKind): IndexLookup | undefined;
  /**
   * Returns a text for the meaning of the filter. While the text stays equal, the filter gives the same result for an unchanged object of
   * this kind and cluster. See `createPathMeaning`.
   */
  meaningFor(source: Pick<QuerySource, 'kind' | 'cluster'>): string;
}

/**
 * Checks a filter against the model and compiles it.
 *
 * With several kinds, a path must exist in at least one of them, and has no value in the others. Each operand of `in` must be possible in
 * at least one kind, and is ignored in the others.
 *
 * Limits: 100 conditions (comparisons and `exists`; a level with only `and`, `or`, `not` or `some` does not count), 1,000 values of `in`
 * together, 10,000 comparisons times kinds, and 16 levels.
 *
 * @throws {MusterError} `BAD_INPUT` with the path, the expected and the actual input.
 */
export function compileWhere(model: Model, kinds: readonly ModelKind[], where: WhereInput): CompiledWhere {
  checkBounds(where, kinds);
  const misfits = new Map<WhereInput, Map<ModelKind, LevelMisfit>>();
  const operands = createOperandCheck();
  const operationOf = createOperations(operands);
  const compiled = new Map(
    kinds.map((kind) => {
      const find = createPathFinder(model, kind);
      const found: (ModelPath | PathMisfit)[] = [];
      const noted = (path: ModelPath | PathMisfit) => {
        found.push(path);
        return path;
      };
      const scope: Scope = {
        find: (text) => noted(find(text)),
        findFrom: (type, text) => noted(findPathFrom(model, type, text)),
        operationOf,
        // A path that does not fit this kind may fit another kind.
        misfit(level, misfit) {
          const known = misfits.get(level) ?? new Map<ModelKind, LevelMisfit>();
          misfits.set(level, known.has(kind) ? known : known.set(kind, misfit));
        },
      };
      return [
        keyOfKind(kind),
        {
          test: compileLevel(where, scope),
          hints: hintsOfWhere(where, find),
          exactHint: exactLookupOfWhere(where, find),
          meaning: createPathMeaning(found),
        },
      ];
    }),
  );
  for (const [level, ofKinds] of misfits) if (ofKinds.size === kinds.length) throw errorOf(level, ofKinds);
  operands.refuseImpossible();
  return {
    predicateFor(source, read) {
      const context = createPathContext(source, read);
      const test = compiled.get(keyOfKind(source.kind))?.test;
      const passes = (object: KubernetesObject) => test?.({ value: object, context }) === true;
      const { related } = source;
      return related === undefined ? passes : (object) => passesForCertain(object, passes, related);
    },
    indexHintsFor: (kind) => compiled.get(keyOfKind(kind))?.hints ?? [],
    exactLookupFor: (kind) => compiled.get(keyOfKind(kind))?.exactHint,
    meaningFor: ({ kind, cluster }) => compiled.get(keyOfKind(kind))?.meaning(cluster) ?? '',
  };
}

/**
 * True if the object matches for certain. A related object that could not be read may have any value, and `not` turns a missing match into
 * a match.
 */
function passesForCertain(object: KubernetesObject, passes: (object: KubernetesObject) => boolean, related: RelatedObjects): boolean {
  const before = related.unknown;
  return passes(object) && related.unknown === before;
}

/**
 * Why one level of a filter (one object of the nested input) does not fit a kind: the path does not exist, or its values cannot be compared
 * in this way.
 */
type LevelMisfit = PathMisfit | MusterError;

/**
 * Returns the error for a level that fits none of the kinds. An error from a kind that has the path comes first, because it is more exact.
 */
function errorOf({ path }: WhereInput, ofKinds: ReadonlyMap<ModelKind, LevelMisfit>): MusterError {
  const all = [...ofKinds];
  const error = all.map(([, misfit]) => misfit).find((misfit) => misfit instanceof MusterError);
  const pathless = all.flatMap(([kind, misfit]) => (misfit instanceof MusterError ? [] : [{ kind, misfit }]));
  return error ?? noKindHasPath(path ?? '', pathless);
}

interface Scope {
  find(text: string): ModelPath | PathMisfit;
  findFrom(type: TypeReference, text: string): ModelPath | PathMisfit;
  readonly operationOf: Operations;
  misfit(level: WhereInput, misfit: LevelMisfit): void;
  /** The type of the list element. Set inside `some`, for conditions without a path. */
  readonly self?: TypeReference;
}

type ObjectTest = (start: PathStart) => boolean;

/** Maximum number of conditions. Each is compared with every object of the kind. */
const maxConditions = 100;
const maxValues = 1_000;
const maxDepth = 16;
/** Maximum of comparisons times kinds. Each comparison is checked against the types of each kind. */
const maxChecks = 10_000;

function compileLevel(where: WhereInput, scope: Scope): ObjectTest {
  const tests: ObjectTest[] = [];
  if (hasCondition(where)) tests.push(compileLeaf(where, scope));
  if (where.and != null) tests.push(...where.and.map((inner) => compileLevel(inner, scope)));
  if (where.or != null) tests.push(anyOf(where.or.map((inner) => compileLevel(inner, scope))));
  if (where.not != null) tests.push(opposite(compileLevel(where.not, scope)));
  return allOf(tests);
}

function compileLeaf(where: WhereInput, scope: Scope): ObjectTest {
  const test = leafOf(where, scope);
  if (typeof test === 'function') return test;
  scope.misfit(where, test);
  const noValue = where.ne != null || where.exists === false;
  const asksForValue =
    where.exists === true || where.some != null || comparisonOperators.some((name) => name !== 'ne' && where[name] != null);
  return () => noValue && !asksForValue;
}

function leafOf(where: WhereInput, scope: Scope): ObjectTest | LevelMisfit {
  const path = pathOf(where, scope);
  if (isMisfit(path)) return path;
  return attempt(() => allOf([...comparisonsOf(where, path, scope), ...existenceOf(where, path), ...someOf(where, path, scope)]));
}

/** Returns the path of a level. Inside `some` it may be the element itself. */
function pathOf(where: WhereInput, scope: Scope): ModelPath | PathMisfit {
  if (where.path != null) return scope.find(where.path);
  if (scope.self !== undefined) return { text: 'the element', from: 'object', steps: [], type: scope.self, many: false };
  throw refuse('expected a path next to the comparison, such as { path: "metadata.name", eq: "web" }');
}

function comparisonsOf(where: WhereInput, path: ModelPath, { operationOf }: Scope): readonly ObjectTest[] {
  return comparisonOperators.flatMap((operator) => {
    const operation = operationOf(where, path, operator);
    if (operation === undefined) return [];
    const { negated } = operation;
    const passes = passesOf(operation);
    return [
      negated
        ? (start: PathStart) => !hasMatchingValue(path, start, passes(start))
        : (start: PathStart) => hasMatchingValue(path, start, passes(start)),
    ];
  });
}

/**
 * Returns the test of a value. If the test makes several comparisons, they are counted. A test that reads a long text may interrupt the
 * filter.
 */
function passesOf({ test, comparisonCount: each = 1, scansText = false }: CompiledComparison): (start: PathStart) => ValueTest {
  if (scansText)
    return ({ context: { read } }) =>
      (value) =>
        read.texts === undefined ? test(value) : read.texts.passes(test, value);
  if (each === 1) return () => test;
  return ({ context: { read } }) => {
    return (value) => {
      read.values += each;
      return test(value);
    };
  };
}

/** Returns the comparison of one operator of a level, or undefined if the level does not use it. Throws what `compileComparison` throws. */
type Operations = (where: WhereInput, path: ModelPath, operator: ComparisonOperator) => CompiledComparison | undefined;

/**
 * Compiles each operand once for all kinds in which the path has the same type. `in` may have 1,000 values, and a model more than 60 kinds.
 */
function createOperations(operands: OperandCheck): Operations {
  const known = new Map<WhereInput, Map<string, CompiledComparison | MusterError>>();
  return (where, path, operator) => {
    const operand = where[operator];
    if (operand === undefined || operand === null) return undefined;
    const type = valueTypeOf(path, operator);
    const among = valuesOf(path);
    const ofLevel = known.get(where) ?? new Map<string, CompiledComparison | MusterError>();
    const key = [operator, type, ...(among ?? [])].join(' ');
    const operandContext = { path: path.text, operator, type, among };
    const operation = ofLevel.get(key) ?? attempt(() => compileComparison(operandContext, operand));
    known.set(where, ofLevel.set(key, operation));
    if (operation instanceof MusterError) throw operation;
    if (operator === 'in') operands.comparedAt(where, operandContext);
    return operation;
  };
}

function attempt<T>(compile: () => T): T | MusterError {
  try {
    return compile();
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
}

function valueTypeOf({ type, text }: ModelPath, operator: string): ValueType {
  if ('scalar' in type) return type.scalar;
  throw refuse(
    `expected a field of ${text} to compare, which is a ${printTypeReference(type)}: it takes exists alone, or some if it is a list; got ${operator}`,
  );
}

/** Returns the only possible values at a path. Undefined: any value. */
function valuesOf(path: ModelPath): readonly string[] | undefined {
  if (path.from === 'relation') return valuesOf(path.within);
  if (path.from !== 'column' || path.steps.length > 0 || path.column.enumeration === undefined) return undefined;
  return Object.keys(path.column.enumeration.values);
}

function existenceOf({ exists }: WhereInput, path: ModelPath): readonly ObjectTest[] {
  if (exists === undefined || exists === null) return [];
  return [(start) => hasMatchingValue(path, start, isAnyValue) === exists];
}

const isAnyValue = () => true;

function someOf({ some }: WhereInput, path: ModelPath, scope: Scope): readonly ObjectTest[] {
  if (some === undefined || some === null) return [];
  const { type } = path;
  const free = 'scalar' in type && type.scalar === 'JSON';
  if (!free && path.steps.at(-1)?.list !== true) {
    throw refuse(`expected a list for some, got ${path.text}, which is a ${printTypeReference(type)}`);
  }
  const inner = compileLevel(some, {
    find: (text) => scope.findFrom(type, text),
    findFrom: scope.findFrom,
    operationOf: scope.operationOf,
    misfit(_level, misfit) {
      throw misfit instanceof MusterError ? misfit : misfit.error();
    },
    self: type,
  });
  return [
    ({ value: start, context }) =>
      hasMatchingValue(path, { value: start, context }, (value) =>
        hasMatchingElement(value, (element) => inner({ value: element, context })),
      ),
  ];
}

/** True if the level itself has a condition. Throws if it has a path without one. */
function hasCondition(where: WhereInput): boolean {
  const compares = where.exists != null || where.some != null || comparisonOperators.some((operator) => where[operator] != null);
  if (!compares && where.path != null) {
    throw refuse(
      `expected a comparison next to the path ${where.path.slice(0, 80)}, such as eq, in, gte or exists (exists: false finds what is absent)`,
    );
  }
  return compares;
}

function checkBounds(where: WhereInput, kinds: readonly ModelKind[]): void {
  let conditions = 0;
  let values = 0;
  const waiting: { readonly level: WhereInput; readonly depth: number }[] = [{ level: where, depth: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { level, depth } = next;
    const inside = [...(level.and ?? []), ...(level.or ?? []), level.not, level.some].filter((inner) => inner != null);
    conditions += conditionsOf(level) || Number(inside.length === 0);
    values += level.in?.length ?? 0;
    // Checks the limits at once, before everything is counted. A variable that is used in many places makes more levels than the request
    // has bytes.
    refuseAbove(maxConditions, conditions, 'conditions');
    refuseAbove(maxValues, values, 'values of in');
    if (conditions * kinds.length > maxChecks)
      throw refuse(`expected at most ${maxChecks} comparisons times kinds, got more: name fewer kinds`);
    if (depth > maxDepth) throw refuse(`expected at most ${maxDepth} levels, got more`);
    for (const inner of inside) waiting.push({ level: inner, depth: depth + 1 });
  }
}

function conditionsOf(level: WhereInput): number {
  return comparisonOperators.filter((operator) => level[operator] != null).length + Number(level.exists != null);
}

function refuseAbove(max: number, count: number, what: string): void {
  if (count > max) throw refuse(`expected at most ${max} ${what}, got ${count} or more`);
}

function allOf(tests: readonly ObjectTest[]): ObjectTest {
  const [only] = tests;
  if (only !== undefined && tests.length === 1) return only;
  return (start) => tests.every((test) => test(start));
}

function anyOf(tests: readonly ObjectTest[]): ObjectTest {
  return (start) => tests.some((test) => test(start));
}

function opposite(test: ObjectTest): ObjectTest {
  return (start) => !test(start);
}

function refuse(message: string): MusterError {
  return new MusterError('BAD_INPUT', `where: ${message}`);
}

/** The part of a filter level that `OperandCheck` reads. */
interface Level {
  readonly in?: readonly Json[] | null | undefined;
}

/** Finds the operands of `in` that are impossible in every kind. An operand that one kind cannot have may be possible in another kind. */
interface OperandCheck {
  /** Records that one kind compares the operands of this level with the values in this context. */
  comparedAt(level: Level, place: OperandContext): void;
  /**
   * Ends the check. Call it after the last `comparedAt`.
   *
   * @throws {MusterError} `BAD_INPUT` for an operand that is impossible in every context of its level.
   */
  refuseImpossible(): void;
}

/** Creates the check of one filter, for all its kinds. */
function createOperandCheck(): OperandCheck {
  const left = new Map<Level, { readonly operands: readonly Json[]; readonly place: OperandContext }>();
  return {
    comparedAt(level, place) {
      const { operands } = left.get(level) ?? { operands: level.in ?? [] };
      left.set(level, { operands: operands.filter((operand) => !isPossibleOperand(place, operand)), place });
    },
    refuseImpossible() {
      for (const { operands, place } of left.values()) for (const operand of operands) throw impossibleOperand(place, operand);
    },
  };
}
