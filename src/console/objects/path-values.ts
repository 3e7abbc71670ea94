import { isRawNumber, type Json } from '../../core/json.ts';

/** Returns the value at a path of names. A path through a list gives the values of all elements. Undefined if the value is absent or null. */
export function valueAtPath(value: Json | undefined, segments: readonly string[]): Json | undefined {
  const [first, ...rest] = segments;
  if (first === undefined || value === undefined || value === null) return value ?? undefined;
  if (Array.isArray(value)) {
    const all = (value as readonly Json[]).flatMap((one) => valueAtPath(one, segments) ?? []);
    return all.length === 0 ? undefined : (all as readonly Json[]);
  }
  if (typeof value !== 'object' || isRawNumber(value)) return undefined;
  return valueAtPath((value as Readonly<Record<string, Json>>)[first], rest);
}

/** Returns the text of a value in a cell. The values of a list are separated by commas. */
export function textOfValue(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (isRawNumber(value)) return value.rawJSON;
  if (Array.isArray(value)) return value.map(textOfValue).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Compares two values of a column for ascending order: two numbers by size, other values as text. Absent values come last. */
export function compareValues(a: Json | undefined, b: Json | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return left < right ? -1 : Number(left > right);
  const [first, second] = [textOfValue(a), textOfValue(b)];
  return first < second ? -1 : Number(first > second);
}

function numberOf(value: Json): number | bigint | undefined {
  if (isRawNumber(value)) return BigInt(value.rawJSON);
  return typeof value === 'number' ? value : undefined;
}
