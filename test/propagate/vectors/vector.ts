import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';

/** One case of a vector file (docs/internals/propagation.md 11): what goes in, and what must come out. `input.op` names the operation, where a file has several. */
export interface Vector {
  readonly name: string;
  readonly source: string;
  readonly input: JsonObject;
  readonly expected: Json;
}

/** One operation: how it is run, and whether what it gives will do. */
export interface VectorOp {
  /** From the input without `op`. A thrown MusterError counts as the answer `{ error: true }`; anything else thrown is a failure. */
  run(input: JsonObject): unknown;
  accepts(got: unknown, expected: Json): boolean;
}

/** The operations of each file, by its name without `.json`; that of cases without `op` is called `''`. */
export type VectorOps = Readonly<Record<string, Readonly<Record<string, VectorOp>>>>;

/** How answers are compared, besides what `sameAnswer` always does. */
export interface Comparison {
  /** Keys, at any depth, whose lists are sets. */
  readonly unordered?: readonly string[];
  /** Keys, at any depth, that are not compared; `errorText` and `errorContains` never are. */
  readonly ignored?: readonly string[];
}

/**
 * An operation that is run as the function with that signature (the input of a case without `op` → what is expected), and compared by
 * `sameAnswer`, or by an `accepts` of its own where the expectation describes the answer instead of being it.
 */
export function vectorOp<Input>(run: (input: Input) => unknown, comparison: Comparison | VectorOp['accepts'] = {}): VectorOp {
  const accepts = typeof comparison === 'function' ? comparison : (got: unknown, expected: Json) => sameAnswer(got, expected, comparison);
  // The files are data from outside; that their inputs have this shape is what running them shows.
  return { run: (input) => run(input as Input), accepts };
}

/**
 * True if both are the same JSON, where absent, null, zero, false, `''`, `[]` and `{}` are one. Items of lists count, empty or not. Where the
 * expectation is `anyOf`, one of its members must be the answer's `assignment`.
 */
export function sameAnswer(got: unknown, expected: Json, comparison: Comparison = {}): boolean {
  if (isJsonObject(expected) && Array.isArray(expected.anyOf)) {
    return expected.anyOf.some((assignment: Json) => sameAnswer(got, { assignment }, { ...comparison, ignored: ['tieBreak'] }));
  }
  return canonicalText(got, comparison) === canonicalText(expected, comparison);
}

/** Text that is equal for equal answers. */
function canonicalText(value: unknown, comparison: Comparison): string {
  // What a function gives may hold undefined, which JSON has not.
  const json: Json = JSON.parse(JSON.stringify(value ?? null));
  return JSON.stringify(canonical(json, comparison, '') ?? null);
}

/** Without what counts as nothing, keys sorted; undefined for nothing itself. */
function canonical(value: Json, comparison: Comparison, key: string): Json | undefined {
  if (value === null || value === '' || value === 0 || value === false) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => canonical(item, comparison, '') ?? null);
    if (items.length === 0) return undefined;
    return comparison.unordered?.includes(key) === true ? items.sort(byText) : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([name]) => !ignoredAlways.includes(name) && comparison.ignored?.includes(name) !== true)
    .map(([name, member]) => [name, canonical(member ?? null, comparison, name)] as const)
    .filter(([, member]) => member !== undefined)
    .sort(byText);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const ignoredAlways: readonly string[] = ['errorText', 'errorContains'];

function byText(a: unknown, b: unknown): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
