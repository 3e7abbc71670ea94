import type { Fault } from '../../core/faults.ts';
import { groupKindOfKey, objectPlaceOf } from '../../manifests/object-key.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { ClusterShare, InventoryEntry } from '../model/inventory.ts';
import { type ClusterLine, type ClusterObjects, marks, type Propagation, type PropagationPhase } from '../model/propagation.ts';
import type { PropagationView } from '../model/propagations.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import { breachedAtOf, resumedAtMsOf } from '../rollout/resumption.ts';
import { healthOfCopy } from '../status/copy-state.ts';
import { deletionHeld } from '../status/facts.ts';

/** The Propagation as it is shown, with what the mirrors know of its shares and copies, as of when that is first asked for; `faults` are of the hub. */
export function propagationViewOf(stores: HubStores, propagation: Propagation, faults: readonly Fault[]): PropagationView {
  let objects: readonly ClusterObjects[] | undefined;
  return {
    propagation,
    phase: shownPhaseOf(propagation),
    isPaused: isPaused(propagation),
    // Of 500 clusters with 200 copies each, only for who wants them.
    get objects() {
      objects ??= objectsOf(stores, propagation);
      return objects;
    },
    faults,
  };
}

function objectsOf({ hub, shares }: HubStores, { metadata, status }: Propagation): readonly ClusterObjects[] {
  return (status.clusters ?? []).flatMap((line): readonly ClusterObjects[] => {
    const share = shares.read(metadata, line.cluster);
    return share === undefined
      ? []
      : [{ cluster: line.cluster, entries: share.entries.map((entry) => withHealth(entry, { hub, share, line })) }];
  });
}

interface EntryContext {
  readonly hub: HubStores['hub'];
  readonly share: ClusterShare;
  readonly line: ClusterLine;
}

/** Nobody writes to the hub each time a copy falls ill: how it is its mirror says. Of a cluster of which nobody can tell, nobody can. */
function withHealth(entry: InventoryEntry, { hub, share, line }: EntryContext): InventoryEntry {
  if (line.health === 'Unknown') return { ...entry, health: 'Unknown' };
  const mirrored = hub.members.objects.read(share.cluster, groupKindOfKey(entry.key), objectPlaceOf(entry.key));
  return { ...entry, health: healthOfCopy({ entry, mirrored }) };
}

/** Its status may be of an older generation, which says nothing of this one, or from before somebody paused it or went on. */
export function shownPhaseOf(propagation: Propagation): PropagationPhase {
  const { metadata, status } = propagation;
  if (metadata.deletionTimestamp !== undefined) return isDeletionHeld(status) ? 'Held' : 'Deleting';
  if (status.phase === undefined || (status.observedGeneration ?? 0) < metadata.generation) return 'Planning';
  const isAsked = isPaused(propagation);
  if (isAsked && pausable.includes(status.phase)) return 'Paused';
  return !isAsked && status.phase === 'Paused' ? 'Rolling' : status.phase;
}

function isDeletionHeld({ phase, conditions = [] }: PropagationStatus): boolean {
  return phase === 'Held' && conditions.some(({ type, reason }) => type === 'Planned' && reason === deletionHeld);
}

/** What a pause comes before; all else is said though it is paused. */
const pausable: readonly PropagationPhase[] = ['Rolling', 'Degraded', 'Settled'];

/** Somebody paused it, or it is in a breach that nobody has gone on from. */
function isPaused(propagation: Propagation): boolean {
  const { metadata, status } = propagation;
  if (metadata.annotations[marks.paused] !== undefined) return true;
  if (status.paused !== true) return false;
  const breachedAtMs = breachedAtOf(status.conditions, metadata.generation);
  return breachedAtMs !== undefined && breachedAtMs > (resumedAtMsOf(propagation) ?? Number.NEGATIVE_INFINITY);
}
