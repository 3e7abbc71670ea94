import jsonPatch from 'fast-json-patch';
import { mergePatch } from '../../core/json/merge-patch.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly } from '../../core/json.ts';
import { type ApiRefusal, apiRefusal } from '../kinds/api-status.ts';
import type { WriteRequest } from './write-options.ts';

/** The type of a patch. */
export type SimPatchType = 'apply' | 'json' | 'merge';

/** The parsed body and options of a PATCH. */
export interface SimPatchRequest {
  readonly type: SimPatchType;
  readonly request: WriteRequest;
  readonly body: Json;
}

/** Returns the patched value, or a refusal. */
export function patchedValue(object: JsonObject, { type, body }: SimPatchRequest): JsonObject | ApiRefusal {
  if (type === 'json') {
    if (!Array.isArray(body)) return apiRefusal(400, 'error decoding patch: json: cannot unmarshal object into a list of operations');
    const patched = jsonPatched(object, body as readonly Json[]);
    return patched ?? { ...apiRefusal(422, 'the server rejected our request due to an error in our request'), details: {} };
  }
  const patched = isJsonObject(body) ? mergePatch(object, body) : undefined;
  return isJsonObject(patched) ? patched : apiRefusal(400, 'error decoding patch: json: cannot unmarshal a patch that is no object');
}

/** Applies a JSON patch (RFC 6902). As in API servers, `replace` of a missing member adds it. Undefined if an operation or a test fails. */
function jsonPatched(object: JsonObject, operations: readonly Json[]): JsonObject | undefined {
  try {
    let patched: unknown = parseJsonExactly(JSON.stringify(object));
    for (const operation of operations) {
      if (!isJsonObject(operation)) return undefined;
      patched = jsonPatch.applyOperation(patched, lenient(patched, operation) as never, true, true).newDocument;
    }
    return isJsonObject(patched) ? patched : undefined;
  } catch {
    return undefined;
  }
}

function lenient(document: unknown, operation: JsonObject): JsonObject {
  const { op, path } = operation;
  if (op !== 'replace' || typeof path !== 'string') return operation;
  const parent = jsonPatch.getValueByPointer(document, path.slice(0, path.lastIndexOf('/')));
  const key = jsonPatch.unescapePathComponent(path.slice(path.lastIndexOf('/') + 1));
  return isJsonObject(parent) && !Object.hasOwn(parent, key) ? { ...operation, op: 'add' } : operation;
}
