import { isJsonObject, type Json } from '../../core/json.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { parsePointer, printPointer, valueAtKeys } from '../../manifests/json-pointer.ts';

/**
 * Returns the operations of RFC 6902 that replace one operation of a MultiClusterResource. Its operator patches the applied object. A plan
 * patches the template, which can lack members that an API server adds.
 *
 * - The applied object always has annotations and labels. So the map is added if the template has none.
 * - `replace` adds a missing member to an existing map, as an API server does.
 */
export function asAppliedOperation(operation: JsonPatchOperation, document: Json): readonly JsonPatchOperation[] {
  const keys = parsePointer(operation.path) ?? [];
  if (operation.op !== 'add' && operation.op !== 'replace') return [operation];
  const parent = keys.slice(0, -1);
  const existing = valueAtKeys(document, parent) ?? null;
  const isMissingMap = existing === null && ['/metadata/annotations', '/metadata/labels'].includes(printPointer(parent));
  if (isMissingMap)
    return [
      { op: 'add', path: printPointer(parent), value: {} },
      { ...operation, op: 'add' },
    ];
  const isMissing = isJsonObject(existing) && valueAtKeys(document, keys) === undefined;
  return [isMissing ? { ...operation, op: 'add' } : operation];
}
