import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isRawNumber, type Json } from '../../core/json.ts';

/** A Map key that identifies a value. */
export type ValueIdentity = string | number | bigint | boolean | symbol | null;

/**
 * Returns a function that gives the identity of a value. Values have the same identity only if the API server sent the same value: `1000m`
 * differs from `1`, and `80` from `"80"`. Lists and maps compare by their content. Two identities may be compared only if the same returned
 * function made both.
 */
export function createValueIdentities(): (value: Json) => ValueIdentity {
  const structures = new Map<string, symbol>();
  return (value) => {
    if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (isRawNumber(value)) return BigInt(value.rawJSON);
    const text = printJsonValue(value);
    const known = structures.get(text) ?? Symbol(text);
    structures.set(text, known);
    return known;
  };
}

const maxDepth = 64;

/**
 * Returns the canonical text of a value, equal for values that are equal as JSON. Ignores levels below the 64th, so values that differ only
 * there are equal.
 */
export function printJsonValue(value: Json): string {
  return canonicalJson(value, maxDepth);
}
