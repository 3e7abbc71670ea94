import { groupKindOfKey, namespacedNameOf } from '../../manifests/object-key.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { marks, type Propagation } from '../model/propagation.ts';
import { type DeletionParts, type PropagationSpec, parseDeletionParts, parseSpec } from '../model/spec.ts';
import { decideRemoval } from '../plan/decide-action.ts';
import { creationsIn, isSourceEntry, sourcesIn } from '../plan/snapshot/sources.ts';
import { copyFactsOf } from '../status/copy-facts.ts';
import { type ClusterFacts, deletionHeld } from '../status/facts.ts';
import { summarize } from '../status/summarize.ts';
import { mirrorDelayMs, nonEmptyShares, problemOfCopies } from './clusters/cluster-assessment.ts';
import { type ClusterJob, startClusterJob } from './clusters/cluster-job.ts';
import { isBeingDeleted, noNeeds } from './clusters/cluster-needs.ts';
import { type ClusterTask, removeShare, taskFor } from './clusters/cluster-task.ts';
import { taskForLostCluster } from './clusters/lost-clusters.ts';
import { type DeletionHold, deletionHoldOf } from './deletion-hold.ts';
import { loadShares } from './load-shares.ts';
import { describeProblems } from './refuse.ts';
import { retryHubLater } from './retry-hub-later.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { clusterStateOf, discardPlan, isBusy } from './state/propagation-state.ts';
import { writeStatus } from './write-status.ts';

/** Delay of the next pass for causes that no mirror reports. A cluster that failed has its own backoff. */
const recheckMs = 10_000;

/**
 * Runs one pass over a Propagation that is being deleted. Deletes the copies in the inventory, cluster by cluster, and removes the
 * finalizer when no copy is left.
 *
 * First stops the jobs of the previous plan and waits for their end. Then the inventory has every copy that these jobs wrote.
 */
export async function cleanUp(pass: Pass, propagation: Propagation): Promise<PassResult> {
  const { state } = pass;
  if (state.plan !== undefined) discardPlan(state);
  if (state.shares === undefined && isBusy(state)) return { result: 'passed' };
  if (!(await loadShares(pass, propagation))) return { result: 'passed', ...retryHubLater(pass) };
  if (state.shares?.size === 0) return await releasePropagation(pass, propagation);
  const rules = await deletionRulesOf(pass, propagation);
  if (rules === undefined) return { result: 'passed', ...retryHubLater(pass) };
  const shares = [...(state.shares?.values() ?? [])];
  const hold = rules.result === 'held' ? undefined : await holdOf(pass, propagation, { shares, spec: rules.spec });
  if (hold !== undefined && 'fault' in hold) return { result: 'passed', ...retryHubLater(pass) };
  if (rules.result === 'known' && hold === undefined) {
    const isSource = sourceGuard(pass, propagation, shares);
    for (const share of shares) deleteCopiesOf(pass, { propagation, spec: rules.spec, share, isSource });
  }
  const why = rules.result === 'held' ? { refused: rules.message } : { hold };
  const statusInMs = await writeDeletionStatus(pass, { propagation, urgency: 'usual', ...why });
  state.hubFailures = 0;
  return { result: 'passed', againMs: Math.min(statusInMs, ...shares.map(({ cluster }) => retryInMs(pass, cluster))) };
}

/**
 * Removes Muster's finalizer, so that the hub can delete the Propagation. Other finalizers stay. Removes nothing while a ClusterShare
 * cannot be read, or if a new read of the inventory finds copies.
 */
async function releasePropagation(pass: Pass, propagation: Propagation): Promise<PassResult> {
  const { ports, term, state } = pass;
  if (!term.isLeading()) return { result: 'passed' };
  const unreadable = ports.stores.shares.unreadable(propagation.metadata);
  if (unreadable === undefined) return { result: 'passed', ...retryHubLater(pass) };
  state.unreadable = unreadable;
  // A ClusterShare that cannot be read may list copies. If a user deletes it, those copies are abandoned.
  if (unreadable.length > 0) return { result: 'passed', againMs: await writeDeletionStatus(pass, { propagation, urgency: 'usual' }) };
  if (!(await loadAgain(pass, propagation))) return { result: 'passed', ...retryHubLater(pass) };
  if (state.shares?.size !== 0) return { result: 'passed', againMs: 0 };
  await writeFinalStatus(pass, propagation);
  const written = await ports.stores.propagations.setFinalizer(state.latest ?? propagation, 'absent', term.signal);
  switch (written.result) {
    case 'written':
      state.latest = written.propagation;
      return { result: 'passed' };
    case 'absent':
      return { result: 'passed' };
    case 'conflict':
    case 'failed':
      state.latest = undefined;
      return { result: 'passed', ...retryHubLater(pass) };
    default:
      return written satisfies never;
  }
}

/**
 * Reads the inventory again. False if the hub does not answer. Once the finalizer is gone, nothing deletes the remaining copies. So the
 * inventory must be empty now, not at an earlier read.
 */
async function loadAgain(pass: Pass, propagation: Propagation): Promise<boolean> {
  pass.state.shares = undefined;
  return await loadShares(pass, propagation);
}

/**
 * Writes the status once more if other finalizers keep the Propagation, as in a foreground deletion. Users can still read such a
 * Propagation, so its phase must be `Deleting`.
 */
async function writeFinalStatus(pass: Pass, propagation: Propagation): Promise<void> {
  const { metadata, status } = propagation;
  const isWaitedFor = metadata.finalizers.some((finalizer) => finalizer !== marks.finalizer);
  if (isWaitedFor && status.phase !== 'Deleting') await writeDeletionStatus(pass, { propagation, urgency: 'urgent' });
}

function holdOf(
  pass: Pass,
  propagation: Propagation,
  { shares, spec }: { readonly shares: readonly ClusterShare[]; readonly spec: ClusterJob['spec'] },
): ReturnType<typeof deletionHoldOf> {
  const leaving = shares.map(({ cluster, entries }) => {
    const objects = entries.map((entry) => removalOf(entry, spec)).filter(({ action }) => action === 'DELETE');
    return { cluster, objects };
  });
  return deletionHoldOf(pass, propagation, { leaving, shares });
}

interface ShareRemoval {
  readonly propagation: Propagation;
  readonly spec: ClusterJob['spec'];
  readonly share: ClusterShare;
  readonly isSource: SourceGuard;
}

/**
 * True for an entry whose object is a source of the intent, or contains a source. Such an object leaves the inventory and is not deleted.
 */
type SourceGuard = (cluster: ClusterShare['cluster'], entry: InventoryEntry) => boolean;

function sourceGuard({ ports }: Pass, { spec, metadata }: Propagation, shares: readonly ClusterShare[]): SourceGuard {
  if ('problems' in spec) return () => false;
  const sources = sourcesIn(spec, { shares, own: metadata, hub: { ...ports.stores, cluster: ports.hub.cluster } });
  const creations = creationsIn(spec);
  return (cluster, entry) => isSourceEntry(sources, { cluster, entry, creations });
}

function deleteCopiesOf(pass: Pass, { propagation, spec, share, isSource }: ShareRemoval): void {
  const { state, ports } = pass;
  const { cluster, entries } = share;
  const { members } = ports.hub;
  const known = clusterStateOf(state, cluster);
  if (known.isBusy || known.retryAtMs > ports.clock.monotonic()) return;
  const copies = copyFactsOf(members.objects, share);
  const seen = new Map(copies.map(({ entry, mirrored }) => [entry.key, mirrored]));
  const facts = {
    mirrored: (key: InventoryEntry['key']) => seen.get(key) ?? members.objects.read(cluster, groupKindOfKey(key), namespacedNameOf(key)),
    hasSeenWrite: (mirrored: ClusterFacts['copies'][number]['mirrored']) =>
      mirrored.result !== 'unread' && mirrored.asOfMs > known.wroteAtMs + mirrorDelayMs,
  };
  const [kept, going] = [true, false].map((is) => entries.filter((entry) => isSource(cluster, entry) === is));
  const apply = (kept ?? []).map((entry): RenderedObject => ({ ...removalOf(entry, spec), action: 'HOLD', held: 'Source' }));
  const prune = (going ?? []).filter((entry) => !isBeingDeleted(entry, facts)).map((entry) => removalOf(entry, spec));
  const { status, metadata } = propagation;
  const isConfirmedOnce = status.prune !== undefined && metadata.annotations[marks.confirmPrune] === status.prune.digest;
  // A confirmation covers all copies together. So each of them is recorded as being deleted before the first one is gone.
  const announce = !isConfirmedOnce
    ? []
    : prune.filter(({ action, key }) => action === 'DELETE' && !isOnItsWayIn(share, key)).map(({ key }) => key);
  const lost = entries.length === 0 ? removeEmpty : taskForLostCluster({ share, propagation, members, nowMs: ports.clock.now() });
  if (lost === undefined && (members.get(cluster) === undefined || prune.length + apply.length === 0)) return;
  startClusterJob(pass, {
    cluster,
    propagation,
    spec,
    isPinned: false,
    task: lost ?? taskFor({ ...noNeeds, apply, announce, prune }, copies),
  });
}

function isOnItsWayIn({ entries }: ClusterShare, key: InventoryEntry['key']): boolean {
  return entries.some((entry) => entry.key === key && isBeingRemoved(entry));
}

const removeEmpty: ClusterTask = async (work, signal) => [await removeShare(work, signal)];

function removalOf(entry: InventoryEntry, { deletion }: ClusterJob['spec']): RenderedObject {
  const { key } = entry;
  const { apiVersion, kind, namespace, name } = key;
  const desired = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  return { key, action: decideRemoval(entry, deletion), desired, desiredHash: '', predicted: false };
}

interface DeletionStatus {
  readonly propagation: Propagation;
  readonly urgency: 'urgent' | 'usual';
  /** Why it is unknown how the copies are deleted. Absent if it is known. */
  readonly refused?: string;
  /** Set if a user must confirm the deletion of the copies first. */
  readonly hold?: DeletionHold | undefined;
}

/** Writes the status of a Propagation that is being deleted. Returns the delay until the next pass in milliseconds. */
async function writeDeletionStatus(pass: Pass, { propagation, urgency, refused, hold }: DeletionStatus): Promise<number> {
  const { state, ports } = pass;
  const { status: previous, metadata, spec } = propagation;
  const problem = problemOfDeletion(refused, hold);
  const clusters = leavingClusters(pass, propagation).map((facts): ClusterFacts => ({ ...facts, ...problem }));
  const nowMs = ports.clock.now();
  const { unreadable } = state;
  const status = summarize({
    generation: metadata.generation,
    spec: 'problems' in spec ? undefined : spec,
    previous,
    ...(refused === undefined ? {} : { refused: { stage: 'Accepted', message: refused } }),
    ...(hold === undefined ? {} : { prune: hold.prune, held: { reason: deletionHeld, message: hold.message } }),
    clusters,
    unreadable,
    isDeleting: true,
    isPaused: false,
    nowMs,
  });
  const written = await writeStatus(pass, { propagation, status, urgency });
  return written.result === 'later' ? written.ms : recheckMs;
}

function problemOfDeletion(refused: string | undefined, hold: DeletionHold | undefined): Pick<ClusterFacts, 'problem'> {
  if (refused !== undefined) return { problem: { reason: 'Invalid', message: refused } };
  return hold === undefined ? {} : { problem: { reason: 'PruneHeld', message: hold.message } };
}

function leavingClusters({ state, ports }: Pass, propagation: Propagation): readonly ClusterFacts[] {
  const { members } = ports.hub;
  const lines = new Map(propagation.status.clusters?.map((line) => [line.cluster, line]));
  return nonEmptyShares(state).map((share): ClusterFacts => {
    const line = lines.get(share.cluster);
    const leaving = {
      cluster: share.cluster,
      member: members.get(share.cluster),
      stage: 'leaving',
      copies: copyFactsOf(members.objects, share),
    } as const;
    const problem = problemOfCopies({ objects: [], share, line, clusterState: state.clusters.get(share.cluster) });
    return { ...leaving, ...problem, ...(line === undefined ? {} : { previous: line }) };
  });
}

function retryInMs({ state, ports }: Pass, cluster: ClusterShare['cluster']): number {
  const known = state.clusters.get(cluster);
  if (known === undefined || known.isBusy || known.failures === 0) return recheckMs;
  const waitMs = known.retryAtMs - ports.clock.monotonic();
  // The retry is due and no job was started: the remaining objects are being deleted, and their mirror reports when they are gone.
  return waitMs > 0 ? waitMs : recheckMs;
}

/** How the copies are deleted and with whose rights (`known`), or why this is unknown (`held`). While it is unknown, no copy is deleted. */
type DeletionRules =
  | { readonly result: 'known'; readonly spec: ClusterJob['spec'] }
  | { readonly result: 'held'; readonly message: string };

/**
 * Finds out how the copies of a Propagation are deleted. Undefined if the hub does not answer.
 *
 * If the spec is invalid, its members about deletion still count. Members that it leaves out come from the newest revision. If one of these
 * members is itself invalid, the deletion is held, because the author may have wanted to keep the copies.
 */
async function deletionRulesOf({ ports, term }: Pass, propagation: Propagation): Promise<DeletionRules | undefined> {
  if (!('problems' in propagation.spec)) return { result: 'known', spec: propagation.spec };
  const specified = parseDeletionParts(propagation.document);
  if ('problems' in specified) return heldRules(describeProblems(specified.problems));
  if (specified.deletion !== undefined && specified.runAs !== undefined) return knownRules(specified, undefined);
  const kept = await ports.stores.revisions.list(propagation, term.signal);
  if ('fault' in kept) return undefined;
  const spec = kept[0] === undefined ? undefined : parseSpec(kept[0].document);
  const last = spec === undefined || 'problems' in spec ? undefined : spec;
  return knownRules(specified, last);
}

function knownRules(specified: Partial<DeletionParts>, last: PropagationSpec | undefined): DeletionRules {
  const deletion = specified.deletion ?? last?.deletion;
  if (deletion === undefined) return heldRules('deletion: is missing, and no kept revision has it');
  const { runAs = last?.runAs ?? ({ type: 'requester' } as const), requester } = specified;
  // These two modes have no effect on deletions.
  const spec = { conflict: 'Abort', write: 'Apply', deletion, runAs } as const;
  return { result: 'known', spec: { ...spec, ...(requester === undefined ? {} : { requester }) } };
}

function heldRules(why: string): DeletionRules {
  return { result: 'held', message: `no copy is deleted, because the spec does not say how: ${why}` };
}
