import { canonicalJson } from '../../core/canonical-json.ts';
import { isRawNumber, type Json } from '../../core/json.ts';

/** What a Map tells a value by. */
export type Identity = string | number | bigint | boolean | symbol | null;

/**
 * What is the same for values that are equal as served, and differs for all others: `1000m` is not `1`, `80` not `"80"`. Lists and maps go by what
 * they hold; of one maker alone.
 */
export function createIdentities(): (value: Json) => Identity {
  const structures = new Map<string, symbol>();
  return (value) => {
    if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (isRawNumber(value)) return BigInt(value.rawJSON);
    const text = printedValue(value);
    const known = structures.get(text) ?? Symbol(text);
    structures.set(text, known);
    return known;
  };
}

const maxDepth = 64;

/** Equal for values that are equal as JSON. Others differ, except for values that are equal in their first 64 levels. */
export function printedValue(value: Json): string {
  return canonicalJson(value, maxDepth);
}
