import type { Json } from '../../core/json.ts';
import { applyJsonPatch, type PatchAdapter } from '../../manifests/json-patch.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';

/** A patch in which each operation does by RFC 6902 what the operation of the source did. */
export interface AdaptedPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** The indexes of the operations of the source that had to be changed. */
  readonly changed: readonly number[];
}

/**
 * Adapts a patch of another system to the object that it changes. From the first operation that fails, the operations stay as they are, so
 * that a plan reports them.
 */
export function adaptedPatch(object: Json, operations: readonly JsonPatchOperation[], adapt: PatchAdapter): AdaptedPatch {
  const adapted: JsonPatchOperation[] = [];
  const changed: number[] = [];
  let count = 0;
  applyJsonPatch(object, operations, (operation, document) => {
    const made = adapt(operation, document);
    if (made.length !== 1 || made[0]?.op !== operation.op || made[0].path !== operation.path) changed.push(count);
    adapted.push(...made);
    count += 1;
    return made;
  });
  return { operations: [...adapted, ...operations.slice(count)], changed };
}
