import type { TypedAnswer, TypedCall } from '../../cluster/typed-api.ts';
import type { Fault } from '../../core/faults.ts';
import { groupOfApiVersion, keyOfKind } from '../../core/kinds.ts';
import type { OwnerReference } from '../../core/objects.ts';
import { callHub, type Hub } from '../hub/hub.ts';
import type { ClusterShare } from '../model/inventory.ts';
import type { RenderedPlan } from '../model/plan.ts';
import { type HeldPrune, marks, musterGroup, type Propagation } from '../model/propagation.ts';
import { deletionHeld, isDeletionHeld } from '../status/facts.ts';
import { heldPruneOf, isConfirmed, openPrune } from './open-prune.ts';
import type { Pass } from './state/ports.ts';

/** Why a user must decide before the copies of a deleted Propagation are deleted. */
export interface DeletionHold {
  readonly message: string;
  readonly prune: HeldPrune;
}

/**
 * Returns why no copy of the deleted Propagation may be deleted now. Undefined if the copies may be deleted. A fault if the hub does not
 * answer.
 *
 * A user who deletes the Namespace of a Propagation, the definition of its kind, or the definition of its owner may not know that this
 * deletes copies in all clusters. So the user has to confirm the deletion of the copies like a prune, or keep the copies with `Orphan`. A
 * hold stays until then, even if the definition is installed again.
 */
export async function deletionHoldOf(
  { ports, term }: Pick<Pass, 'ports' | 'term'>,
  propagation: Propagation,
  { leaving, shares }: { readonly leaving: RenderedPlan['leaving']; readonly shares: readonly ClusterShare[] },
): Promise<DeletionHold | { readonly fault: Fault } | undefined> {
  const { status, metadata } = propagation;
  // `() => true` counts copies in clusters outside the fleet too: they are deleted when their cluster joins again.
  const open = openPrune({ clusters: [], leaving }, new Map(shares.map((share) => [share.cluster, share])), () => true);
  if (open.objects === 0 || isConfirmed(open, status.prune, metadata.annotations[marks.confirmPrune])) return undefined;
  const prune = heldPruneOf(open, status.prune, ports.clock.now());
  const ending = await hubObjectBeingDeleted(ports.hub, metadata, term.signal);
  if (ending !== undefined) return 'fault' in ending ? ending : { message: messageOfHold(ending.reason, open.objects, metadata), prune };
  const before = status.conditions?.find(({ reason }) => reason === deletionHeld);
  return isDeletionHeld(status) && before !== undefined ? { message: before.message, prune } : undefined;
}

function messageOfHold(reason: string, copies: number, { namespace, name }: Propagation['metadata']): string {
  return (
    `${copies} copies are kept until a user decides. The reason, as found when the Propagation was deleted: ${reason}. Keep them: ` +
    `kubectl patch propagation ${name} -n ${namespace} --type merge -p '{"spec":{"deletion":{"policy":"Orphan"}}}'. Delete them: ` +
    `muster rollout resume ${name} -n ${namespace} --confirm-prune`
  );
}

/**
 * Why the Propagation was deleted together with another object, for people. `fault`: the hub did not answer. Undefined: no such object was
 * found.
 */
type EndingObject = { readonly reason: string } | { readonly fault: Fault } | undefined;

/**
 * Finds out by live reads whether the Namespace of the Propagation, the definition of its kind, or the definition of an owner is being
 * deleted: the Propagation is then deleted with it. Returns the first such object. Undefined if there is none, or if the gateway may not see
 * it. A fault if the hub does not answer.
 */
export async function hubObjectBeingDeleted(
  hub: Hub,
  { namespace, owners }: Pick<Propagation['metadata'], 'namespace' | 'owners'>,
  signal: AbortSignal,
): Promise<EndingObject> {
  const space = await callHub(hub, ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name: namespace }), signal);
  const own = endingOf(`Namespace ${namespace}`, space) ?? (await endingDefinition(hub, `propagations.${musterGroup}`, signal));
  if (own !== undefined) return own;
  for (const owner of owners) {
    const ending = await endingOwnerDefinition(hub, owner, signal);
    if (ending !== undefined) return ending;
  }
  return undefined;
}

async function endingDefinition(hub: Hub, name: string, signal: AbortSignal): Promise<EndingObject> {
  return endingOf(`CustomResourceDefinition ${name}`, await readDefinition(hub, name, signal));
}

/**
 * Returns the reason if the definition of the owner's kind is being deleted or does not exist any more: the owner is deleted with it. Else
 * undefined. A fault if the hub does not answer.
 */
async function endingOwnerDefinition(hub: Hub, { apiVersion = '', kind = '' }: OwnerReference, signal: AbortSignal): Promise<EndingObject> {
  const group = groupOfApiVersion(apiVersion);
  // Kinds that come with Kubernetes have no definition.
  if (!group.includes('.') || group.endsWith('.k8s.io')) return undefined;
  const served = hub.members.objects.served(hub.cluster, { group, kind });
  if (served === undefined) return undefined;
  if (served === 'absent') return { reason: `the hub does not serve ${keyOfKind({ group, kind })} any more` };
  const name = `${served.resource}.${group}`;
  const found = await readDefinition(hub, name, signal);
  if (found.result === 'failed' && found.fault.code === 'NOT_FOUND')
    return { reason: `CustomResourceDefinition ${name} does not exist on the hub any more` };
  return endingOf(`CustomResourceDefinition ${name}`, found);
}

type MarkedObject = TypedAnswer<{ readonly metadata?: { readonly deletionTimestamp?: Date } }>;

function readDefinition(hub: Hub, name: string, signal: AbortSignal): Promise<MarkedObject> {
  const read: TypedCall<{ metadata?: { deletionTimestamp?: Date } }> = ({ ApiextensionsV1Api }, transport) =>
    new ApiextensionsV1Api(transport).readCustomResourceDefinition({ name });
  return callHub(hub, read, signal);
}

function endingOf(name: string, found: MarkedObject): EndingObject {
  if (found.result === 'answered')
    return found.value.metadata?.deletionTimestamp === undefined ? undefined : { reason: `${name} is being deleted on the hub` };
  return found.fault.code === 'FORBIDDEN' || found.fault.code === 'NOT_FOUND' ? undefined : { fault: found.fault };
}
