import { listAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { PropagationPhase } from '../../propagate/model/propagation.ts';
import { currentPropagation, fetchCurrentPropagation, rememberPropagation } from './current-propagation.ts';
import { deleteOperatorCopies } from './operator-copies.ts';
import { isOwnedByName } from './ownership.ts';
import type { UpkeepOutcome } from './resource-status.ts';
import { retryUpkeepLater, type UpkeepPass, type UpkeepResult } from './upkeep-pass.ts';
import { writeResourceStatus } from './write-resource-status.ts';

/** Delay of the next pass if the mirrors of the hub disagree with the hub. */
const recheckMs = 1_000;
/** Delay of the next pass if copies of the operator are left. */
const copiesMs = 3_000;

/**
 * The finalizer of `kubectl delete --cascade=orphan`. Kubernetes removes the owner from the Propagation and then the finalizer, so that the
 * Propagation stays.
 */
const orphanFinalizer = 'orphan';

/** Deletes the Propagation of a resource that does not exist. A Propagation that no such resource owns is not changed. */
export async function removeLeftPropagation(pass: UpkeepPass): Promise<UpkeepResult> {
  const { resources, state, term } = pass;
  const found = currentPropagation(pass);
  if (found === 'unread') return { result: 'kept' };
  if (found === 'absent' || !isOwnedByName(found) || found.metadata.deletionTimestamp !== undefined) return { result: 'gone' };
  // The mirror may be behind. Only the hub can prove that the resource is gone, and not just its definition.
  const live = await resources.fetch(state.place, term.signal);
  if (live.result === 'failed') return { result: 'kept', againMs: retryUpkeepLater(pass, live.fault) };
  if (live.result !== 'absent') return { result: 'kept', againMs: recheckMs };
  return { result: 'kept', againMs: await deleteOwned(pass) };
}

/**
 * Runs one pass over a resource that is being deleted: deletes its Propagation, and waits until the Propagation and so the last copy is
 * gone. A resource that never had a Propagation still has the copies that the operator placed: deletes them. Then removes the finalizers of
 * the operator that kept the resource before Muster. Such a finalizer is the name of a cluster.
 */
export async function finishResourceDeletion(pass: UpkeepPass, resource: KubernetesObject): Promise<UpkeepResult> {
  if (finalizersOf(resource).includes(orphanFinalizer)) return { result: 'kept' };
  const found = currentPropagation(pass);
  if (found === 'unread') return { result: 'kept' };
  if (found === 'absent' || !isOwnedByName(found)) return { result: 'kept', againMs: await releaseFinalizers(pass, resource) };
  pass.state.hadPropagation = true;
  const deletion = found.metadata.deletionTimestamp === undefined ? await deleteOwned(pass) : undefined;
  const now = currentPropagation(pass);
  const propagation = typeof now === 'string' ? found : now;
  const delays = [deletion, await writeResourceStatus(pass, resource, { propagation, notes: [] })].filter((ms) => ms !== undefined);
  return { result: 'kept', againMs: delays.length === 0 ? undefined : Math.min(...delays) };
}

/** Deletes the Propagation if the hub still says that the resource owns it. Returns a delay if another attempt is needed. */
async function deleteOwned(pass: UpkeepPass): Promise<number | undefined> {
  const { ports, state, term } = pass;
  const live = await fetchCurrentPropagation(pass);
  if (live === 'absent') return undefined;
  if ('fault' in live) return retryUpkeepLater(pass, live.fault);
  if (!isOwnedByName(live) || live.metadata.deletionTimestamp !== undefined || !term.isLeading()) return undefined;
  const deleted = await ports.propagations.delete(live, term.signal);
  switch (deleted.result) {
    case 'written':
      rememberPropagation(pass, deleted.propagation);
      return undefined;
    case 'absent':
      state.latest = undefined;
      return undefined;
    case 'conflict':
      return recheckMs;
    case 'failed':
      return retryUpkeepLater(pass, deleted.fault);
    default:
      return deleted satisfies never;
  }
}

/** The phases of a status that prove that the resource had a Propagation when it was being deleted. */
const phasesOfPropagation: readonly (string | undefined)[] = ['Deleting', 'Held'] satisfies PropagationPhase[];

/**
 * Removes the operator's finalizers, if the hub confirms that the resource owns no Propagation any more, and no copy of the operator is
 * left. While one may be left, the status says where.
 */
async function releaseFinalizers(pass: UpkeepPass, resource: KubernetesObject): Promise<number | undefined> {
  const { resources, term } = pass;
  const clusters = clustersOf(pass, resource);
  const finalizers = finalizersOf(resource);
  const others = finalizers.filter((finalizer) => !clusters.has(finalizer));
  if (others.length === finalizers.length) return undefined;
  const live = await fetchCurrentPropagation(pass);
  if (live !== 'absent' && 'fault' in live) return retryUpkeepLater(pass, live.fault);
  if (live !== 'absent' && isOwnedByName(live)) return recheckMs;
  if (!term.isLeading()) return undefined;
  // The Propagation decided about the copies, so those that exist now are kept on purpose.
  if (pass.state.hadPropagation !== true && !phasesOfPropagation.includes(textAt(resource, 'status', 'phase'))) {
    const left = await deleteOperatorCopies(pass, resource, [...new Set(finalizers.filter((finalizer) => clusters.has(finalizer)))]);
    if (left.length > 0) return Math.min(copiesMs, (await writeResourceStatus(pass, resource, copiesLeft(left))) ?? copiesMs);
  }
  if (!term.isLeading()) return undefined;
  const written = await resources.setFinalizers(resource, others, term.signal);
  if (written.result === 'failed') return retryUpkeepLater(pass, written.fault);
  return written.result === 'conflict' ? recheckMs : undefined;
}

function copiesLeft(left: readonly string[]): UpkeepOutcome {
  const message = `the finalizers of the operator stay until the last copy is gone: ${left.join('; ')}. To keep copies, remove the finalizers`;
  return { problem: message, notes: [] };
}

/** Returns the names that the operator used for finalizers: the clusters of the fleet and those that the resource names. */
function clustersOf({ fleet }: UpkeepPass, resource: KubernetesObject): ReadonlySet<string> {
  const spec = objectAt(resource, 'spec');
  const named = ['placement', 'customize'].flatMap((member) => listAt(spec, member, 'clusters').map((cluster) => textAt(cluster, 'name')));
  return new Set([...fleet, ...named.filter((name) => name !== undefined)]);
}

function finalizersOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata.finalizers ?? [];
}
