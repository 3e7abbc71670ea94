import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { firstTypeMismatch, prunedValue } from '../fields/check-fields.ts';
import type { FieldType } from '../fields/field-types.ts';
import { firstFormatError } from '../fields/value-formats.ts';
import { type ApiRefusal, apiRefusal, invalidObject } from '../kinds/api-status.ts';
import type { FieldValidation } from './write-options.ts';

/** A decoded object, and warnings about it. */
export interface DecodedObject {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

export interface DecodeOptions {
  readonly kind: string;
  readonly version: string;
  readonly type: FieldType;
  readonly fieldValidation: FieldValidation;
  /** The source of the object: the request body, or the result of a patch. The error messages differ. */
  readonly from: 'body' | 'patch';
  /** True for custom resources: their schema validates the values later. */
  readonly isCustom: boolean;
}

/** Removes or refuses undeclared fields, and refuses values of a wrong type. */
export function decodedObject(
  object: JsonObject,
  { kind, version, type, fieldValidation, from, isCustom }: DecodeOptions,
): DecodedObject | ApiRefusal {
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
  // The message about a patch contains the whole object, even the values of a Secret.
  if (misformed !== undefined) return refused(from === 'body' ? misformed : `${JSON.stringify(JSON.stringify(object))}: ${misformed}`);
  const { value, unknown } = prunedValue(type, object);
  const remarks = unknown.toSorted().map((field) => `unknown field ${JSON.stringify(field)}`);
  if (fieldValidation === 'Strict' && remarks.length > 0) return refused(`strict decoding error: ${remarks.join(', ')}`);
  return { object: isJsonObject(value) ? value : {}, warnings: fieldValidation === 'Warn' ? remarks : [] };
}

/** Returns the header with the warnings. */
export function warningHeader(warnings: readonly string[]): Readonly<Record<string, string>> {
  return warnings.length === 0 ? {} : { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ') };
}

function jsonTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'object' && value !== null && isJsonObject(value) ? 'object' : typeof value === 'string' ? 'string' : 'number';
}
