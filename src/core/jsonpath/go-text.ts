import { isJsonObject, isRawNumber, type Json } from '../json.ts';

/** Go's `%v` writes a double with an exponent from this power of ten on. */
const exponentFrom = 6;

/** Prints a double as Go's `%v` does: `0.5`, `1.0000005e+06`, `1e-05`. */
export function goFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < exponentFrom) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Prints a value as Go's encoding/json does: members in order of name, and `<`, `>`, `&` escaped. */
export function goJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, member]) => `${goJson(key)}:${goJson(member)}`).join(',')}}`;
  }
  return (JSON.stringify(value) ?? 'null').replaceAll(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Prints a value as Go's `%v` does: `[a b]` for a list, `map[a:1 b:2]` for an object, `<nil>` for null. */
export function goValue(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (isRawNumber(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `map[${members.map(([key, member]) => `${key}:${goValue(member)}`).join(' ')}]`;
  }
  return typeof value === 'number' && !Number.isInteger(value) ? goFloat(value) : String(value);
}
