import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';

/**
 * One case of a vector file (docs/internals/propagation.md 12): an input and the expected answer. `input.op` names the operation if a file
 * has several.
 */
export interface Vector {
  readonly name: string;
  readonly source: string;
  readonly input: JsonObject;
  readonly expected: Json;
}

/** One operation: runs a case and decides whether its answer is right. */
export interface VectorOp {
  /** Runs the input without `op`. A thrown MusterError counts as the answer `{ error: true }`. Any other error is a failure. */
  run(input: JsonObject): unknown;
  accepts(got: unknown, expected: Json): boolean;
}

/** The operations of each file, by its name without `.json`. Cases without `op` use the operation `''`. */
export type VectorOps = Readonly<Record<string, Readonly<Record<string, VectorOp>>>>;

/** Options of a comparison, in addition to the rules of `sameAnswer`. */
export interface Comparison {
  /** Keys, at any depth, whose lists are sets. */
  readonly unordered?: readonly string[];
  /** Keys, at any depth, that are not compared; `errorText` and `errorContains` never are. */
  readonly ignored?: readonly string[];
}

/**
 * Creates an operation. `run` gets the input of a case without `op` and returns the answer. `sameAnswer` compares it with the expected one.
 * Where the expectation only describes the answer, pass a function as `comparison`.
 */
export function vectorOp<Input>(run: (input: Input) => unknown, comparison: Comparison | VectorOp['accepts'] = {}): VectorOp {
  const accepts = typeof comparison === 'function' ? comparison : (got: unknown, expected: Json) => sameAnswer(got, expected, comparison);
  // The vector files are external data. Running them shows whether their inputs have this type.
  return { run: (input) => run(input as Input), accepts };
}

/**
 * Creates an operation whose input upstream reads into structs of Go. A null field counts as absent, and a null item of a list as an empty
 * struct.
 */
export function structVectorOp<Input>(run: (input: Input) => unknown, comparison: Comparison | VectorOp['accepts'] = {}): VectorOp {
  const { run: runInput, accepts } = vectorOp(run, comparison);
  return { run: (input) => runInput(withoutNullFields(input)), accepts };
}

function withoutNullFields(object: JsonObject): JsonObject {
  const fields = Object.entries(object).filter(([, value]) => value !== null);
  return Object.fromEntries(fields.map(([name, value]) => [name, value === undefined ? value : asStruct(value)]));
}

function asStruct(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => (item === null ? {} : asStruct(item)));
  return isJsonObject(value) ? withoutNullFields(value) : value;
}

/**
 * True if both are the same JSON. Missing fields, null, zero, false, `''`, `[]` and `{}` are equal. Empty items of a list still count. If
 * the
 * expectation is `anyOf`, one of its members must be the answer's `assignment`.
 */
export function sameAnswer(got: unknown, expected: Json, comparison: Comparison = {}): boolean {
  if (isJsonObject(expected) && Array.isArray(expected.anyOf)) {
    return expected.anyOf.some((assignment: Json) => sameAnswer(got, { assignment }, { ...comparison, ignored: ['tieBreak'] }));
  }
  return canonicalText(got, comparison) === canonicalText(expected, comparison);
}

/** Returns text that is equal for equal answers. */
function canonicalText(value: unknown, comparison: Comparison): string {
  // The answer of a function may contain undefined, which JSON does not have.
  const json: Json = JSON.parse(JSON.stringify(value ?? null));
  return JSON.stringify(canonical(json, comparison, '') ?? null);
}

/** Sorts keys and removes empty values. Returns undefined for an empty value. */
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
