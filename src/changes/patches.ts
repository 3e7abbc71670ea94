import { MusterError } from '../core/errors.ts';
import { readDocument } from '../core/json/documents.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { apiVersionOf } from '../core/kinds.ts';
import { patchOperations } from '../manifests/json-patch-definition.ts';
import type { ChangeTarget } from './change-targets.ts';
import type { ObjectAddress, PatchObjectRequest } from './object-client.ts';

/** The types of patches, spelled as in the schema. */
export type PatchTypeInput = 'JSON' | 'MERGE' | 'STRATEGIC' | 'APPLY';

/**
 * Refuses patches that no API server accepts, before the first call to a cluster.
 *
 * @throws {MusterError} `BAD_INPUT` with the expected and the given shape, never with values.
 */
export function checkPatch(type: PatchTypeInput, patch: Json): void {
  if (type !== 'JSON') {
    if (!isJsonObject(patch)) throw new MusterError('BAD_INPUT', `patch: expected an object for ${type}, got ${shapeOf(patch)}`);
    return;
  }
  if (!Array.isArray(patch)) throw new MusterError('BAD_INPUT', `patch: expected a list of operations (RFC 6902), got ${shapeOf(patch)}`);
  const read = readDocument(patchOperations, patch, { path: 'patch' });
  const [problem] = 'problems' in read ? read.problems : [];
  if (problem !== undefined) throw new MusterError('BAD_INPUT', `${problem.path}: ${problem.message}`);
}

/**
 * Adds the uid and version of the target to the patch, if the target has them. The API server then answers 409 or 422 if the object has
 * another uid or version.
 */
export function guardedPatch({
  type,
  patch,
  target,
  address,
}: {
  readonly type: PatchTypeInput;
  readonly patch: Json;
  readonly target: ChangeTarget;
  readonly address: ObjectAddress;
}): Pick<PatchObjectRequest, 'type' | 'patch'> {
  const { uid, resourceVersion } = target.preconditions;
  const guards = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  switch (type) {
    case 'JSON': {
      const tests = Object.entries(guards).map(([name, value]) => ({ op: 'test', path: `/metadata/${name}`, value }));
      return { type: 'json', patch: [...tests, ...(patch as readonly Json[])] };
    }
    case 'MERGE':
      return { type: 'merge', patch: withMetadata(patch as JsonObject, guards) };
    case 'STRATEGIC':
      return { type: 'strategic', patch: withMetadata(patch as JsonObject, guards) };
    case 'APPLY': {
      // An apply names its object in the body as well as in the path.
      const named = { apiVersion: apiVersionOf(address.resource), kind: address.resource.kind, ...(patch as JsonObject) };
      return { type: 'apply', patch: withMetadata(named, { ...guards, name: address.name }) };
    }
    default:
      return type satisfies never;
  }
}

function withMetadata(patch: JsonObject, guards: Readonly<Record<string, string>>): JsonObject {
  if (Object.keys(guards).length === 0) return patch;
  const { metadata } = patch;
  return { ...patch, metadata: { ...(isJsonObject(metadata) ? metadata : {}), ...guards } };
}

function shapeOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
