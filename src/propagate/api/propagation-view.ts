import type { Fault } from '../../core/faults.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import { type ClusterObjects, marks, type Propagation, type PropagationPhase } from '../model/propagation.ts';
import type { PropagationView } from '../model/propagations.ts';
import { breachedAtOf, resumedAtMsOf } from '../rollout/resumption.ts';
import { copyFactsOf } from '../status/copy-facts.ts';
import { healthOfCopy } from '../status/copy-state.ts';
import { isDeletionHeld } from '../status/facts.ts';

/**
 * Returns a Propagation as GraphQL shows it. `objects` is computed from the mirrors when it is first read, and does not change after that.
 * `faults` are the faults of the hub.
 */
export function propagationViewOf(stores: HubStores, propagation: Propagation, faults: readonly Fault[]): PropagationView {
  let objects: readonly ClusterObjects[] | undefined;
  return {
    propagation,
    phase: shownPhaseOf(propagation),
    isPaused: isPaused(propagation),
    // Computed on demand, because there may be 500 clusters with 200 copies each.
    get objects() {
      objects ??= objectsOf(stores, propagation);
      return objects;
    },
    faults,
  };
}

/**
 * Returns the copies with their current health, from the mirrors. The health in the inventory may be old, because the hub is not written at
 * each change of health. If the status has the health `Unknown` for the cluster, its copies have it too.
 */
function objectsOf({ hub, shares }: HubStores, { metadata, status }: Propagation): readonly ClusterObjects[] {
  return (status.clusters ?? []).flatMap(({ cluster, health }): readonly ClusterObjects[] => {
    const share = shares.read(metadata, cluster);
    if (share === undefined) return [];
    const copies = copyFactsOf(hub.members.objects, share);
    return [{ cluster, entries: copies.map((copy) => ({ ...copy.entry, health: health === 'Unknown' ? health : healthOfCopy(copy) })) }];
  });
}

/**
 * Returns the phase to show. The status may be of an older generation, or from before a pause or a resumption, so metadata and annotations
 * count first.
 */
export function shownPhaseOf(propagation: Propagation): PropagationPhase {
  const { metadata, status } = propagation;
  if (metadata.deletionTimestamp !== undefined) return isDeletionHeld(status) ? 'Held' : 'Deleting';
  if (status.phase === undefined || (status.observedGeneration ?? 0) < metadata.generation) return 'Planning';
  const paused = isPaused(propagation);
  if (paused && pausable.includes(status.phase)) return 'Paused';
  return !paused && status.phase === 'Paused' ? 'Rolling' : status.phase;
}

/** During a pause, `Paused` is shown in place of these phases. All other phases are shown unchanged. */
const pausable: readonly PropagationPhase[] = ['Rolling', 'Degraded', 'Settled'];

/** True if a user paused the Propagation, or if a breach paused it and no user has resumed it since. */
function isPaused(propagation: Propagation): boolean {
  const { metadata, status } = propagation;
  if (metadata.annotations[marks.paused] !== undefined) return true;
  if (status.paused !== true) return false;
  const breachedAtMs = breachedAtOf(status.conditions, metadata.generation);
  return breachedAtMs !== undefined && breachedAtMs > (resumedAtMsOf(propagation) ?? Number.NEGATIVE_INFINITY);
}
