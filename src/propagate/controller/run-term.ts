import type { MemberCluster, Members } from '../../changes/members.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import type { MemberChange } from '../../store/member-objects.ts';
import { hubKinds } from '../hub/hub.ts';
import type { RejectionReason } from '../model/placement.ts';
import { nodes } from '../plan/snapshot/whereabouts.ts';
import { isUnblocked } from './events/blockers.ts';
import { createInterests, type Interests, textOfInterest } from './events/interests.ts';
import { interestsOf } from './events/interests-of.ts';
import { createNodeWatch } from './events/node-watch.ts';
import type { Term } from './lease/lease.ts';
import { reconcile } from './reconcile.ts';
import { createDriftWatch } from './state/drift.ts';
import type { ControllerPorts, Pass } from './state/ports.ts';
import { hasten, isBusy, keyOfRun, newRun, type Run } from './state/propagation-state.ts';
import { createWorkQueue, type WorkQueue } from './state/work-queue.ts';

/** Clusters that come, go or change their labels mostly do so together. */
const debounceMs = 2_000;

/** Passes at a time: a plan waits up to 10 s for mirrors that nobody has read yet. */
const mostPasses = 32;

/** What one term works with. */
interface Workshop {
  readonly ports: ControllerPorts;
  readonly term: Term;
  readonly runs: Map<string, Run>;
  readonly queue: WorkQueue;
  /** Of each Propagation: the texts of what its template refers to. */
  readonly sources: Map<string, ReadonlySet<string>>;
  readonly interests: Interests;
}

/**
 * Keeps every Propagation of the hub true for one term: looks at each at its beginning, and again when its resource, its copies, what it refers to, or the
 * fleet changes. Ends when the term is over and nothing that was begun runs any more.
 */
export async function workATerm(ports: ControllerPorts, term: Term): Promise<void> {
  const { members } = ports.hub;
  const runs = new Map<string, Run>();
  const sources = new Map<string, ReadonlySet<string>>();
  const interests = createInterests(members.objects, term.signal);
  const drift = createDriftWatch(ports, members.objects);
  const ended = new Set<() => void>();

  async function work(key: string): Promise<number | undefined> {
    const run = runs.get(key);
    if (run === undefined) return undefined;
    const again = () => {
      queue.add(key);
      for (const tell of ended) tell();
    };
    const passed = await reconcile({ ports, term, run, drift, again } satisfies Pass);
    if (passed.result === 'gone') {
      forget(key, run);
      return undefined;
    }
    const wanted = interestsOf(run, members);
    sources.set(key, new Set(wanted.sources.map(textOfInterest)));
    interests.set(key, [...wanted.copies, ...wanted.blockers, ...wanted.sources, ...wanted.nodes]);
    return passed.againMs;
  }

  function forget(key: string, run: Run): void {
    run.work.abort();
    runs.delete(key);
    sources.delete(key);
    interests.set(key, []);
  }

  const queue = createWorkQueue(
    {
      work,
      onBug: (key, error) => ports.log.error({ propagation: key, error: loggableError(error) }, 'bug: a pass has thrown'),
      most: mostPasses,
      clock: ports.clock,
    },
    term.signal,
  );
  const shop: Workshop = { ports, term, runs, queue, sources, interests };
  listen(shop);
  addAll(shop);
  await abortOf(term.signal);
  await queue.idle();
  while ([...runs.values()].some(isBusy)) await endOfWork(ended);
}

/** What the mirrors and the fleet tell has those looked at whom it concerns. Ends with the term. */
function listen(shop: Workshop): void {
  const { ports, term, interests } = shop;
  const { members } = ports.hub;
  const facts = createMemberFacts(members);
  const onMoved = (cluster: ClusterName) => heardOfNodes(shop, cluster);
  const nodeWatch = createNodeWatch({ members, clock: ports.clock, debounceMs, onMoved }, term.signal);
  members.objects.onChange((changes) => {
    for (const change of changes) {
      if (change.type !== 'cluster' && keyOfKind(change.kind) === keyOfKind(nodes)) nodeWatch.heard(change.cluster);
      if (isOfPropagations(change, ports)) heardOfPropagations(shop, change);
      else
        heardOfMember(shop, {
          change,
          keys: interests.keysOf(change),
          isOtherPlace: change.type === 'cluster' && facts.isChanged(change.cluster),
        });
    }
  }, term.signal);
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves when the next piece of work in some cluster has ended. */
function endOfWork(ended: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const tell = () => {
      ended.delete(tell);
      resolve();
    };
    ended.add(tell);
  });
}

/** Those that the mirror has; if it is unread it tells when it is read. */
function addAll(shop: Workshop): void {
  for (const { metadata } of shop.ports.stores.propagations.all() ?? []) addRun(shop, metadata);
  for (const key of shop.runs.keys()) shop.queue.add(key);
}

function addRun({ runs, queue }: Workshop, place: Run['place']): void {
  const { namespace, name } = place;
  const key = keyOfRun(place);
  if (!runs.has(key)) runs.set(key, newRun({ namespace, name }));
  queue.add(key);
}

function isOfPropagations(change: MemberChange, { hub }: ControllerPorts): boolean {
  return change.type !== 'cluster' && change.cluster === hub.cluster && keyOfKind(change.kind) === keyOfKind(hubKinds.propagation);
}

function heardOfPropagations(shop: Workshop, change: MemberChange): void {
  if (change.type === 'object') addRun(shop, change.place);
  else addAll(shop);
}

/** The cluster runs elsewhere than it did, or it is known now where. */
function heardOfNodes({ runs, queue, interests }: Workshop, cluster: ClusterName): void {
  for (const key of interests.keysOf({ type: 'mirror', cluster, kind: nodes })) {
    const run = runs.get(key);
    if (run !== undefined) run.isPlanOld = true;
    queue.add(key);
  }
}

interface Heard {
  readonly change: MemberChange;
  /** Who has an interest in it. */
  readonly keys: ReadonlySet<string>;
  /** What placement asks of the cluster is other than before. */
  readonly isOtherPlace: boolean;
}

function heardOfMember(shop: Workshop, { change, keys, isOtherPlace }: Heard): void {
  const { runs, queue } = shop;
  if (change.type === 'cluster') {
    heardOfCluster(shop, change, isOtherPlace);
    return;
  }
  for (const key of keys) {
    const run = runs.get(key);
    if (run === undefined) continue;
    if (isOfSource(shop, key, change) || (change.type === 'mirror' && isUnplanned(run, change.cluster))) run.isPlanOld = true;
    if (change.type === 'mirror' && isRefused(run)) run.isPlanOld = true;
    wake(shop, run, change);
    queue.add(key);
  }
}

/** Its readiness concerns those that are in it, or could not be; its labels, its coming and its going concern all. */
function heardOfCluster(shop: Workshop, change: Extract<MemberChange, { readonly type: 'cluster' }>, isOtherPlace: boolean): void {
  const { runs, queue } = shop;
  const { cluster } = change;
  for (const [key, run] of runs) {
    const isPlanOld = isOtherPlace || isUnplanned(run, cluster) || isRefused(run);
    if (isPlanOld) run.isPlanOld = true;
    wake(shop, run, change);
    if (isPlanOld || run.clusters.has(cluster) || run.shares?.has(cluster) === true) queue.addAfter(key, debounceMs);
  }
}

function isOfSource({ sources }: Workshop, key: string, change: MemberChange): boolean {
  const texts = sources.get(key);
  if (texts === undefined || texts.size === 0 || change.type === 'cluster') return false;
  if (change.type === 'object') return texts.has(textOfInterest(change));
  return [...texts].some((text) => text.startsWith(textOfInterest({ ...change, place: undefined })));
}

const unplannedReasons: readonly RejectionReason[] = ['API_MISSING', 'DELETING', 'SYNCING'];

/** Nothing could be planned there, as its mirrors were unread or it did not serve a kind. */
function isUnplanned({ plan }: Run, cluster: ClusterName): boolean {
  if (plan === undefined) return false;
  const { clusters, rejected } = plan.rendered;
  if (clusters.some(({ chosen, fault }) => fault !== undefined && chosen.cluster === cluster)) return true;
  return rejected.some((one) => one.cluster === cluster && unplannedReasons.includes(one.reason));
}

/** What was wrong with it may have been of that moment, or of that cluster. */
function isRefused({ plan }: Run): boolean {
  return plan?.verdict.result === 'refused';
}

/** What failed while the cluster did not answer is tried at once when it does; what something was in the way of, when that has changed. */
function wake({ ports }: Workshop, run: Run, change: MemberChange): void {
  const known = run.clusters.get(change.cluster);
  const { members } = ports.hub;
  const phase = members.get(change.cluster)?.phase;
  if (known === undefined || known.failures === 0 || phase === undefined || phase === 'UNREACHABLE') return;
  const nowMs = ports.clock.monotonic();
  if (known.isOutOfReach && change.type !== 'object') known.retryAtMs = nowMs;
  else if (isUnblocked(run, change, members.objects)) hasten(known, nowMs);
}

/** Tells whether what placement asks of a cluster has changed since it was asked last. */
export interface MemberFacts {
  /** True the first time a cluster that was not there at the beginning is asked about, and whenever its facts differ; also when it left. */
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

/** What selects, places and divides by; not how the cluster is at the moment. */
function placementTextOf({ labels, provider, region, zones, taints }: MemberCluster): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, provider ?? null, region ?? null, zones, taints]);
}
