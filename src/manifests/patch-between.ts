import { equalJson } from '../core/json/json-values.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import type { JsonPatchOperation } from './json-patch-definition.ts';
import { printPointer } from './json-pointer.ts';

/**
 * Returns a JSON patch (RFC 6902) that turns one value into another one. Empty if both are equal. A list whose length changes is replaced as
 * a whole.
 *
 * `compare` of fast-json-patch cannot be used: it looks into `RawNumber`s, so its paths would end with `/rawJSON`.
 */
export function patchBetween(before: Json, after: Json): readonly JsonPatchOperation[] {
  return operationsBetween(before, after, []);
}

function operationsBetween(before: Json, after: Json, keys: readonly (string | number)[]): readonly JsonPatchOperation[] {
  if (equalJson(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item: Json, index) => operationsBetween(item, after[index] as Json, [...keys, index]));
  }
  const path = printPointer(keys);
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ op: 'replace', path, value: after }];
  const removed = Object.keys(before).filter((key) => before[key] !== undefined && memberOf(after, key) === undefined);
  return [
    ...removed.map((key): JsonPatchOperation => ({ op: 'remove', path: printPointer([...keys, key]) })),
    ...Object.entries(after).flatMap(([key, value]): readonly JsonPatchOperation[] => {
      if (value === undefined) return [];
      const old = memberOf(before, key);
      const at = [...keys, key];
      return old === undefined ? [{ op: 'add', path: printPointer(at), value }] : operationsBetween(old, value, at);
    }),
  ];
}

function memberOf(object: Readonly<Record<string, Json | undefined>>, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
