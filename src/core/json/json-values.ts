import { isRawNumber, type Json, type JsonObject } from '../json.ts';
import { compareQuantities, parseQuantity, printQuantity, type Quantity } from '../quantities.ts';

/** The type by which a value is compared: the name of its scalar in the schema. */
export type ValueType =
  | 'String'
  | 'Boolean'
  | 'Int'
  | 'Int64'
  | 'Float'
  | 'DateTime'
  | 'Bytes'
  | 'Quantity'
  | 'Duration'
  | 'IntOrString'
  | 'StringMap'
  | 'JSON';

/**
 * A value prepared for comparison. Keys of one type compare by meaning. Keys of different types compare in the order of the members
 * below, so mixed values have one total order. All lists are equal to each other, and so are all maps.
 */
export type OrderKey =
  | { readonly type: 'boolean'; readonly value: boolean }
  /** An exact number: a bigint if a double cannot hold it. */
  | { readonly type: 'number'; readonly value: number | bigint }
  | { readonly type: 'quantity'; readonly value: Quantity }
  /** Nanoseconds. */
  | { readonly type: 'duration'; readonly value: bigint }
  | { readonly type: 'instant'; readonly value: Instant }
  /** Compared by code units. */
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'list' }
  | { readonly type: 'map' };

/** A moment: Unix milliseconds, and 0 to 999,999 nanoseconds after them. */
export interface Instant {
  readonly ms: number;
  readonly nanos: number;
}

const ranks: Readonly<Record<OrderKey['type'], number>> = {
  boolean: 0,
  number: 1,
  quantity: 2,
  duration: 3,
  instant: 4,
  text: 5,
  list: 6,
  map: 7,
};

/**
 * Returns the key of a value of this type. A value that does not fit the type is compared by its JSON type. Undefined for null and absent
 * values.
 */
export function orderKeyOf(value: Json | undefined, type: ValueType): OrderKey | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return textKeyOf(value, type);
  if (typeof value === 'number') return type === 'Quantity' ? quantityKeyOf(String(value)) : { type: 'number', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  if (Array.isArray(value)) return { type: 'list' };
  if (!isRawNumber(value)) return { type: 'map' };
  return type === 'Quantity' ? quantityKeyOf(value.rawJSON) : { type: 'number', value: BigInt(value.rawJSON) };
}

/** Compares two keys: below zero, zero or above zero. It is a total order over all keys. */
export function compareOrderKeys(a: OrderKey, b: OrderKey): number {
  switch (a.type) {
    case 'text':
      if (b.type === 'text') return compare(a.value, b.value);
      break;
    case 'number':
      // Comparing a bigint with a double is exact (ECMAScript, BigInt::lessThan).
      if (b.type === 'number') return compare(a.value, b.value);
      break;
    case 'instant':
      if (b.type === 'instant') return a.value.ms - b.value.ms || a.value.nanos - b.value.nanos;
      break;
    case 'quantity':
      if (b.type === 'quantity') return compareQuantities(a.value, b.value);
      break;
    case 'duration':
      if (b.type === 'duration') return compare(a.value, b.value);
      break;
    case 'boolean':
      if (b.type === 'boolean') return Number(a.value) - Number(b.value);
      break;
    case 'list':
    case 'map':
      break;
    default:
      a satisfies never;
  }
  return ranks[a.type] - ranks[b.type];
}

/** Returns the key as JSON, for `parseOrderKey`. */
export function printOrderKey(key: OrderKey): Json {
  switch (key.type) {
    case 'boolean':
    case 'text':
      return [key.type, key.value];
    case 'number':
      return [key.type, typeof key.value === 'bigint' ? String(key.value) : key.value];
    case 'quantity':
      return [key.type, printQuantity(key.value)];
    case 'duration':
      return [key.type, String(key.value)];
    case 'instant':
      return [key.type, key.value.ms, key.value.nanos];
    case 'list':
    case 'map':
      return [key.type];
    default:
      return key satisfies never;
  }
}

/** Returns a key that `printOrderKey` printed. Undefined for other JSON. */
export function parseOrderKey(json: Json): OrderKey | undefined {
  if (!Array.isArray(json)) return undefined;
  const [type, value, more]: readonly (Json | undefined)[] = json;
  if (type === 'list' || type === 'map') return { type };
  if (type === 'boolean' && typeof value === 'boolean') return { type, value };
  if (type === 'number' && typeof value === 'number') return { type, value };
  if (type === 'instant' && typeof value === 'number' && typeof more === 'number') return { type, value: { ms: value, nanos: more } };
  if (typeof value !== 'string') return undefined;
  if (type === 'text') return { type, value };
  if ((type === 'number' || type === 'duration') && /^-?\d{1,400}$/.test(value)) return { type, value: BigInt(value) };
  const quantity = type === 'quantity' ? parseQuantity(value) : undefined;
  return quantity === undefined ? undefined : { type: 'quantity', value: quantity };
}

/**
 * True if both values are the same JSON. The order of elements in lists counts, the order of members in maps does not. `-0` equals 0.
 * Numbers are compared exactly, with all their digits. The function does not recurse, so any depth is safe.
 */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  const left: (Json | undefined)[] = [a];
  const right: (Json | undefined)[] = [b];
  while (left.length > 0) {
    const x = left.pop();
    const y = right.pop();
    if (x === y) continue;
    if (typeof x !== 'object' || typeof y !== 'object' || x === null || y === null) {
      if (isExactNumber(x) && isExactNumber(y) && numberOf(x) === numberOf(y)) continue;
      return false;
    }
    if (!pushMembers(x, y, left, right)) return false;
  }
  return true;
}

/** Pushes the members to compare on the stacks. Returns false if the two already differ. */
function pushMembers(x: object, y: object, left: (Json | undefined)[], right: (Json | undefined)[]): boolean {
  if (Array.isArray(x) || Array.isArray(y)) {
    if (!Array.isArray(x) || !Array.isArray(y) || x.length !== y.length) return false;
    for (let index = 0; index < x.length; index += 1) {
      left.push(x[index]);
      right.push(y[index]);
    }
    return true;
  }
  if (isRawNumber(x) || isRawNumber(y)) return isRawNumber(x) && isRawNumber(y) && BigInt(x.rawJSON) === BigInt(y.rawJSON);
  const keys = Object.keys(x);
  if (keys.length !== Object.keys(y).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(y, key)) return false;
    left.push((x as JsonObject)[key]);
    right.push((y as JsonObject)[key]);
  }
  return true;
}

/**
 * True for an integer, as a double or as a raw number. Both forms may hold the same integer, such as 2⁵³: a client wrote one, and the
 * server sent the other.
 */
function isExactNumber(value: Json | undefined): value is Json {
  return typeof value === 'number' ? Number.isInteger(value) : isRawNumber(value);
}

function numberOf(value: Json): bigint {
  return BigInt(isRawNumber(value) ? value.rawJSON : (value as number));
}

function textKeyOf(value: string, type: ValueType): OrderKey {
  switch (type) {
    case 'DateTime': {
      const instant = parseInstant(value);
      return instant === undefined ? { type: 'text', value } : { type: 'instant', value: instant };
    }
    case 'Quantity':
      return quantityKeyOf(value);
    case 'Duration': {
      const nanoseconds = parseDuration(value);
      return nanoseconds === undefined ? { type: 'text', value } : { type: 'duration', value: nanoseconds };
    }
    case 'Int64':
      // The schema prints an Int64 beyond 2⁵³−1 as decimal text.
      return /^-?\d{1,40}$/.test(value) ? { type: 'number', value: BigInt(value) } : { type: 'text', value };
    default:
      return { type: 'text', value };
  }
}

function quantityKeyOf(text: string): OrderKey {
  const quantity = parseQuantity(text);
  return quantity === undefined ? { type: 'text', value: text } : { type: 'quantity', value: quantity };
}

const instantPattern = /^(\d{4}-(?:0[1-9]|1[0-2])-(\d\d)T\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[-+]\d\d:\d\d)$/;

/** Returns the moment of an RFC 3339 text in any time zone. Undefined if the text is not one. Digits beyond nanoseconds are cut. */
export function parseInstant(text: string): Instant | undefined {
  const match = text.length > 64 ? null : instantPattern.exec(text);
  if (match === null) return undefined;
  const [, seconds = '', day = '', fraction = '', zone = ''] = match;
  const ms = Date.parse(`${seconds}${zone}`);
  // Date.parse reads February 30th as March 2nd.
  if (Number.isNaN(ms) || new Date(Date.parse(`${seconds}Z`)).getUTCDate() !== Number(day)) return undefined;
  const nanos = fraction === '' ? 0 : Number(fraction.padEnd(9, '0'));
  return { ms: ms + Math.trunc(nanos / 1e6), nanos: nanos % 1e6 };
}

const durationPattern = /^([-+]?)((?:(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:ns|us|µs|μs|ms|s|m|h))+|0)$/;
const durationParts = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
const nanosecondsOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Returns the nanoseconds of a duration as Go and Kubernetes write it (`90s`, `1h30m`). Undefined if the text is not one. */
export function parseDuration(text: string): bigint | undefined {
  const match = text.length > 128 ? null : durationPattern.exec(text);
  if (match === null) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of (match[2] ?? '').matchAll(durationParts)) {
    total += (BigInt(whole + fraction) * (nanosecondsOf[unit] ?? 0n)) / 10n ** BigInt(fraction.length);
  }
  return match[1] === '-' ? -total : total;
}

function compare<T extends string | number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
