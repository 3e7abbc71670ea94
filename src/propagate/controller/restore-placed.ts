import { shortenedList } from '../../core/text.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../model/inventory.ts';
import { parseSpec } from '../model/spec.ts';
import { changedMessage } from '../plan/copies/judge-object.ts';
import { isRemoval } from '../plan/held-prune.ts';
import { isForOneGeneration } from '../plan/snapshot/frozen-sources.ts';
import { type ClusterAssessment, lostCopiesOf } from './clusters/cluster-assessment.ts';
import { startClusterJob } from './clusters/cluster-job.ts';
import { noNeeds } from './clusters/cluster-needs.ts';
import { taskFor } from './clusters/cluster-task.ts';
import { mayWriteIn } from './decide-rollout.ts';
import type { PassSnapshot, PlannedPropagation } from './pass-snapshot.ts';
import type { Pass } from './state/ports.ts';
import { type CurrentPlan, clusterStateOf, type PlacedCopies } from './state/propagation-state.ts';

/** Number of revisions that are rendered: each takes as long as a plan. Lost copies of older revisions are reported, and not restored. */
const maxRevisions = 4;

/**
 * Keeps the copies of older generations in sync where the current generation may not write yet. The reasons are:
 *
 * - the cluster waits for its wave
 * - the plan is stale or refused
 * - a prune waits for its confirmation
 * - a breach was rolled back
 * - the copy differs from the state that a plan with a digest saw
 *
 * A copy that was deleted or changed is written again as it was, by the spec and the generation that placed it. The returned snapshot names
 * the lost copies.
 */
export async function restorePlaced(pass: Pass, planned: PlannedPropagation, snapshot: PassSnapshot): Promise<PassSnapshot> {
  const open = snapshot.clusters.flatMap((assessment) => {
    const share = shareToKeep(assessment, planned, snapshot);
    return share === undefined ? [] : [{ assessment, share }];
  });
  if (open.length === 0) return snapshot;
  const placed = await placedCopiesIn(
    pass,
    planned,
    open.map(({ share }) => share),
  );
  const lossMessages = new Map(
    open.map(({ assessment, share }) => [
      assessment,
      restoreLost(pass, planned, { assessment, share, placed: placed.get(share.cluster) ?? [] }),
    ]),
  );
  const assessments = snapshot.clusters.map((assessment) => ({
    ...assessment,
    facts: { ...assessment.facts, lossMessage: lossMessages.get(assessment) },
  }));
  return { ...snapshot, clusters: assessments };
}

/**
 * True if this generation did not write the copy, because the copy has changed since the plan with the requested digest was made. The
 * change may be drift from the older generation. So the copy is restored as the older generation placed it, and compared with the plan
 * again, before this generation tries again to write it.
 */
export function isToRestoreFirst({ isPinned }: CurrentPlan, { fault }: InventoryEntry): boolean {
  return isPinned && fault?.message === changedMessage;
}

/**
 * Returns the share with only those entries whose copies an older generation wrote, and that this generation neither writes nor deletes
 * now. Undefined if there are none, or if the cluster does not answer.
 */
function shareToKeep(
  { share, facts, rendered, needs }: ClusterAssessment,
  { spec, plan }: PlannedPropagation,
  snapshot: PassSnapshot,
): ClusterShare | undefined {
  const { member, stage, cluster } = facts;
  const isSuspended = spec.suspend.all || spec.suspend.clusters.includes(cluster);
  const isHeld = plan.verdict.result !== 'do';
  if (share === undefined || member === undefined || isSuspended || stage === 'rollingBack') return undefined;
  // No copy can be written there now. A failover must not wait for the revisions of all Propagations that it concerns.
  if (member.phase === 'UNREACHABLE') return undefined;
  if (stage === 'leaving' && !isHeld && mayWriteIn(facts, snapshot.rollout)) return undefined;
  const going = new Set(needs.prune.map(({ key }) => textOfKey(key)));
  const kept = new Set(rendered?.objects.filter(isRemoval).map(({ key }) => textOfKey(key)));
  const isOfOlder = (entry: InventoryEntry) => {
    const text = textOfKey(entry.key);
    return stage !== 'begun' || isToRestoreFirst(plan, entry) || (kept.has(text) && !going.has(text));
  };
  const entries = share.entries.filter((entry) => entry.uid !== undefined && !isBeingRemoved(entry) && isOfOlder(entry));
  return entries.length === 0 ? undefined : { ...share, entries };
}

/**
 * Returns, by cluster, the copies that kept revisions placed there. If several revisions have a copy, the newest one counts. Each cluster
 * is computed once for a plan. While the hub does not answer, a cluster that is not computed yet is absent.
 */
async function placedCopiesIn(
  pass: Pass,
  planned: PlannedPropagation,
  shares: readonly ClusterShare[],
): Promise<ReadonlyMap<string, readonly PlacedCopies[]>> {
  const { state } = pass;
  if (state.placedCopies?.plan !== planned.plan) state.placedCopies = { plan: planned.plan, clusters: new Map() };
  const { clusters } = state.placedCopies;
  const unknown = shares.filter(({ cluster }) => !clusters.has(cluster));
  if (unknown.length === 0) return clusters;
  for (const [cluster, copies] of (await findPlaced(pass, planned, unknown)) ?? []) clusters.set(cluster, copies);
  return clusters;
}

async function findPlaced(
  { ports, term }: Pass,
  { propagation, plan: { preserved }, spec: { requester } }: PlannedPropagation,
  shares: readonly ClusterShare[],
): Promise<ReadonlyMap<ClusterShare['cluster'], readonly PlacedCopies[]> | undefined> {
  const { namespace, name, uid } = propagation.metadata;
  const kept = await ports.stores.revisions.list(propagation, term.signal);
  if ('fault' in kept) return undefined;
  const found = new Map(shares.map(({ cluster }) => [cluster, [] as PlacedCopies[]]));
  for (const { revision, document } of kept.filter(({ isRolledBack }) => !isRolledBack).slice(0, maxRevisions)) {
    const open = shares.map((share) => withoutFound(share, found.get(share.cluster))).filter(({ entries }) => entries.length > 0);
    const parsed = parseSpec(document);
    if (open.length === 0 || 'problems' in parsed) continue;
    const spec = requester === undefined ? parsed : { ...parsed, requester };
    const request = { namespace, name, spec, existing: { uid, status: { preserved: [...preserved] } }, shares: open, signal: term.signal };
    const rendered = await ports.planner.renderPlaced(request);
    for (const { cluster } of open) {
      const objects = rendered.get(cluster) ?? [];
      if (objects.length > 0) found.get(cluster)?.push({ revision, spec, objects });
    }
  }
  return found;
}

function withoutFound(share: ClusterShare, found: readonly PlacedCopies[] = []): ClusterShare {
  const known = new Set(found.flatMap(({ objects }) => objects.map(({ key }) => textOfKey(key))));
  return { ...share, entries: share.entries.filter(({ key }) => !known.has(textOfKey(key))) };
}

interface PlacedInCluster {
  readonly assessment: ClusterAssessment;
  readonly share: ClusterShare;
  readonly placed: readonly PlacedCopies[];
}

/**
 * Starts a job that restores the lost copies of one revision. Later passes restore the copies of further revisions. Returns a text that
 * names the lost copies of all revisions, or undefined if no copy is lost.
 */
function restoreLost(pass: Pass, { propagation }: PlannedPropagation, { assessment, share, placed }: PlacedInCluster): string | undefined {
  const { state, ports, drift } = pass;
  const { cluster, entries } = share;
  const scene = { state, drift, members: ports.hub.members };
  const astray = placed.map((copies) => ({ ...copies, objects: lostCopiesOf(scene, share, copies.objects) }));
  const known = clusterStateOf(state, cluster);
  const next = astray.find(({ objects, spec }) => objects.length > 0 && mayRestore(pass, spec));
  if (next !== undefined && !known.isBusy && known.retryAtMs <= ports.clock.monotonic()) {
    const { spec, revision, objects } = next;
    const generation = Math.max(...entries.map(({ appliedGeneration = 0 }) => appliedGeneration));
    const act = taskFor({ ...noNeeds, correct: objects }, assessment.facts.copies);
    startClusterJob(pass, { cluster, propagation, spec, isPinned: false, revision, generation, task: act });
  }
  const found = new Set(placed.flatMap(({ objects }) => objects.map(({ key }) => textOfKey(key))));
  const gone = assessment.facts.copies.filter(
    ({ entry, mirrored }) =>
      mirrored.result === 'absent' && entry.finished !== true && entries.includes(entry) && !found.has(textOfKey(entry.key)),
  );
  return messageOf(
    astray.flatMap(({ objects }) => objects.map(({ key }) => key)),
    gone.map(({ entry }) => entry.key),
  );
}

/**
 * True if copies of this older spec may be written again. Copies written with the rights of a requester are only watched: these rights
 * serve the generation that the requester applied. Copies with `CreateOnly` are never written again.
 */
function mayRestore({ ports }: Pass, { runAs, conflict, suspend }: PlacedCopies['spec']): boolean {
  return !isForOneGeneration(ports.accounts, { runAs }) && conflict !== 'CreateOnly' && !suspend.all;
}

/** Maximum number of copies that a message names. */
const maxNames = 3;

function messageOf(astray: readonly ObjectKey[], gone: readonly ObjectKey[]): string | undefined {
  const parts = [
    ...(astray.length === 0 ? [] : [`deleted or changed since it was written: ${textOfKeys(astray)}`]),
    ...(gone.length === 0 ? [] : [`deleted, and no kept revision has it: ${textOfKeys(gone)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

function textOfKeys(keys: readonly ObjectKey[]): string {
  return shortenedList(
    keys.map(({ kind, name }) => `${kind} ${name}`),
    maxNames,
  );
}
