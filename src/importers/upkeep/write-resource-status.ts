import { equalJson } from '../../core/json/json-values.ts';
import { mergePatchOf } from '../../core/json/merge-patch.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { compareVersions } from '../../store/versions.ts';
import { statusMembers, statusOfResource, type UpkeepOutcome } from './resource-status.ts';
import { retryUpkeepLater, type UpkeepPass } from './upkeep-pass.ts';

/** Minimum time between two writes of a status. */
const spacingMs = 1_000;
/** Time after which the status of a kind without the subresource is tried again, because its definition may have changed. */
const withoutStatusMs = 60_000;

/**
 * Writes the status of the resource, if it differs. Returns the delay until it may be written: at most one write per second. Undefined if
 * no further attempt is needed: the status is written, equals the one on the hub, or is no longer the task of this process. Without the
 * status subresource, nothing is written.
 */
export async function writeResourceStatus(
  pass: UpkeepPass,
  resource: KubernetesObject,
  outcome: UpkeepOutcome,
): Promise<number | undefined> {
  const { ports, resources, state, term, withoutStatus } = pass;
  const wanted = statusOfResource(resource, outcome);
  const before = writtenMembersOf(statusBefore(pass, resource));
  const patch = mergePatchOf(before, wanted);
  if (patch === undefined || isAccepted(pass, wanted, before)) return undefined;
  const nowMs = ports.clock.monotonic();
  const waitMs = Math.max(withoutStatus.untilMs, (state.status?.atMs ?? Number.NEGATIVE_INFINITY) + spacingMs) - nowMs;
  if (waitMs > 0) return waitMs;
  if (!term.isLeading()) return undefined;
  const written = await resources.patchStatus(resource, patch, term.signal);
  switch (written.result) {
    case 'written': {
      const { resourceVersion: version = '' } = written.object.metadata;
      state.status = { wanted, stored: objectAt(written.object, 'status'), version, atMs: nowMs };
      return undefined;
    }
    // The resource was deleted, or created again. The mirror reports it.
    case 'absent':
    case 'conflict':
      return undefined;
    case 'failed':
      if (written.fault.code !== 'NOT_SERVED') return retryUpkeepLater(pass, written.fault);
      withoutStatus.untilMs = nowMs + withoutStatusMs;
      return withoutStatusMs;
    default:
      return written satisfies never;
  }
}

/** Returns the status that the hub has: that of the mirror, or a newer one that this process wrote. */
function statusBefore({ state }: UpkeepPass, resource: KubernetesObject): JsonObject {
  const { status } = state;
  const order = status === undefined ? undefined : compareVersions(resource.metadata.resourceVersion ?? '', status.version);
  return status !== undefined && order !== undefined && order < 0 ? status.stored : objectAt(resource, 'status');
}

/** True if the hub answered a write of this status with the one that it has now. The schema of the kind may drop members. */
function isAccepted({ state: { status } }: UpkeepPass, wanted: JsonObject, before: JsonObject): boolean {
  return status !== undefined && equalJson(status.wanted, wanted) && equalJson(writtenMembersOf(status.stored), before);
}

function writtenMembersOf(status: JsonObject): JsonObject {
  return Object.fromEntries(statusMembers.flatMap((name) => (status[name] === undefined ? [] : [[name, status[name]]])));
}
