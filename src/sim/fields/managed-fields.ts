import { equalJson } from '../../core/json/json-values.ts';
import type { JsonObject } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import { typeOfKind, zeroValueOfKind } from './kind-types.ts';
import { isReset, type Manager, type Ownership, parseManagers, printManagers } from './managers.ts';
import { trackUpdate } from './track-fields.ts';

/** The author of a write: field manager and subresource. */
export interface Writer {
  readonly manager: string;
  readonly subresource?: string;
  /** The version of the written object. Default: the preferred version. */
  readonly version?: string;
}

/** Returns the manager entry for a write. */
export function managerOfWrite(kind: SimKind, operation: Manager['operation'], { manager, subresource, version }: Writer): Manager {
  const apiVersion = apiVersionOf({ group: kind.group, version: version ?? kind.versions[0] ?? '' });
  return { manager, operation, apiVersion, ...(subresource === undefined ? {} : { subresource }) };
}

/**
 * Returns `metadata.managedFields` after an update of a whole object. Undefined if no field has an owner.
 *
 * The managedFields in the new object are the base, else those in the old object. If an update clears them, or neither object has any, the
 * result is undefined, as in Kubernetes.
 * Changes of a status subresource are owned through that subresource.
 */
export function managedAfterUpdate(
  kind: SimKind,
  { before, after }: { readonly before: KubernetesObject | undefined; readonly after: KubernetesObject },
  by: Writer & { readonly time: string },
): readonly JsonObject[] | undefined {
  const given = after.metadata.managedFields;
  const old = before?.metadata.managedFields;
  if (before !== undefined && (isReset(given) || (old === undefined && parseManagers(given) === undefined))) return undefined;
  const managers = parseManagers(given) ?? parseManagers(old) ?? [];
  return printManagers(trackParts(kind, managers, { before: before ?? zeroValueOfKind(kind), after, by }));
}

interface TrackedWrite {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly by: Writer & { readonly time: string };
}

function trackParts(kind: SimKind, managers: readonly Ownership[], { before, after, by }: TrackedWrite): readonly Ownership[] {
  const type = typeOfKind(kind, by.version);
  // A Scale is another kind, so its entry has no time.
  const time = by.subresource === 'scale' ? undefined : by.time;
  const tracking = { type, time, by: managerOfWrite(kind, 'Update', by) };
  if (!kind.hasStatus || by.subresource !== undefined) return trackUpdate(managers, { before, after }, tracking);
  const tracked = trackUpdate(managers, { before, after }, { ...tracking, except: ['status'] });
  if (equalJson(before.status, after.status)) return tracked;
  const through = { ...tracking, by: { ...tracking.by, subresource: 'status' } };
  return trackUpdate(tracked, { before: { metadata: {}, status: before.status }, after: { metadata: {}, status: after.status } }, through);
}
