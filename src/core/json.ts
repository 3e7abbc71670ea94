/** A JSON value as it was sent. An integer beyond 2⁵³−1 is a `RawNumber`, made by `JSON.rawJSON`, so that it prints exactly. */
export type Json = string | number | boolean | null | RawNumber | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** An integer that a double cannot hold, with its decimal text. `JSON.stringify` prints it as that text, unquoted. */
export interface RawNumber {
  readonly rawJSON: string;
}

/**
 * True for a result of `JSON.rawJSON`, which is frozen, branded and without a prototype. A plain object with a key `rawJSON` is not one.
 */
export function isRawNumber(value: unknown): value is RawNumber {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}

/** True for a JSON object: not null, not an array, not a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/**
 * Parses JSON and keeps integers beyond 2⁵³−1 exact. About five times slower than `JSON.parse`. Throws SyntaxError as `JSON.parse` does.
 */
export function parseJsonExactly(text: string): Json {
  return JSON.parse(text, exactNumberReviver as (this: unknown, key: string, value: unknown) => unknown) as Json;
}

/**
 * Returns the same value as `parseJsonExactly`. As fast as `JSON.parse` unless the text has a long integer. Throws SyntaxError as
 * `JSON.parse` does.
 */
export function parseJson(text: string): Json {
  // A double holds every integer of up to 15 digits.
  return /\d{16}/.test(text) ? parseJsonExactly(text) : (JSON.parse(text) as Json);
}

/** Parses JSON with `JSON.parse`, which rounds integers beyond 2⁵³−1. Undefined if the text is not JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Parses a body in UTF-8 with `parseJson`. Undefined if it is not JSON. */
export function parseJsonBody(body: Uint8Array): Json | undefined {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** Returns the reviver that keeps integers exact, for libraries that call `JSON.parse` themselves. */
export function exactNumberReviver(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || !/^-?\d+$/.test(source)) return value;
  return rawNumber(source);
}

/** Makes a number of decimal digits that `JSON.stringify` prints unchanged. */
export function rawNumber(digits: string): RawNumber {
  return (JSON as unknown as { rawJSON(text: string): RawNumber }).rawJSON(digits);
}

/** Describes a value for a message. The description is short, and leaves out the content of long texts, lists and objects. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length > 80 ? `a text of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return String(value);
  return isJsonObject(value) ? 'an object' : (JSON.stringify(value) ?? String(value));
}

/** Parses text of a user as JSON with exact numbers. Text that is not JSON stays text. */
export function parseJsonOrText(text: string): Json {
  try {
    return parseJsonExactly(text);
  } catch {
    return text;
  }
}
