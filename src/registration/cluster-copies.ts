import type { Clock } from '../core/clock.ts';
import { labelsAt, listAt, textAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { compareText } from '../core/text.ts';
import { abandonedOf, printAbandoned } from '../propagate/hub/abandoned.ts';
import { marks } from '../propagate/model/propagation.ts';
import { registrationKinds } from './registration-kinds.ts';
import { type ContextCluster, problemOf, type RegistrationSteps } from './registration-steps.ts';

/** The inventory of the copies of one Propagation in one cluster: a ClusterShare, which may be invalid. */
export interface CopyInventory {
  readonly object: KubernetesObject;
  readonly namespace: string;
  /** The name of the Propagation. Undefined if the ClusterShare does not name it. */
  readonly propagation: string | undefined;
}

/** Returns the inventories of a cluster that list copies or have no readable list, in the order of their Propagations. */
export async function copiesIn(steps: RegistrationSteps, hub: ContextCluster, cluster: string): Promise<readonly CopyInventory[]> {
  const shares = await steps.list(hub, registrationKinds.clusterShare);
  return shares
    .filter((share) => textAt(share, 'cluster') === cluster && !(Array.isArray(share.objects) && share.objects.length === 0))
    .map((object) => {
      const propagation = listAt(object, 'metadata', 'ownerReferences').find((owner) => textAt(owner, 'kind') === 'Propagation');
      return { object, namespace: object.metadata.namespace ?? '', propagation: textAt(propagation, 'name') };
    })
    .toSorted((a, b) => compareText(nameOfCopies(a), nameOfCopies(b)));
}

/** Returns `namespace/name` of the Propagation, for messages. */
export function nameOfCopies({ namespace, propagation, object }: CopyInventory): string {
  return `${namespace}/${propagation ?? object.metadata.name}`;
}

/**
 * Returns the hint of how many objects stay in the cluster. Entries without a uid do not count, because Muster never wrote these copies. Empty
 * if there are none.
 */
export function leftBehindNotes(cluster: string, copies: readonly CopyInventory[]): readonly string[] {
  const count = copies.flatMap(({ object }) => listAt(object, 'objects')).filter((entry) => textAt(entry, 'uid') !== undefined).length;
  if (count === 0) return [];
  return [`${count} ${count === 1 ? 'object was' : 'objects were'} left behind in cluster ${cluster}`];
}

export interface AbandonOptions {
  readonly steps: RegistrationSteps;
  readonly hub: ContextCluster;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True: a gateway leads on the hub, so it deletes the inventories itself and `abandonCopies` waits for it. */
  readonly hasLeader: boolean;
}

/** Milliseconds that the leader gets to delete inventories. If there is no leader or the time has passed, this command deletes them. */
const leaderMs = 15_000;
const leaderPollMs = 500;

/**
 * Maximum number of attempts to record an abandoned cluster in one Propagation. The controller and other commands may write the Propagation at the
 * same time.
 */
const maxAttempts = 5;

/**
 * Abandons the copies in a cluster that is no longer registered: deletes their inventories, and the copies stay. First each Propagation records that
 * the cluster was abandoned. So a gateway that is about to write does not take the copies for new ones.
 */
export async function abandonCopies(
  cluster: string,
  copies: readonly CopyInventory[],
  { steps, hub, clock, signal, hasLeader }: AbandonOptions,
): Promise<void> {
  if (!steps.isDry) for (const one of copies) await recordAbandoned(cluster, one, { steps, hub, signal });
  const untilMs = clock.monotonic() + leaderMs;
  const uids = new Set(copies.map(({ object }) => object.metadata.uid));
  const remaining = async () => (await copiesIn(steps, hub, cluster)).filter(({ object }) => uids.has(object.metadata.uid));
  let left = await remaining();
  while (left.length > 0 && hasLeader && !steps.isDry && clock.monotonic() < untilMs && !signal.aborted) {
    await clock.sleep(leaderPollMs, signal);
    left = await remaining();
  }
  for (const { object } of copies)
    if (left.some((one) => one.object.metadata.uid === object.metadata.uid)) await deleteInventory(object, { steps, hub, signal });
    else steps.record(hub, { resource: registrationKinds.clusterShare, name: object.metadata.name }, 'deleted');
}

type AbandonContext = Pick<AbandonOptions, 'steps' | 'hub' | 'signal'>;

async function recordAbandoned(
  cluster: string,
  { namespace, propagation, object: { metadata } }: CopyInventory,
  { steps, hub, signal }: AbandonContext,
): Promise<void> {
  if (propagation === undefined) return;
  const address = { resource: registrationKinds.propagation, namespace, name: propagation };
  for (let left = maxAttempts; left > 0; left--) {
    const found = await steps.read(hub, address);
    if (found === undefined) return;
    const before = abandonedOf({ metadata: { annotations: labelsAt(found, 'metadata', 'annotations') } });
    const annotations = { [marks.abandon]: printAbandoned([...before, { cluster, share: metadata.uid ?? '' }]) };
    const { uid = '', resourceVersion = '' } = found.metadata;
    const patch = { metadata: { uid, resourceVersion, annotations } };
    const answer = await hub.client.patch({ ...address, type: 'merge', patch, run: 'real' }, signal);
    if (answer.result !== 'failed') return;
    if (answer.fault.code !== 'CONFLICT' || left === 1) throw problemOf(hub, `propagation/${propagation}`, answer.fault);
  }
}

/** Deletes an inventory, then removes its finalizer, so that Kubernetes removes the object. The controller deletes inventories in the same way. */
async function deleteInventory(share: KubernetesObject, { steps, hub, signal }: AbandonContext): Promise<void> {
  const { name, namespace, uid = '' } = share.metadata;
  await steps.remove(hub, registrationKinds.clusterShare, share);
  if (steps.isDry) return;
  const address = { resource: registrationKinds.clusterShare, name, ...(namespace === undefined ? {} : { namespace }) };
  const answer = await hub.client.patch({ ...address, type: 'merge', patch: { metadata: { uid, finalizers: null } }, run: 'real' }, signal);
  if (answer.result === 'failed') throw problemOf(hub, `clustershare/${name}`, answer.fault);
}
