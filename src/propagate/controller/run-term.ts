import type { MemberCluster, Members } from '../../changes/members.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import { whenAborted } from '../../core/scheduling/until-aborted.ts';
import type { MemberChange } from '../../store/member-objects.ts';
import { hubKinds } from '../hub/hub.ts';
import type { RejectionReason } from '../model/placement.ts';
import { nodeKind } from '../plan/snapshot/cluster-locations.ts';
import { isUnblocked } from './events/blockers.ts';
import { createInterests, type Interests, textOfInterest } from './events/interests.ts';
import { createNodeWatch } from './events/node-watch.ts';
import { interestsOf } from './events/propagation-interests.ts';
import { createContactProbe } from './failover/contact-probe.ts';
import type { Term } from './lease/lease.ts';
import { reconcile } from './reconcile.ts';
import { createDriftWatch } from './state/drift-watch.ts';
import { createHubWrites } from './state/hub-writes.ts';
import type { ControllerPorts, Pass } from './state/ports.ts';
import { isBusy, keyOfPropagation, newPropagationState, type PropagationState, retrySoon } from './state/propagation-state.ts';
import { createWorkQueue, type WorkQueue } from './state/work-queue.ts';

/** Time for which changes of clusters are collected before a pass, because clusters often join, leave or change their labels together. */
const debounceMs = 2_000;

/**
 * Maximum number of passes at a time. A single pass may wait up to 10 s for mirrors that were never read, and for its turn among the writes to
 * the hub. With few passes, decisions would wait for the reports of other Propagations.
 */
const maxPasses = 200;

/** The state of one term. */
interface TermContext {
  readonly ports: ControllerPorts;
  readonly term: Term;
  readonly states: Map<string, PropagationState>;
  readonly queue: WorkQueue;
  /** The texts (`textOfInterest`) of the sources of each template, by the key of the Propagation. */
  readonly sources: Map<string, ReadonlySet<string>>;
  readonly interests: Interests;
}

/**
 * Keeps every Propagation of the hub in sync for one term. This is where a written Propagation arrives:
 *
 * 1. The mirror of the hub reports the change (`subscribeToChanges`).
 * 2. The key of the Propagation enters the queue.
 * 3. The queue calls `reconcile` for the key: one pass.
 *
 * Each Propagation gets a pass when the term begins. Further passes follow when its resource, its copies, its sources or the fleet change.
 * Resolves when the term has ended and all work that it started has ended.
 */
export async function runTerm(ports: ControllerPorts, term: Term): Promise<void> {
  const { members } = ports.hub;
  const states = new Map<string, PropagationState>();
  const sources = new Map<string, ReadonlySet<string>>();
  const interests = createInterests(members.objects, term.signal);
  const drift = createDriftWatch(ports, members.objects);
  const probe = createContactProbe({ members, clock: ports.clock }, term.signal);
  const hubWrites = createHubWrites(ports.clock);
  const ended = new Set<() => void>();

  async function work(key: string): Promise<number | undefined> {
    const state = states.get(key);
    if (state === undefined) return undefined;
    const again = () => {
      queue.add(key);
      for (const notify of ended) notify();
    };
    const passed = await reconcile({ ports, term, state, drift, probe, hubWrites, again } satisfies Pass);
    if (passed.result === 'gone') {
      forget(key, state);
      return undefined;
    }
    const wanted = interestsOf(state, members);
    sources.set(key, new Set(wanted.sources.map(textOfInterest)));
    interests.set(key, [...wanted.copies, ...wanted.blockers, ...wanted.sources, ...wanted.nodes]);
    return passed.againMs;
  }

  function forget(key: string, state: PropagationState): void {
    state.work.abort();
    states.delete(key);
    sources.delete(key);
    interests.set(key, []);
  }

  const queue = createWorkQueue(
    {
      work,
      onBug: (key, error) => ports.log.error({ propagation: key, error: loggableError(error) }, 'bug: a pass threw an error'),
      maxRunning: maxPasses,
      clock: ports.clock,
    },
    term.signal,
  );
  const context: TermContext = { ports, term, states, queue, sources, interests };
  subscribeToChanges(context);
  enqueueAll(context);
  await whenAborted(term.signal);
  await queue.idle();
  while ([...states.values()].some(isBusy)) await endOfWork(ended);
}

/**
 * Queues the Propagations that a change of a mirror or of the fleet concerns. Ends with the term. `createPropagationStore` holds the mirror
 * of Propagations, so a new Propagation on the hub arrives here too.
 */
function subscribeToChanges(context: TermContext): void {
  const { ports, term, interests } = context;
  const { members } = ports.hub;
  const facts = createMemberFacts(members);
  const onMoved = (cluster: ClusterName) => onNodesChange(context, cluster);
  const nodeWatch = createNodeWatch({ members, clock: ports.clock, debounceMs, onMoved }, term.signal);
  members.objects.onChange((changes) => {
    for (const change of changes) {
      if (change.type !== 'cluster' && keyOfKind(change.kind) === keyOfKind(nodeKind)) nodeWatch.nodesChanged(change.cluster);
      if (isOfPropagations(change, ports)) onPropagationChange(context, change);
      else
        onMemberChange(context, {
          change,
          keys: interests.keysOf(change),
          haveFactsChanged: change.type === 'cluster' && facts.isChanged(change.cluster),
        });
    }
  }, term.signal);
}

/** Resolves when the next job in some cluster has ended. */
function endOfWork(ended: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const notify = () => {
      ended.delete(notify);
      resolve();
    };
    ended.add(notify);
  });
}

/**
 * Queues all Propagations of the mirror, and those that have a state in this term. The mirror may be unread now. It reports a change once
 * it has been read.
 */
function enqueueAll(context: TermContext): void {
  for (const { metadata } of context.ports.stores.propagations.all() ?? []) addState(context, metadata);
  for (const key of context.states.keys()) context.queue.add(key);
}

function addState({ states, queue }: TermContext, propagationName: PropagationState['name']): void {
  const { namespace, name } = propagationName;
  const key = keyOfPropagation(propagationName);
  if (!states.has(key)) states.set(key, newPropagationState({ namespace, name }));
  queue.add(key);
}

function isOfPropagations(change: MemberChange, { hub }: ControllerPorts): boolean {
  return change.type !== 'cluster' && change.cluster === hub.cluster && keyOfKind(change.kind) === keyOfKind(hubKinds.propagation);
}

function onPropagationChange(context: TermContext, change: MemberChange): void {
  if (change.type === 'object') addState(context, change.objectName);
  else enqueueAll(context);
}

/**
 * Marks plans as old that depend on the location of the cluster (provider, region or zones), and queues their Propagations. Called when
 * that location has changed or has become known.
 */
function onNodesChange({ states, queue, interests }: TermContext, cluster: ClusterName): void {
  for (const key of interests.keysOf({ type: 'mirror', cluster, kind: nodeKind })) {
    const state = states.get(key);
    if (state !== undefined) state.isPlanOld = true;
    queue.add(key);
  }
}

interface RoutedChange {
  readonly change: MemberChange;
  /** The Propagations with an interest in the changed object. */
  readonly keys: ReadonlySet<string>;
  /** True if facts of the cluster that placement uses have changed. */
  readonly haveFactsChanged: boolean;
}

function onMemberChange(context: TermContext, { change, keys, haveFactsChanged }: RoutedChange): void {
  const { states, queue } = context;
  if (change.type === 'cluster') {
    onClusterChange(context, change, haveFactsChanged);
    return;
  }
  for (const key of keys) {
    const state = states.get(key);
    if (state === undefined) continue;
    if (isOfSource(context, key, change) || (change.type === 'mirror' && isUnplanned(state, change.cluster))) state.isPlanOld = true;
    if (change.type === 'mirror' && isRefused(state)) state.isPlanOld = true;
    retryAfterChange(context, state, change);
    queue.add(key);
  }
}

/**
 * Queues the Propagations that a change of a cluster concerns:
 *
 * - If the cluster has joined or left, or facts that placement uses have changed (`haveFactsChanged`): all Propagations. Their plans are old.
 * - For other changes, such as a change of its readiness: each Propagation with copies in the cluster. Also each Propagation that could not
 *   plan the cluster, or whose plan was refused. Those plans are old.
 */
function onClusterChange(
  context: TermContext,
  change: Extract<MemberChange, { readonly type: 'cluster' }>,
  haveFactsChanged: boolean,
): void {
  const { states, queue } = context;
  const { cluster } = change;
  for (const [key, state] of states) {
    const isPlanOld = haveFactsChanged || isUnplanned(state, cluster) || isRefused(state);
    if (isPlanOld) state.isPlanOld = true;
    retryAfterChange(context, state, change);
    if (isPlanOld || state.clusters.has(cluster) || state.shares?.has(cluster) === true) queue.addAfter(key, debounceMs);
  }
}

function isOfSource({ sources }: TermContext, key: string, change: MemberChange): boolean {
  const texts = sources.get(key);
  if (texts === undefined || texts.size === 0 || change.type === 'cluster') return false;
  if (change.type === 'object') return texts.has(textOfInterest(change));
  return [...texts].some((text) => text.startsWith(textOfInterest({ ...change, objectName: undefined })));
}

const unplannedReasons: readonly RejectionReason[] = ['API_MISSING', 'DELETING', 'SYNCING'];

/** True if the cluster could not be planned, because its mirrors were unread or it did not serve a kind. */
function isUnplanned({ plan }: PropagationState, cluster: ClusterName): boolean {
  if (plan === undefined) return false;
  const { clusters, rejected } = plan.rendered;
  if (clusters.some(({ chosen, fault }) => fault !== undefined && chosen.cluster === cluster)) return true;
  return rejected.some((one) => one.cluster === cluster && unplannedReasons.includes(one.reason));
}

/** True if the plan was refused. A change of any cluster may have removed the cause. */
function isRefused({ plan }: PropagationState): boolean {
  return plan?.verdict.result === 'refused';
}

/**
 * Makes the retry of a failed cluster due: now if it did not answer and answers again, or soon (`retrySoon`) if an object that blocked its
 * copies has changed. Starts no job itself.
 */
function retryAfterChange({ ports }: TermContext, state: PropagationState, change: MemberChange): void {
  const known = state.clusters.get(change.cluster);
  const { members } = ports.hub;
  const phase = members.get(change.cluster)?.phase;
  if (known === undefined || known.failures === 0 || phase === undefined || phase === 'UNREACHABLE') return;
  const nowMs = ports.clock.monotonic();
  if (known.isUnreachable && change.type !== 'object') known.retryAtMs = nowMs;
  else if (isUnblocked(state, change, members.objects)) retrySoon(known, nowMs);
}

/** Detects changes of the facts of clusters that placement uses. */
export interface MemberFacts {
  /**
   * Compares the facts of the cluster with those of the last call, and remembers them. True if they differ, if the cluster has left, or if
   * this is the first call for a cluster that joined during the term.
   */
  isChanged(cluster: ClusterName): boolean;
}

export function createMemberFacts(members: Pick<Members, 'all' | 'get'>): MemberFacts {
  const known = new Map(members.all().map((member) => [member.name, placementTextOf(member)]));
  return {
    isChanged(cluster) {
      const member = members.get(cluster);
      const text = member === undefined ? undefined : placementTextOf(member);
      const isSame = known.get(cluster) === text;
      if (text === undefined) known.delete(cluster);
      else known.set(cluster, text);
      return !isSame;
    },
  };
}

/**
 * Returns a text of the facts that placement uses to select clusters and to divide replicas. Equal facts give equal texts. The current
 * health of the cluster is not one of these facts.
 */
function placementTextOf({ labels, provider, region, zones, taints }: MemberCluster): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, provider ?? null, region ?? null, zones, taints]);
}
