import type { KubernetesObject } from '../core/objects.ts';
import { redact } from '../core/redaction.ts';
import type { SensitiveKinds } from '../core/sensitive-kinds.ts';
import type { HeldPart } from './parts.ts';
import type { Row } from './reads.ts';

/** What of an object of this part may be shown, as a row of it. Absent `depth`: the answer begins with it. */
export function rowOf({ ask, mirror, heldSync }: HeldPart, object: KubernetesObject, { sensitive, depth, waitMs }: RowOptions): Row {
  const { cluster, kind } = ask;
  const metadataOnly = sensitive.has(kind);
  const shown = redact(object, { sensitive: metadataOnly, live: false });
  return { cluster, kind, resource: mirror.resource, object: shown, metadataOnly, sync: heldSync, depth, waitMs };
}

export interface RowOptions {
  readonly sensitive: SensitiveKinds;
  readonly depth?: number | undefined;
  readonly waitMs?: number | undefined;
}
