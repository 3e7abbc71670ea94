import { keyOfKind } from '../../core/kinds.ts';
import { loggableError } from '../../core/loggable-error.ts';
import { TimeSliceScheduler } from '../../core/scheduling/operation-scheduler.ts';
import { whenAborted } from '../../core/scheduling/until-aborted.ts';
import type { Term } from '../../propagate/controller/lease/lease.ts';
import { createWorkQueue } from '../../propagate/controller/state/work-queue.ts';
import { hubKinds } from '../../propagate/hub/hub.ts';
import type { MemberChange } from '../../store/member-objects.ts';
import { isOwnedByName } from '../multi-cluster-resource/resource-owners.ts';
import { reconcileResource } from './reconcile-resource.ts';
import { createResourceStore, nameOf, resourceKind } from './resource-store.ts';
import { keyOfResource, nameOfKey, newResourceState, type ResourceState, type UpkeepPorts } from './upkeep-pass.ts';

/** Maximum number of passes at a time. A pass sends a few requests to the hub, one after the other. */
const maxPasses = 8;

/**
 * Keeps one Propagation for each MultiClusterResource of the hub, for one term. The hub may serve the kind earlier or later, or never.
 *
 * Each resource gets a pass when the term begins. Further passes follow when the resource or its Propagation changes, and when clusters join
 * or leave. Resolves when the term has ended and no pass runs.
 */
export async function runUpkeep(ports: UpkeepPorts, term: Term): Promise<void> {
  const { hub, propagations, clock, log } = ports;
  const resources = createResourceStore(hub);
  const states = new Map<string, ResourceState>();
  const withoutStatus = { untilMs: Number.NEGATIVE_INFINITY };
  const fleet = new Set<string>(hub.members.all().map(({ name }) => name));
  const slices = new TimeSliceScheduler(clock).createSlices(() => term.signal.throwIfAborted());

  async function work(key: string): Promise<number | undefined> {
    // A pass without a request never waits, and there may be thousands of them when a term begins.
    await slices.pause();
    const state = states.get(key) ?? newResourceState(nameOfKey(key));
    states.set(key, state);
    const kept = await reconcileResource({ ports, resources, term, state, fleet, withoutStatus });
    if (kept.result === 'kept') return kept.againMs;
    states.delete(key);
    return undefined;
  }

  const onBug = (key: string, error: unknown) => log.error({ resource: key, error: loggableError(error) }, 'bug: a pass threw an error');
  const queue = createWorkQueue({ work, onBug, maxRunning: maxPasses, clock }, term.signal);

  /** True if the cluster joined or left. Updates `fleet`. */
  function isJoinOrLeave(cluster: string): boolean {
    const isMember = hub.members.get(cluster) !== undefined;
    if (isMember === fleet.has(cluster)) return false;
    if (isMember) fleet.add(cluster);
    else fleet.delete(cluster);
    return true;
  }

  function enqueueAll(): void {
    for (const resource of resources.all() ?? []) queue.add(keyOfResource(nameOf(resource)));
    for (const propagation of propagations.all() ?? []) if (isOwnedByName(propagation)) queue.add(keyOfResource(propagation.metadata));
    for (const key of states.keys()) queue.add(key);
  }

  hub.members.objects.onChange((changes) => {
    for (const change of changes) {
      if (change.type === 'cluster' ? isJoinOrLeave(change.cluster) : change.type === 'mirror' && isOfUpkeep(change, ports)) enqueueAll();
      else if (change.type === 'object' && isOfUpkeep(change, ports)) queue.add(keyOfResource(change.objectName));
    }
  }, term.signal);
  resources.hold(term.signal);
  enqueueAll();
  await whenAborted(term.signal);
  await queue.idle();
}

/** True for a change of resources or Propagations of the hub. */
function isOfUpkeep(change: Exclude<MemberChange, { readonly type: 'cluster' }>, { hub }: UpkeepPorts): boolean {
  const key = keyOfKind(change.kind);
  return change.cluster === hub.cluster && (key === keyOfKind(resourceKind) || key === keyOfKind(hubKinds.propagation));
}
