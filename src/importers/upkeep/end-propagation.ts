import { listAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { PropagationWrite } from '../../propagate/hub/propagation-store.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import { isOwnedByName } from '../multi-cluster-resource/resource-owners.ts';
import { currentPropagation, fetchCurrentPropagation, rememberPropagation } from './current-propagation.ts';
import { ownershipOf, ownersWithoutResource } from './ownership.ts';
import { hubRecheckMs, orphanFinalizer, recordAgainMs, recordPropagation } from './propagation-record.ts';
import { releaseFinalizers } from './release-finalizers.ts';
import { retryUpkeepLater, type UpkeepPass, type UpkeepResult } from './upkeep-pass.ts';
import { writeResourceStatus } from './write-resource-status.ts';

/** Deletes the Propagation of a resource that does not exist. A Propagation that no such resource owns is not changed. */
export async function removeLeftPropagation(pass: UpkeepPass): Promise<UpkeepResult> {
  const { resources, state, term } = pass;
  const found = currentPropagation(pass);
  if (found === 'unread') return { result: 'kept' };
  if (found === 'absent' || !isOwnedByName(found) || found.metadata.deletionTimestamp !== undefined) return { result: 'gone' };
  // The mirror may be behind. Only the hub can prove that the resource is gone, and not just its definition.
  const live = await resources.fetch(state.name, term.signal);
  if (live.result === 'failed') return { result: 'kept', againMs: retryUpkeepLater(pass, live.fault) };
  if (live.result !== 'absent') return { result: 'kept', againMs: hubRecheckMs };
  return { result: 'kept', againMs: await deleteOwned(pass) };
}

/**
 * Runs one pass over a resource that is being deleted: deletes its Propagation, and waits until the Propagation and so the last copy is
 * gone. Then removes the finalizers of the operator that kept the resource before Muster.
 *
 * First records on the hub that the resource had a Propagation, or was deleted with `--cascade=orphan`. With this record, no later leader
 * deletes copies that are kept on purpose. An orphaned Propagation is not deleted, but loses its owner.
 */
export async function finishResourceDeletion(pass: UpkeepPass, resource: KubernetesObject): Promise<UpkeepResult> {
  const found = currentPropagation(pass);
  if (found === 'unread') return { result: 'kept' };
  const keepsCopies = resource.metadata.finalizers?.includes(orphanFinalizer) === true;
  if (keepsCopies) pass.state.keepsCopiesOf = resource.metadata.uid;
  const keepsCopiesOnPurpose = pass.state.keepsCopiesOf === resource.metadata.uid;
  const isOwned = found !== 'absent' && isOwnedByName(found);
  const orphanMs = keepsCopiesOnPurpose && isOwned ? await orphanPropagation(pass) : undefined;
  if (orphanMs !== undefined) return { result: 'kept', againMs: orphanMs };
  if (keepsCopiesOnPurpose || (found !== 'absent' && ownershipOf(found, resource, pass.ports.hub.cluster) !== 'foreign')) {
    const unrecorded = await recordPropagation(pass, resource, 'decided');
    if (unrecorded !== undefined) return { result: 'kept', againMs: recordAgainMs(pass, unrecorded) };
  }
  // No delay is needed. The mirror reports when Kubernetes has removed the finalizer, and when the Propagation has lost its owner.
  if (keepsCopies || (keepsCopiesOnPurpose && isOwned)) return { result: 'kept' };
  if (!isOwned) return { result: 'kept', againMs: await releaseFinalizers(pass, resource) };
  const deletion = found.metadata.deletionTimestamp === undefined ? await deleteOwned(pass) : undefined;
  const now = currentPropagation(pass);
  const propagation = typeof now === 'string' ? found : now;
  const delays = [deletion, await writeResourceStatus(pass, resource, { propagation, notes: [] })].filter((ms) => ms !== undefined);
  return { result: 'kept', againMs: delays.length === 0 ? undefined : Math.min(...delays) };
}

/** Deletes the Propagation if the hub still says that the resource owns it. Returns a delay if another attempt is needed. */
function deleteOwned(pass: UpkeepPass): Promise<number | undefined> {
  const { propagations } = pass.ports;
  return writeOwned(pass, (live) => propagations.delete(live, pass.term.signal));
}

/**
 * Removes the resource from the owners of its Propagation. Kubernetes does the same for `--cascade=orphan`. But its garbage collector does not
 * know kinds that are younger than about 30 s, and then the Propagation would go with the resource. Returns a delay if another attempt is needed.
 */
function orphanPropagation(pass: UpkeepPass): Promise<number | undefined> {
  return writeOwned(pass, (live) => {
    const document = { ...live.document, template: listAt(live.document, 'template') };
    return pass.ports.propagations.update(live, { document, owners: ownersWithoutResource(live.metadata) }, pass.term.signal);
  });
}

/** Writes the Propagation if the hub still says that the resource owns it. Returns a delay if another attempt is needed. */
async function writeOwned(pass: UpkeepPass, write: (live: Propagation) => Promise<PropagationWrite>): Promise<number | undefined> {
  const { state, term } = pass;
  const live = await fetchCurrentPropagation(pass);
  if (live === 'absent') return undefined;
  if ('fault' in live) return retryUpkeepLater(pass, live.fault);
  if (!isOwnedByName(live) || live.metadata.deletionTimestamp !== undefined || !term.isLeading()) return undefined;
  const written = await write(live);
  switch (written.result) {
    case 'written':
      rememberPropagation(pass, written.propagation);
      return undefined;
    case 'absent':
      state.latest = undefined;
      return undefined;
    case 'conflict':
      return hubRecheckMs;
    case 'failed':
      return retryUpkeepLater(pass, written.fault);
    default:
      return written satisfies never;
  }
}
