import type { JsonObject } from '../../core/json.ts';
import { numberAt, textAt } from '../../core/json-at.ts';

/** A figure of the status; 0 where there is none. */
export function countOf(object: JsonObject, field: string): number {
  return numberAt(object, 'status', field) ?? 0;
}

/** True for a StatefulSet or DaemonSet whose pods are renewed only when somebody deletes them. */
export function updatesByDeletion(object: JsonObject): boolean {
  return textAt(object, 'spec', 'updateStrategy', 'type') === 'OnDelete';
}
