import type { Fault } from '../../core/faults.ts';
import { textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { retryUpkeepLater, type UpkeepPass } from './upkeep-pass.ts';

/** Delay of the next pass if the mirrors of the hub disagree with the hub. */
export const hubRecheckMs = 1_000;

/**
 * The annotation of a resource that keeps the record. Its value begins with the uid of the resource, so a resource created from the same
 * manifest has no record.
 */
const annotation = 'muster.dev/propagation-record';

/**
 * The record on the hub about the Propagation of a resource.
 *
 * - `none`: the resource never had a Propagation. All copies are those that the operator placed.
 * - `intended`: a Propagation was to be created, and it is unknown whether it was.
 * - `decided`: the resource had a Propagation, which decides about the copies, or it was deleted with `--cascade=orphan`. Copies that exist
 *   without the Propagation are kept on purpose.
 */
type PropagationRecord = 'none' | 'intended' | 'decided';

/** Returns the record of a resource, as its annotation has it. */
export function propagationRecordOf({ metadata }: KubernetesObject): PropagationRecord {
  const [uid, state] = textAt(metadata.annotations, annotation)?.split('/') ?? [];
  if (uid !== metadata.uid) return 'none';
  return state === 'decided' || state === 'intended' ? state : 'none';
}

/** The reason why a record was not written. Without a fault, another client changed the resource, or another process leads. */
interface RecordFailure {
  readonly fault?: Fault;
}

/**
 * Writes the record of a resource to the hub, guarded by the version of the resource. Returns undefined if the hub has this record or a
 * later one.
 *
 * Does nothing for a resource without finalizers: Kubernetes deletes it at once, so Muster never decides about its copies.
 */
export async function recordPropagation(
  { resources, term }: UpkeepPass,
  resource: KubernetesObject,
  state: 'intended' | 'decided',
): Promise<RecordFailure | undefined> {
  const before = propagationRecordOf(resource);
  if (ownFinalizersOf(resource).length === 0 || before === state || before === 'decided') return undefined;
  if (!term.isLeading()) return {};
  const written = await resources.annotate(resource, { [annotation]: `${resource.metadata.uid}/${state}` }, term.signal);
  if (written.result === 'written') return undefined;
  return written.result === 'failed' ? { fault: written.fault } : {};
}

/** Returns the delay until the record is written again, in milliseconds. Counts and logs a fault. */
export function recordAgainMs(pass: UpkeepPass, { fault }: RecordFailure): number {
  return fault === undefined ? hubRecheckMs : retryUpkeepLater(pass, fault);
}

/**
 * The finalizer of `kubectl delete --cascade=orphan`. Kubernetes removes the owner from the Propagation and then the finalizer, so that the
 * Propagation stays.
 */
export const orphanFinalizer = 'orphan';

/** Returns the finalizers of a resource without those that Kubernetes itself sets and removes in a deletion. */
export function ownFinalizersOf({ metadata }: KubernetesObject): readonly string[] {
  return (metadata.finalizers ?? []).filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== 'foregroundDeletion');
}
