import type { JsonObject } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { Row } from './reads.ts';

/** Returns the whole served object as a manifest. `apiVersion` and `kind` come first, and are added to items of lists, which lack them. */
export function manifestOf({ kind, resource, object }: Row): JsonObject {
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return { apiVersion: apiVersionOf(resource), kind: kind.kind, ...rest };
}
