import { isJsonObject, type Json } from '../../core/json.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { parsePointer, printPointer, valueAtKeys } from '../../manifests/json-pointer.ts';

/**
 * A `PatchAdapter` with the leniency of KubeFed's library (json-patch 4). Returns the operation of RFC 6902 that has the same effect as the
 * given one in json-patch 4. Empty if the operation has no effect there. An operation that json-patch 4 refuses stays as it is, or becomes
 * another one that is refused.
 *
 * - `replace` adds a missing member to an existing map.
 * - A negative index counts from the end of a list.
 * - `test` accepts a missing member of a map if the value is null.
 */
export function asStandardOperation(operation: JsonPatchOperation, document: Json): readonly JsonPatchOperation[] {
  const written = parsePointer(operation.path);
  if (written === undefined || written.length === 0) return [operation];
  const keys = withPositiveIndexes(written, operation.op, document);
  const path = printPointer(keys);
  const isMissing = isJsonObject(valueAtKeys(document, keys.slice(0, -1))) && valueAtKeys(document, keys) === undefined;
  if (isMissing && operation.op === 'replace') return [{ ...operation, op: 'add', path }];
  if (isMissing && operation.op === 'test' && (operation.value ?? null) === null) return [];
  return [{ ...operation, path }];
}

/**
 * Returns the keys of an operation with list indexes of RFC 6902. In json-patch 4 and 5, a negative index counts from the end of the list:
 * -1 is the last item, and with `add` the position behind it. Leading zeros and a plus sign have no effect.
 */
export function withPositiveIndexes(keys: readonly string[], op: JsonPatchOperation['op'], document: Json): readonly string[] {
  const positive: string[] = [];
  for (const [at, key] of keys.entries()) {
    const list = valueAtKeys(document, positive);
    const isIndex = Array.isArray(list) && /^[+-]?\d+$/.test(key);
    positive.push(isIndex ? positiveIndex(Number(key), list.length + (op === 'add' && at === keys.length - 1 ? 1 : 0)) : key);
  }
  return positive;
}

function positiveIndex(index: number, length: number): string {
  return String(index < 0 ? index + length : index);
}
