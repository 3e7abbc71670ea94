import { shortened } from '../../core/json/field-definitions.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { shownPhaseOf } from '../../propagate/api/propagation-view.ts';
import type { Propagation, PropagationPhase } from '../../propagate/model/propagation.ts';
import type { ImportNote } from '../model/import-result.ts';

/** The result of the upkeep of one resource, as its status reports it. */
export interface UpkeepOutcome {
  /** The resource's own Propagation. Absent if there is none. */
  readonly propagation?: Propagation | undefined;
  /** Why the resource has no Propagation that matches it. Absent if it has one. */
  readonly problem?: string | undefined;
  /** The phase to report. Default: `Failed` if there is a problem or no Propagation, else the phase of the Propagation. */
  readonly phase?: PropagationPhase | undefined;
  readonly notes: readonly ImportNote[];
}

/** The members of the status that Muster writes. All others are left alone. */
export const statusMembers = ['observedGeneration', 'phase', 'message', 'clusters', 'notes'] as const;

/** Maximum number of notes in a status. */
const maxNotes = 100;

/** Returns the status of a resource. It has no `message` if all is well. */
export function statusOfResource({ metadata }: KubernetesObject, outcome: UpkeepOutcome): JsonObject {
  const { propagation, problem, notes } = outcome;
  const message = problem ?? (propagation === undefined ? undefined : withAuthorsPaths(messageOf(propagation), notes));
  const phase = outcome.phase ?? (problem !== undefined || propagation === undefined ? 'Failed' : shownPhaseOf(propagation));
  const { generation } = metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    ...(message === undefined ? {} : { message: shortened(message) }),
    clusters: (propagation?.status.clusters ?? []).map(({ cluster, phase: inCluster, reason }) => ({
      cluster,
      phase: inCluster,
      ...(reason === undefined ? {} : { reason }),
    })),
    notes: notes.slice(0, maxNotes).map(({ severity, code, message: text }) => ({ severity, code, message: shortened(text) })),
  };
}

/**
 * Replaces the paths of failing operations in the spec of the Propagation by those in the resource, because the author of the resource
 * wrote only the latter. The note about an operation begins with the same reason. Each note is used once, because operations of several clusters may
 * fail for the same reason.
 */
function withAuthorsPaths(message: string | undefined, notes: readonly ImportNote[]): string | undefined {
  const left = notes.filter(({ code }) => code === 'PATCH_FAILS');
  return message?.replace(/overrides\[\d+\]\.jsonPatch\[\d+\](?=: (.*?)(?:; overrides\[|$))/gs, (written: string, reason: string) => {
    const index = left.findIndex(({ message: text }) => text.startsWith(`${reason}: `));
    const [failing] = index < 0 ? [] : left.splice(index, 1);
    return failing?.path ?? written;
  });
}

/**
 * Returns why the Propagation is not what the resource asks for: the reason why its spec was refused or its plan is held, or the message of the first
 * cluster that has one. Undefined if there is none, or if the status is that of an older spec.
 */
function messageOf({ metadata, status }: Propagation): string | undefined {
  if (metadata.deletionTimestamp === undefined && status.observedGeneration !== metadata.generation) return undefined;
  const stopped = status.conditions?.find(({ type, status: holds }) => (type === 'Accepted' || type === 'Planned') && holds === 'False');
  if (stopped !== undefined && stopped.message !== '') return stopped.message;
  const line = status.clusters?.find(({ message, fault }) => (message ?? fault) !== undefined);
  return line === undefined ? undefined : `${line.cluster}: ${line.message ?? line.fault?.message}`;
}
