import type { Fault } from '../../core/faults.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { ClusterObjects, Propagation, PropagationPhase } from '../propagation.ts';
import type { PropagationView } from '../propagations.ts';

/** The Propagation as it is shown, with what the mirror knows of its shares; `faults` are of the hub. */
export function viewOf({ shares }: HubStores, propagation: Propagation, faults: readonly Fault[]): PropagationView {
  const { metadata, status } = propagation;
  const objects = (status.clusters ?? []).flatMap(({ cluster }): readonly ClusterObjects[] => {
    const share = shares.read(metadata, cluster);
    return share === undefined ? [] : [{ cluster, entries: share.entries }];
  });
  return { propagation, phase: phaseOf(propagation), objects, faults };
}

/** Its status may be of an older generation, which says nothing of this one. */
export function phaseOf({ metadata, status }: Propagation): PropagationPhase {
  if (metadata.deletionTimestamp !== undefined) return 'Deleting';
  return status.phase === undefined || (status.observedGeneration ?? 0) < metadata.generation ? 'Planning' : status.phase;
}
