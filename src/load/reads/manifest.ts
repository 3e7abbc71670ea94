import type { JsonObject } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { Row } from './reads.ts';

/** The whole object as a manifest: all that was served, with `apiVersion` and `kind` first, also where the items of a list lack them. */
export function manifestOf({ kind, resource, object }: Row): JsonObject {
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return { apiVersion: apiVersionOf(resource), kind: kind.kind, ...rest };
}
