import { sha256Of } from '../../core/json/canonical-json.ts';
import { mergePatchOf } from '../../core/json/merge-patch.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { compareVersions } from '../../store/versions.ts';
import { statusMembers, statusOfResource, type UpkeepOutcome } from './resource-status.ts';
import { retryUpkeepLater, type UpkeepPass } from './upkeep-pass.ts';

/** Minimum time between two writes of a status. */
const spacingMs = 1_000;
/** Time after which a mirror that lacks a written status counts as current. */
const longestMirrorDelayMs = 5_000;
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
  const nowMs = ports.clock.monotonic();
  const behindMs = mirrorDelayMs(pass, resource, nowMs);
  if (behindMs > 0) return behindMs;
  const wanted = statusOfResource(resource, outcome);
  const before = writtenMembersOf(objectAt(resource, 'status'));
  const patch = mergePatchOf(before, wanted);
  const hash = sha256Of(wanted);
  // The schema of the kind may drop members. If the hub stored this status as the one that it has now, another write changes nothing.
  const isAccepted = state.status?.wanted === hash && state.status.stored === sha256Of(before);
  if (patch === undefined || isAccepted) return undefined;
  const waitMs = Math.max(withoutStatus.untilMs, (state.status?.atMs ?? Number.NEGATIVE_INFINITY) + spacingMs) - nowMs;
  if (waitMs > 0) return waitMs;
  if (!term.isLeading()) return undefined;
  const written = await resources.patchStatus(resource, patch, term.signal);
  switch (written.result) {
    case 'written': {
      const { resourceVersion: version = '' } = written.object.metadata;
      const stored = sha256Of(writtenMembersOf(objectAt(written.object, 'status')));
      state.status = { wanted: hash, stored, version, atMs: nowMs };
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

/**
 * Returns the milliseconds to wait until the mirror has the last written status, because a patch must be made from the status that the hub
 * has. At most 0: the mirror counts as current. This is also so 5 s after the write, because the hub may have been restored.
 */
function mirrorDelayMs({ state: { status } }: UpkeepPass, resource: KubernetesObject, nowMs: number): number {
  if (status === undefined) return 0;
  const order = compareVersions(resource.metadata.resourceVersion ?? '', status.version);
  return order !== undefined && order < 0 ? status.atMs + longestMirrorDelayMs - nowMs : 0;
}

function writtenMembersOf(status: JsonObject): JsonObject {
  return Object.fromEntries(statusMembers.flatMap((name) => (status[name] === undefined ? [] : [[name, status[name]]])));
}
