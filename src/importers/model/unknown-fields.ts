import { isJsonObject, type Json } from '../../core/json.ts';
import { warningNote } from './import-notes.ts';
import type { ImportNote } from './import-result.ts';

/**
 * The fields that a document may have. `any`: every value. A list has one shape for all its items. An object has a shape for each field,
 * and `*` is the shape of all other fields.
 */
export type FieldShape = 'any' | readonly [FieldShape] | { readonly [field: string]: FieldShape };

/** Returns a warning for each field that the shape does not have. Values of another type than the shape are left to other checks. */
export function unknownFieldNotes(value: Json | undefined, shape: FieldShape, path: string): readonly ImportNote[] {
  if (shape === 'any') return [];
  if (isItemShape(shape)) {
    return Array.isArray(value) ? value.flatMap((item: Json, index) => unknownFieldNotes(item, shape[0], `${path}[${index}]`)) : [];
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([field, member]) => {
    const at = fieldPath(path, field);
    const known = Object.hasOwn(shape, field) ? shape[field] : shape['*'];
    if (known === undefined) return [warningNote('UNKNOWN_FIELD', at, `${field} is no known field here, and has no effect`)];
    return unknownFieldNotes(member, known, at);
  });
}

function isItemShape(shape: FieldShape): shape is readonly [FieldShape] {
  return Array.isArray(shape);
}

/** Returns the path of a member: `[0].spec`, or `[0]["a.b"]` for a name with other characters than letters, digits, `-` and `_`. */
export function fieldPath(path: string, field: string): string {
  return /^[\w-]+$/.test(field) ? `${path}.${field}` : `${path}[${JSON.stringify(field)}]`;
}
