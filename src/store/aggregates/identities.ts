import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isRawNumber, type Json } from '../../core/json.ts';

/** A Map key that identifies a value. */
type ValueIdentity = string | number | bigint | boolean | symbol | null;

/**
 * Gives each different value a number: 0, 1, 2 …, in order of first appearance. Values have the same number only if the API server sent the
 * same value: `1000m` differs from `1`, and `80` from `"80"`. Lists and maps compare by their content.
 */
export class ValueNumbers<T extends Json = Json> {
  readonly #numbers = new Map<ValueIdentity, number>();
  readonly #structures = new Map<string, symbol>();
  readonly #values: T[] = [];

  /** The different values, by their number. */
  get values(): readonly T[] {
    return this.#values;
  }

  numberOf(value: T): number {
    const identity = this.#identityOf(value);
    const known = this.#numbers.get(identity);
    if (known !== undefined) return known;
    this.#numbers.set(identity, this.#values.length);
    return this.#values.push(value) - 1;
  }

  #identityOf(value: Json): ValueIdentity {
    if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (isRawNumber(value)) return BigInt(value.rawJSON);
    const text = printJsonValue(value);
    const known = this.#structures.get(text) ?? Symbol(text);
    this.#structures.set(text, known);
    return known;
  }
}

const maxDepth = 64;

/**
 * Returns the canonical text of a value, equal for values that are equal as JSON. Ignores levels below the 64th, so values that differ only
 * there are equal.
 */
export function printJsonValue(value: Json): string {
  return canonicalJson(value, maxDepth);
}
