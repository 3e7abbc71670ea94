import { isJsonObject, type Json } from '../core/json.ts';

/** From this power of ten on Go's `%v` writes a double with an exponent. */
const exponentFrom = 6;

/** A double as Go's `%v` prints it: `0.5`, `1.0000005e+06`, `1e-05`. */
export function goFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < exponentFrom) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** A value as Go's encoding/json writes it: members by name, and `<`, `>`, `&` escaped. */
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
