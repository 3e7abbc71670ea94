import type { Json } from '../../core/json.ts';
import { applyJsonPatch, type PatchAdapter } from '../../manifests/json-patch.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';

/** A patch of another system as a JSON patch of RFC 6902 with the same effect. */
export interface AdaptedPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** The indexes of the operations that became several operations, or one with another `op` or `path`. */
  readonly changed: readonly number[];
  /** The object after the patch. Undefined: an operation fails. */
  readonly patched: Json | undefined;
  /** The index of the operation that fails. -1: none fails. */
  readonly failed: number;
  /** Why the operation at index `failed` fails, with pointers and without values. Empty: none fails. */
  readonly problem: string;
}

/**
 * Converts a patch of another system, whose operations differ from RFC 6902, by applying it to the object that it changes. `adapt` returns
 * the operations that replace one operation. The operations after the first one that fails stay as they are: a plan reports the failure.
 */
export function adaptedPatch(object: Json, operations: readonly JsonPatchOperation[], adapt: PatchAdapter): AdaptedPatch {
  const adapted: JsonPatchOperation[] = [];
  const changed: number[] = [];
  let count = 0;
  const applied = applyJsonPatch(object, operations, (operation, document) => {
    const made = adapt(operation, document);
    if (made.length !== 1 || made[0]?.op !== operation.op || made[0].path !== operation.path) changed.push(count);
    adapted.push(...made);
    count += 1;
    return made;
  });
  const outcome =
    applied.result === 'patched'
      ? { patched: applied.document, failed: -1, problem: '' }
      : { patched: undefined, failed: applied.index, problem: applied.message };
  return { operations: [...adapted, ...operations.slice(count)], changed, ...outcome };
}
