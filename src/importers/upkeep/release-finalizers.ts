import { listAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { isOwnedByName } from '../multi-cluster-resource/resource-owners.ts';
import { fetchCurrentPropagation } from './current-propagation.ts';
import { operatorCopiesLeft } from './operator-copies.ts';
import { ownershipOf } from './ownership.ts';
import { hubRecheckMs, ownFinalizersOf, propagationRecordOf } from './propagation-record.ts';
import type { UpkeepOutcome } from './resource-status.ts';
import { retryUpkeepLater, type UpkeepPass } from './upkeep-pass.ts';
import { writeResourceStatus } from './write-resource-status.ts';

/** Delay of the next pass if copies of the operator are left. */
const copiesMs = 3_000;

/**
 * Removes the finalizers of the operator from a resource that is being deleted, if the hub confirms that the resource owns no Propagation
 * any more. Such a finalizer is the name of a cluster. While a finalizer stays, the status says why. Returns the delay until the next pass
 * in milliseconds. Undefined if only a change triggers it.
 *
 * If the resource had a Propagation, copies that exist now are kept on purpose. If it never had one, the copies that the operator placed
 * are deleted first.
 */
export async function releaseFinalizers(pass: UpkeepPass, mirrored: KubernetesObject): Promise<number | undefined> {
  const { ports, resources, state, term } = pass;
  if (ownFinalizersOf(mirrored).length === 0) return undefined;
  const propagation = await fetchCurrentPropagation(pass);
  if (propagation !== 'absent' && 'fault' in propagation) return retryUpkeepLater(pass, propagation.fault);
  if (propagation !== 'absent' && isOwnedByName(propagation)) return hubRecheckMs;
  // The resource is fetched, because the mirror may lack the annotation that `propagationRecordOf` reads.
  const live = await resources.fetch(state.name, term.signal);
  if (live.result === 'failed') return retryUpkeepLater(pass, live.fault);
  if (live.result !== 'written' || live.object.metadata.uid !== mirrored.metadata.uid) return hubRecheckMs;
  const resource = live.object;
  const clusters = clustersOf(pass, resource);
  const known = ownFinalizersOf(resource).filter((finalizer) => clusters.has(finalizer));
  const unknown = ownFinalizersOf(resource).filter((finalizer) => !clusters.has(finalizer));
  if (known.length === 0) return unknown.length === 0 ? undefined : writeResourceStatus(pass, resource, unknownFinalizers(unknown));
  const isOfResource = propagation !== 'absent' && ownershipOf(propagation, resource, ports.hub.cluster) !== 'foreign';
  const record = isOfResource ? 'decided' : propagationRecordOf(resource);
  if (!term.isLeading()) return undefined;
  if (record !== 'decided') {
    const left = await operatorCopiesLeft(pass, resource, { clusters: [...new Set(known)], mayDelete: record === 'none' });
    if (left.length > 0) return Math.min(copiesMs, (await writeResourceStatus(pass, resource, copiesLeft(left))) ?? copiesMs);
  }
  if (!term.isLeading()) return undefined;
  const others = (resource.metadata.finalizers ?? []).filter((finalizer) => !clusters.has(finalizer));
  const written = await resources.setFinalizers(resource, others, term.signal);
  if (written.result === 'failed') return retryUpkeepLater(pass, written.fault);
  return written.result === 'conflict' ? hubRecheckMs : undefined;
}

function copiesLeft(left: readonly string[]): UpkeepOutcome {
  const message = `the finalizers of the operator stay until the last copy is gone: ${left.join('; ')}. To keep copies, remove the finalizers`;
  return { problem: message, notes: [] };
}

function unknownFinalizers(finalizers: readonly string[]): UpkeepOutcome {
  const names = finalizers.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const message = `no cluster of the fleet or of the resource has the name of these finalizers, so Muster leaves them: ${names}. If the operator set one, remove it`;
  return { phase: 'Deleting', problem: message, notes: [] };
}

/** Returns the names that the operator used for finalizers: the clusters of the fleet and those that the resource names. */
function clustersOf({ fleet }: UpkeepPass, resource: KubernetesObject): ReadonlySet<string> {
  const spec = objectAt(resource, 'spec');
  const named = ['placement', 'customize'].flatMap((member) => listAt(spec, member, 'clusters').map((cluster) => textAt(cluster, 'name')));
  return new Set([...fleet, ...named.filter((name) => name !== undefined)]);
}
