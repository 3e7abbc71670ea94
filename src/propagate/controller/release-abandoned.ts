import type { ClusterName } from '../../core/names.ts';
import { abandonedOf, isAbandoned, printAbandoned } from '../hub/abandoned.ts';
import type { ClusterShare } from '../model/inventory.ts';
import { marks, type Propagation } from '../model/propagation.ts';
import { loadShares } from './load-shares.ts';
import { type NextPass, retryHubLater } from './retry-hub-later.ts';
import type { Pass } from './state/ports.ts';
import { clusterStateOf, forgetFailures, isBusy } from './state/propagation-state.ts';

/**
 * Deletes the shares of clusters that a user abandoned and that have left the fleet (`muster leave --abandon`). The copies stay. Runs before the plan,
 * because a plan that is stale or refused must not keep an abandoned cluster. A cluster that is still in the fleet is left to the plan, which may want
 * it again (`taskForLostCluster`).
 *
 * Then removes the clusters without an abandoned share from the annotation. Returns the newest Propagation, or the delay until the next pass if the hub
 * did not answer.
 */
export async function releaseAbandoned(pass: Pass, propagation: Propagation): Promise<Propagation | NextPass> {
  const { state, ports, term } = pass;
  if (abandonedOf(propagation).length === 0) return propagation;
  // Copies that are being written now are not in the inventory yet, so it must not be read. A pass follows the job.
  if (state.shares === undefined && isBusy(state)) return propagation;
  if (!(await loadShares(pass, propagation))) return retryHubLater(pass);
  for (const share of abandonedShares(pass, propagation)) {
    if (!term.isLeading()) return propagation;
    const removed = await ports.stores.shares.remove(share, term.signal);
    state.isPlanOld = true;
    if (removed.result === 'failed') return retryHubLater(pass);
    if (removed.result === 'conflict') {
      // Another process has saved the inventory since it was read.
      state.shares = undefined;
      return retryHubLater(pass);
    }
    state.shares?.delete(share.cluster);
    forgetFailures(state, share.cluster);
  }
  return tidyAnnotation(pass, propagation);
}

function abandonedShares({ state, ports }: Pass, propagation: Propagation): readonly ClusterShare[] {
  const isFree = (cluster: ClusterName) => ports.hub.members.get(cluster) === undefined && !clusterStateOf(state, cluster).isBusy;
  return [...(state.shares?.values() ?? [])].filter((share) => isAbandoned(propagation, share) && isFree(share.cluster));
}

/** The write is guarded by the version that was read. If another client changed the Propagation meanwhile, the next pass tries again. */
async function tidyAnnotation({ state, ports, term }: Pass, propagation: Propagation): Promise<Propagation> {
  const shares = [...(state.shares?.values() ?? [])];
  const abandoned = abandonedOf(propagation);
  const open = abandoned.filter(({ cluster, share }) => shares.some((one) => one.cluster === cluster && one.uid === share));
  if (open.length === abandoned.length || !term.isLeading()) return propagation;
  const written = await ports.stores.propagations.annotateUnchanged(propagation, { [marks.abandon]: printAbandoned(open) }, term.signal);
  if (written.result !== 'written') return propagation;
  state.latest = written.propagation;
  return written.propagation;
}
