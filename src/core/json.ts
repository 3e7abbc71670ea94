/**
 * A value as it stood on the wire. An integer beyond 2⁵³−1 is a `RawNumber`, made by `JSON.rawJSON`, so that it prints exactly.
 */
export type Json = string | number | boolean | null | RawNumber | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** An integer that a double cannot hold, with its decimal text. `JSON.stringify` prints it as that text, unquoted. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** True for what `JSON.rawJSON` made. A plain object with a key `rawJSON` is not one: JSON.rawJSON's are frozen, without prototype, and branded. */
export function isRawNumber(value: unknown): value is RawNumber {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}

/** True for a JSON object: not null, not an array, not a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** `JSON.parse` that keeps integers beyond 2⁵³−1 exactly, about five times slower than it. Throws SyntaxError as it does. */
export function parseJsonExactly(text: string): Json {
  return JSON.parse(text, exactNumberReviver as (this: unknown, key: string, value: unknown) => unknown) as Json;
}

/** The same value as `parseJsonExactly`, at the price of `JSON.parse` where no integer is long enough to matter. Throws SyntaxError as it does. */
export function parseJson(text: string): Json {
  // A double holds every integer of up to 15 digits.
  return /\d{16}/.test(text) ? parseJsonExactly(text) : (JSON.parse(text) as Json);
}

/** As `JSON.parse`, which rounds integers beyond 2⁵³−1. Undefined if the text is no JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** As `parseJson`, of a body in UTF-8. Undefined if it is no JSON. */
export function parseJsonBody(body: Uint8Array): Json | undefined {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** The reviver that does it, for who cannot but leave the parsing to others. */
export function exactNumberReviver(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || !/^-?\d+$/.test(source)) return value;
  return rawNumber(source);
}

/** The number with these decimal digits, which `JSON.stringify` prints as they are. */
export function rawNumber(digits: string): RawNumber {
  return (JSON as unknown as { rawJSON(text: string): RawNumber }).rawJSON(digits);
}

/** A value as a message shows it: short, without what a long text says. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length > 80 ? `a text of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return String(value);
  return isJsonObject(value) ? 'an object' : (JSON.stringify(value) ?? String(value));
}
