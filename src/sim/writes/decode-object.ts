import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { firstTypeMismatch, knownFields } from '../fields/check-fields.ts';
import type { FieldType } from '../fields/field-types.ts';
import { firstFormatError } from '../fields/value-formats.ts';
import { type ApiRefusal, apiRefusal, invalidObject } from '../kinds/api-status.ts';
import type { FieldValidation } from './write-options.ts';

/** An object as a server takes it in, and what it remarks. */
export interface Decoded {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

export interface DecodeOptions {
  readonly kind: string;
  readonly version: string;
  readonly type: FieldType;
  readonly fieldValidation: FieldValidation;
  /** The body itself, or what a patch made of the object: the same is told in another way. */
  readonly from: 'body' | 'patch';
  /** Values of custom resources are not judged here but by their schema. */
  readonly isCustom: boolean;
}

/** Drops or refuses what no schema names, and refuses values of another type than their field. */
export function decodedObject(
  object: JsonObject,
  { kind, version, type, fieldValidation, from, isCustom }: DecodeOptions,
): Decoded | ApiRefusal {
  const refused = (why: string): ApiRefusal => {
    if (from === 'body') return apiRefusal(400, `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
    return invalidObject({ kind: '', name: '' }, [{ reason: 'FieldValueInvalid', message: `Invalid value: ${why}`, field: 'patch' }]);
  };
  const misfit = isCustom ? firstTypeMismatch(type, { metadata: object.metadata }) : firstTypeMismatch(type, object);
  if (misfit !== undefined) {
    return refused(
      `json: cannot unmarshal ${jsonTypeOf(misfit.value)} into Go struct field ${kind}.${misfit.place} of type ${misfit.expected}`,
    );
  }
  const misformed = firstFormatError(type, object);
  // Of a patch the whole object is told, values of a Secret included.
  if (misformed !== undefined) return refused(from === 'body' ? misformed : `${JSON.stringify(JSON.stringify(object))}: ${misformed}`);
  const { value, unknown } = knownFields(type, object);
  const remarks = unknown.toSorted().map((field) => `unknown field ${JSON.stringify(field)}`);
  if (fieldValidation === 'Strict' && remarks.length > 0) return refused(`strict decoding error: ${remarks.join(', ')}`);
  return { object: isJsonObject(value) ? value : {}, warnings: fieldValidation === 'Warn' ? remarks : [] };
}

/** Warnings as a response carries them. */
export function warningHeader(warnings: readonly string[]): Readonly<Record<string, string>> {
  return warnings.length === 0 ? {} : { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ') };
}

function jsonTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'object' && value !== null && isJsonObject(value) ? 'object' : typeof value === 'string' ? 'string' : 'number';
}
