import type { Json } from '../../core/json.ts';
import { applyJsonPatch, type PatchAdapter } from '../../manifests/json-patch.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';

/** A patch of another system as a JSON patch of RFC 6902 with the same effect. */
export interface AdaptedPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** The indexes of those operations of the other system that had to be changed. */
  readonly changed: readonly number[];
  /** The object after the patch. Undefined: the operation at index `failed` fails. */
  readonly patched: Json | undefined;
  readonly failed: number;
  /** Why that operation fails, with pointers and without values. Empty: none fails. */
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
