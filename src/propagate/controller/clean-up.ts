import type { TypedCall } from '../../cluster/typed-api.ts';
import type { Fault } from '../../core/faults.ts';
import { groupKindOfKey, objectPlaceOf } from '../../manifests/object-key.ts';
import { callHub, type HubConnection } from '../hub/hub.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { type HeldPrune, marks, musterGroup, type Propagation } from '../model/propagation.ts';
import { type DeletionParts, type PropagationSpec, parseDeletionParts, parseSpec } from '../model/spec.ts';
import { decideRemoval } from '../plan/decide-action.ts';
import { isSourceEntry, makesIn, sourcesIn } from '../plan/snapshot/sources.ts';
import { type ClusterFacts, deletionHeld } from '../status/facts.ts';
import { summarize } from '../status/summarize.ts';
import { beginJob, type ClusterJob } from './clusters/cluster-job.ts';
import { isGoing, noNeeds } from './clusters/cluster-needs.ts';
import { copiesIn, echoMs, holding, troubleOfCopies } from './clusters/cluster-view.ts';
import { type Act, actOn, removeShare } from './clusters/cluster-work.ts';
import { actOnLost } from './clusters/lost-clusters.ts';
import { hubWait } from './hub-wait.ts';
import { heldPruneOf, isConfirmed, openPrune } from './prune-to-confirm.ts';
import { loadShares } from './read-hub.ts';
import { describeProblems } from './refuse.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { clusterRunOf, isBusy, turnOver } from './state/propagation-state.ts';
import { writeStatus } from './write-status.ts';

/** A cluster that failed is asked again by its own backoff; this is for what no mirror tells. */
const lookMs = 10_000;

/**
 * One pass over a Propagation that is being deleted: takes back what the inventory has, cluster by cluster, and lets the resource go once nothing is left.
 * What was begun for it before stops first, so that nothing it writes is missed.
 */
export async function cleanUp(pass: Pass, propagation: Propagation): Promise<PassResult> {
  const { run } = pass;
  if (run.plan !== undefined) turnOver(run);
  if (run.shares === undefined && isBusy(run)) return { result: 'passed' };
  if (!(await loadShares(pass, propagation))) return { result: 'passed', ...hubWait(pass) };
  if (run.shares?.size === 0) return await letGo(pass, propagation);
  const rules = await deletionRulesOf(pass, propagation);
  if (rules === undefined) return { result: 'passed', ...hubWait(pass) };
  const shares = [...(run.shares?.values() ?? [])];
  const hold = rules.result === 'held' ? undefined : await holdOf(pass, propagation, { shares, spec: rules.spec });
  if (hold !== undefined && 'fault' in hold) return { result: 'passed', ...hubWait(pass) };
  if (rules.result === 'known' && hold === undefined) {
    const isSource = sourceGuard(pass, propagation, shares);
    for (const share of shares) takeBack(pass, { propagation, spec: rules.spec, share, isSource });
  }
  const why = rules.result === 'held' ? { refused: rules.message } : { hold };
  const told = await tell(pass, { propagation, urgency: 'usual', ...why });
  run.hubFailures = 0;
  return { result: 'passed', againMs: Math.min(told, ...shares.map(({ cluster }) => retryInMs(pass, cluster))) };
}

/** Ours only: what others wait for is theirs. */
async function letGo(pass: Pass, propagation: Propagation): Promise<PassResult> {
  const { ports, term, run } = pass;
  if (!term.isLeading()) return { result: 'passed' };
  const unreadable = ports.stores.shares.unreadable(propagation.metadata);
  if (unreadable === undefined) return { result: 'passed', ...hubWait(pass) };
  run.unreadable = unreadable;
  // What is in them is proof of copies: who deletes them gives those up.
  if (unreadable.length > 0) return { result: 'passed', againMs: await tell(pass, { propagation, urgency: 'usual' }) };
  if (!(await loadAgain(pass, propagation))) return { result: 'passed', ...hubWait(pass) };
  if (run.shares?.size !== 0) return { result: 'passed', againMs: 0 };
  await tellWhoWaits(pass, propagation);
  const written = await ports.stores.propagations.setFinalizer(run.latest ?? propagation, 'absent', term.signal);
  switch (written.result) {
    case 'written':
      run.latest = written.propagation;
      return { result: 'passed' };
    case 'absent':
      return { result: 'passed' };
    case 'conflict':
    case 'failed':
      run.latest = undefined;
      return { result: 'passed', ...hubWait(pass) };
    default:
      return written satisfies never;
  }
}

/** Nobody looks after what is left once it is let go: that nothing is must be true now, and not when the inventory was read. */
async function loadAgain(pass: Pass, propagation: Propagation): Promise<boolean> {
  pass.run.shares = undefined;
  return await loadShares(pass, propagation);
}

/** While others hold it, as a foreground deletion does, somebody may look at it. */
async function tellWhoWaits(pass: Pass, propagation: Propagation): Promise<void> {
  const { metadata, status } = propagation;
  const isWaitedFor = metadata.finalizers.some((finalizer) => finalizer !== marks.finalizer);
  if (isWaitedFor && status.phase !== 'Deleting') await tell(pass, { propagation, urgency: 'urgent' });
}

/** An unconfirmed deletion that the deletion of the Namespace or of the definition caused. */
interface DeletionHold {
  readonly message: string;
  readonly prune: HeldPrune;
}

/**
 * The reason why no copy is deleted now. Undefined if all copies may be deleted. A user who deletes the Namespace of a Propagation, or the definition of
 * its kind, may not know that this deletes copies in all clusters. So the user has to confirm their deletion like a prune, or keep them with `Orphan`.
 */
async function holdOf(
  { ports, term }: Pass,
  propagation: Propagation,
  { shares, spec }: { readonly shares: readonly ClusterShare[]; readonly spec: ClusterJob['spec'] },
): Promise<DeletionHold | { readonly fault: Fault } | undefined> {
  const { status, metadata } = propagation;
  const leaving = shares.map(({ cluster, entries }) => {
    const objects = entries.map((entry) => removalOf(entry, spec)).filter(({ action }) => action === 'DELETE');
    return { cluster, objects };
  });
  // A cluster that is no member now may come back.
  const open = openPrune({ clusters: [], leaving }, new Map(shares.map((share) => [share.cluster, share])), () => true);
  if (open.objects === 0 || isConfirmed(open, status.prune, metadata.annotations[marks.confirmPrune])) return undefined;
  const ending = await hubEnding(ports.hub, propagation, term.signal);
  if (ending === undefined || typeof ending !== 'string') return ending;
  const { namespace, name } = metadata;
  const message =
    `${ending} is being deleted on the hub: ${open.objects} copies are not deleted until somebody says so. Delete them: ` +
    `muster rollout resume ${name} -n ${namespace} --confirm-prune. Keep them: ` +
    `kubectl patch propagation ${name} -n ${namespace} --type merge -p '{"spec":{"deletion":{"policy":"Orphan"}}}'`;
  return { message, prune: heldPruneOf(open, status.prune, ports.clock.now()) };
}

interface Taking {
  readonly propagation: Propagation;
  readonly spec: ClusterJob['spec'];
  readonly share: ClusterShare;
  readonly isSource: SourceGuard;
}

/** True for a source of the intent, or an object that contains one. It leaves the inventory and is not deleted. */
type SourceGuard = (cluster: ClusterShare['cluster'], entry: InventoryEntry) => boolean;

function sourceGuard({ ports }: Pass, { spec, metadata }: Propagation, shares: readonly ClusterShare[]): SourceGuard {
  if ('problems' in spec) return () => false;
  const sources = sourcesIn(spec, { shares, own: metadata, hub: { ...ports.stores, cluster: ports.hub.cluster } });
  const makes = makesIn(spec);
  return (cluster, entry) => isSourceEntry(sources, { cluster, entry, makes });
}

function takeBack(pass: Pass, { propagation, spec, share, isSource }: Taking): void {
  const { run, ports } = pass;
  const { cluster, entries } = share;
  const { members } = ports.hub;
  const known = clusterRunOf(run, cluster);
  if (known.isBusy || known.retryAtMs > ports.clock.monotonic()) return;
  const copies = copiesIn(members, share);
  const seen = new Map(copies.map(({ entry, mirrored }) => [entry.key, mirrored]));
  const facts = {
    mirrored: (key: InventoryEntry['key']) => seen.get(key) ?? members.objects.read(cluster, groupKindOfKey(key), objectPlaceOf(key)),
    isHeard: (mirrored: ClusterFacts['copies'][number]['mirrored']) =>
      mirrored.result !== 'unread' && mirrored.asOfMs > known.wroteAtMs + echoMs,
  };
  const [kept, going] = [true, false].map((is) => entries.filter((entry) => isSource(cluster, entry) === is));
  const apply = (kept ?? []).map((entry): RenderedObject => ({ ...removalOf(entry, spec), action: 'HOLD', held: 'Source' }));
  const prune = (going ?? []).filter((entry) => !isGoing(entry, facts)).map((entry) => removalOf(entry, spec));
  const { status, metadata } = propagation;
  const isConfirmedOnce = status.prune !== undefined && metadata.annotations[marks.confirmPrune] === status.prune.digest;
  // What was confirmed as one stays confirmed when the first of it is gone.
  const announce = !isConfirmedOnce
    ? []
    : prune.filter(({ action, key }) => action === 'DELETE' && !isOnItsWayIn(share, key)).map(({ key }) => key);
  const lost = entries.length === 0 ? removeEmpty : actOnLost({ share, propagation, members, nowMs: ports.clock.now() });
  if (lost === undefined && (members.get(cluster) === undefined || prune.length + apply.length === 0)) return;
  beginJob(pass, { cluster, propagation, spec, isPinned: false, act: lost ?? actOn({ ...noNeeds, apply, announce, prune }, copies) });
}

function isOnItsWayIn({ entries }: ClusterShare, key: InventoryEntry['key']): boolean {
  return entries.some((entry) => entry.key === key && isBeingRemoved(entry));
}

const removeEmpty: Act = async (work, signal) => [await removeShare(work, signal)];

function removalOf(entry: InventoryEntry, { deletion }: ClusterJob['spec']): RenderedObject {
  const { key } = entry;
  const { apiVersion, kind, namespace, name } = key;
  const desired = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  return { key, action: decideRemoval(entry, deletion), desired, desiredHash: '', predicted: false };
}

interface Telling {
  readonly propagation: Propagation;
  readonly urgency: 'urgent' | 'usual';
  /** Why nobody can tell what is to be taken away. */
  readonly refused?: string;
  readonly hold?: DeletionHold | undefined;
}

/** After how many milliseconds to look again. */
async function tell(pass: Pass, { propagation, urgency, refused, hold }: Telling): Promise<number> {
  const { run, ports } = pass;
  const { status: previous, metadata, spec } = propagation;
  const trouble = troubleOf(refused, hold);
  const clusters = leavingIn(pass, propagation).map((facts): ClusterFacts => ({ ...facts, ...trouble }));
  const nowMs = ports.clock.now();
  const { unreadable } = run;
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
  return written.result === 'later' ? written.ms : lookMs;
}

function troubleOf(refused: string | undefined, hold: DeletionHold | undefined): Pick<ClusterFacts, 'trouble'> {
  if (refused !== undefined) return { trouble: { reason: 'Invalid', message: refused } };
  return hold === undefined ? {} : { trouble: { reason: 'PruneHeld', message: hold.message } };
}

function leavingIn({ run, ports }: Pass, propagation: Propagation): readonly ClusterFacts[] {
  const { members } = ports.hub;
  const lines = new Map(propagation.status.clusters?.map((line) => [line.cluster, line]));
  return holding(run).map((share): ClusterFacts => {
    const line = lines.get(share.cluster);
    const standing = {
      cluster: share.cluster,
      member: members.get(share.cluster),
      standing: 'leaving',
      copies: copiesIn(members, share),
    } as const;
    const trouble = troubleOfCopies({ objects: [], share, line, known: run.clusters.get(share.cluster) });
    return { ...standing, ...trouble, ...(line === undefined ? {} : { previous: line }) };
  });
}

function retryInMs({ run, ports }: Pass, cluster: ClusterShare['cluster']): number {
  const known = run.clusters.get(cluster);
  if (known === undefined || known.isBusy || known.failures === 0) return lookMs;
  const waitMs = known.retryAtMs - ports.clock.monotonic();
  // Its time has come, and nothing was begun: what is there is waited for by its mirror.
  return waitMs > 0 ? waitMs : lookMs;
}

const definition = `propagations.${musterGroup}`;

/**
 * Reads live whether the Namespace of the Propagation, or the definition of its kind, is being deleted: the Propagation is then deleted with it. Returns
 * that object. Undefined if neither is being deleted, or if the gateway may not see them. A fault if the hub does not answer.
 */
async function hubEnding(
  hub: HubConnection,
  { metadata: { namespace } }: Propagation,
  signal: AbortSignal,
): Promise<string | undefined | { readonly fault: Fault }> {
  const reads: Readonly<Record<string, TypedCall<{ metadata?: { deletionTimestamp?: Date } }>>> = {
    [`Namespace ${namespace}`]: ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name: namespace }),
    [`CustomResourceDefinition ${definition}`]: ({ ApiextensionsV1Api }, transport) =>
      new ApiextensionsV1Api(transport).readCustomResourceDefinition({ name: definition }),
  };
  for (const [object, read] of Object.entries(reads)) {
    const found = await callHub(hub, read, signal);
    if (found.result === 'answered' && found.value.metadata?.deletionTimestamp !== undefined) return object;
    if (found.result === 'failed' && found.fault.code !== 'FORBIDDEN' && found.fault.code !== 'NOT_FOUND') return { fault: found.fault };
  }
  return undefined;
}

/** How the copies of a Propagation go, and with whose rights; or why nobody can tell. Then nothing goes. */
export type DeletionRules =
  | { readonly result: 'known'; readonly spec: ClusterJob['spec'] }
  | { readonly result: 'held'; readonly message: string };

/**
 * Where what stands there is no spec, it counts all the same in what it says of its end; what it does not say of that is as in the newest revision. What it
 * says and what cannot be read holds all: who wrote it may have wanted the copies kept. Undefined if the hub does not answer.
 */
export async function deletionRulesOf({ ports, term }: Pass, propagation: Propagation): Promise<DeletionRules | undefined> {
  if (!('problems' in propagation.spec)) return { result: 'known', spec: propagation.spec };
  const said = parseDeletionParts(propagation.document);
  if ('problems' in said) return heldRules(describeProblems(said.problems));
  if (said.deletion !== undefined && said.runAs !== undefined) return knownRules(said, undefined);
  const kept = await ports.stores.revisions.list(propagation, term.signal);
  if ('fault' in kept) return undefined;
  const spec = kept[0] === undefined ? undefined : parseSpec(kept[0].document);
  const last = spec === undefined || 'problems' in spec ? undefined : spec;
  return knownRules(said, last);
}

function knownRules(said: Partial<DeletionParts>, last: PropagationSpec | undefined): DeletionRules {
  const deletion = said.deletion ?? last?.deletion;
  if (deletion === undefined) return heldRules('deletion: is not said, and no revision is kept that says it');
  const { runAs = last?.runAs ?? ({ type: 'requester' } as const), requester } = said;
  // Neither plays a part where copies go.
  const spec = { conflict: 'Abort', write: 'Apply', deletion, runAs } as const;
  return { result: 'known', spec: { ...spec, ...(requester === undefined ? {} : { requester }) } };
}

function heldRules(why: string): DeletionRules {
  return { result: 'held', message: `nothing is taken away, as the spec does not say how: ${why}` };
}
