import { isDeepStrictEqual } from 'node:util';
import { isDecided, type Propagation } from '../model/propagation.ts';
import { documentWithoutRequester, isDividedAsKubeFed } from '../model/spec.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import { countFieldOf } from '../plan/placing/workload-count.ts';
import { hashOfSources, isForOneGeneration } from '../plan/snapshot/frozen-sources.ts';
import { roomRecheckMs } from '../plan/snapshot/running-replicas.ts';
import { isRestarted } from '../rollout/resumption.ts';
import { wantedHashOf } from '../rollout/wanted-hash.ts';
import type { ClusterFacts } from '../status/facts.ts';
import { leftBehindFactsOf, leftBehindIn } from '../status/left-behind.ts';
import { summarize } from '../status/summarize.ts';
import { assessClusters, type ClusterAssessment, nonEmptyShares } from './clusters/cluster-assessment.ts';
import { startClusterJob } from './clusters/cluster-job.ts';
import { hasWork, needsNoWrite } from './clusters/cluster-needs.ts';
import { mirroredVersionsOf, taskFor } from './clusters/cluster-task.ts';
import { taskForLostCluster } from './clusters/lost-clusters.ts';
import { decideRollout, mayWriteIn, type RolloutDecision } from './decide-rollout.ts';
import { openPrune } from './open-prune.ts';
import type { PassSnapshot, PlannedPropagation } from './pass-snapshot.ts';
import { isToRestoreFirst, restorePlaced } from './restore-placed.ts';
import { retryHubLater } from './retry-hub-later.ts';
import { rollBackAfterBreach } from './roll-back.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { type CurrentPlan, clusterStateOf, forgetFailures, rescheduleMsOf } from './state/propagation-state.ts';
import { factsOf } from './status-facts.ts';
import { writeStatus } from './write-status.ts';

/**
 * Carries out a plan, and returns when the next pass is due. If the plan is stale or refused, only restores copies of older generations and
 * writes the status. Otherwise:
 *
 * 1. `assessAndBegin` compares each cluster with the plan (its `needs`), and chooses the clusters that start.
 * 2. `saveDecision` saves the revision and the status on the hub, before this generation writes to a cluster. If it has saved them before,
 *    `saveReturn` saves which evictions this plan ends.
 * 3. `rollBackAfterBreach` restores the previous revision. Without a breach, it returns the snapshot unchanged.
 * 4. `saveLeftBehind` saves which copies `purge` Never will release. Skipped if there are none.
 * 5. `startJobs` starts a job for each started cluster with needs. The job (`clusters/cluster-job.ts`) runs a task
 *    (`clusters/cluster-task.ts`), which calls `applyCopies`.
 * 6. `restorePlaced` restores copies of older generations, where this generation may not write yet. This step may come before step 4.
 * 7. `finishPass` writes the status. The jobs may still be running.
 */
export async function actOnPlan(pass: Pass, planned: PlannedPropagation): Promise<PassResult> {
  const { state } = pass;
  const { verdict } = planned.plan;
  if (state.breachRollback !== undefined && isRestarted(planned.propagation, planned.spec)) state.begun.clear();
  const snapshot = assessAndBegin(pass, planned);
  if (verdict.result === 'stale' || verdict.result === 'refused')
    return await finishPass(pass, planned, await restorePlaced(pass, planned, snapshot));
  const save = isDecided(planned.propagation) ? saveReturn : saveDecision;
  const decided = await save(pass, planned, snapshot);
  if ('result' in decided) return decided;
  const now = { ...planned, propagation: decided };
  const after = await rollBackAfterBreach(pass, now, snapshot);
  if ('againMs' in after) return { result: 'passed', ...after };
  const isFirst = after.clusters.some(({ share }) => share?.entries.some((entry) => isToRestoreFirst(planned.plan, entry)));
  const kept = isFirst ? await restorePlaced(pass, now, after) : undefined;
  // Another process has saved the inventory since it was read. So the snapshot is void, and the next pass reads the inventory first.
  if (state.shares === undefined) return { result: 'passed', againMs: 0 };
  const recorded = await saveLeftBehind(pass, now, after);
  if ('result' in recorded) return recorded;
  const next = { ...now, propagation: recorded };
  if (after.rollback === undefined) startJobs(pass, next, after);
  return await finishPass(pass, next, kept ?? (await restorePlaced(pass, next, after)));
}

/**
 * Assesses the clusters, and decides which of them start. Records the started clusters in `state.begun` and forgets their failures. Then
 * assesses all clusters again, so that the started clusters have the stage `begun`. `startJobs` needs that stage.
 */
function assessAndBegin({ state, ports, drift }: Pass, { propagation, spec, plan }: PlannedPropagation): PassSnapshot {
  const nowMs = ports.clock.now();
  const correctsDrift = !isForOneGeneration(ports.accounts, spec);
  const scene = { members: ports.hub.members, state, propagation, spec, plan, correctsDrift, drift, nowMs };
  const assessments = assessClusters(scene);
  const rollout = decideRollout({ clusters: assessments, propagation, spec, plan, nowMs });
  const leftBehind = leftBehindFactsOf(ports.hub.members.objects, propagation);
  if (rollout.start.size === 0 || !mayAct(plan)) return { clusters: withSurge(assessments, rollout), rollout, leftBehind, nowMs };
  for (const { cluster, rendered } of assessments) {
    if (!rollout.start.has(cluster) || rendered === undefined) continue;
    state.begun.set(cluster, wantedHashOf(rendered.objects));
    forgetFailures(state, cluster);
  }
  return { clusters: withSurge(assessClusters(scene), rollout), rollout, leftBehind, nowMs };
}

function mayAct({ verdict }: CurrentPlan): boolean {
  return verdict.result === 'do' || verdict.result === 'holdPrune';
}

/** Adds the problem `SurgeHeld` to each cluster whose decrease is held, because the matching increase failed or a migration holds it. An existing problem stays. */
function withSurge(assessments: readonly ClusterAssessment[], { surge }: RolloutDecision): readonly ClusterAssessment[] {
  if (surge.held.length === 0) return assessments;
  const problem: ClusterFacts['problem'] = {
    reason: 'SurgeHeld',
    message: 'waits for a migration, or for replicas in other clusters that failed or timed out',
  };
  return assessments.map((assessment) =>
    surge.held.includes(assessment.cluster) ? { ...assessment, facts: { problem, ...assessment.facts } } : assessment,
  );
}

/**
 * Saves the decision on the hub: first the revision and then the status, because the status names the revision. If this generation goes
 * back to an older revision, marks the revisions between the two as rolled back. Returns the saved Propagation, or the result of the pass
 * if the hub did not save the decision.
 */
async function saveDecision(
  pass: Pass,
  { propagation, spec, plan }: PlannedPropagation,
  snapshot: PassSnapshot,
): Promise<Propagation | PassResult> {
  const { ports, term, state } = pass;
  if (!term.isLeading()) return { result: 'passed' };
  const { revision, digest } = plan;
  const requester = spec.requester?.user;
  const hadNoCopies = state.shares !== undefined && state.unreadable.length === 0 && nonEmptyShares(state).length === 0;
  const record = {
    revision,
    digest,
    document: documentWithoutRequester(spec),
    hadNoCopies,
    ...(requester === undefined ? {} : { requester }),
    ...(isForOneGeneration(ports.accounts, spec) ? { sources: hashOfSources(plan.sources) } : {}),
  };
  const kept = await ports.stores.revisions.record(propagation, record, term.signal);
  if (kept.result === 'failed') return { result: 'passed', ...retryHubLater(pass) };
  if (plan.rollback !== undefined) {
    const passed = { from: plan.rollback.targetRevision + 1, to: revision - 1, as: 'rolledBack' } as const;
    const marked = await ports.stores.revisions.markRange(propagation, passed, term.signal);
    if (marked.result === 'failed') return { result: 'passed', ...retryHubLater(pass) };
  }
  const saved = await saveStatus(pass, { propagation, spec, plan }, snapshot);
  if ('result' in saved) state.begun.clear();
  return saved;
}

/**
 * Saves the evictions that this plan ends, before a job writes to their clusters. Otherwise a process that starts after a crash would find
 * copies in a cluster that is still evicted, and would remove them. Does nothing if the plan ends none. Returns the Propagation, or the
 * result of the pass if the hub did not save them.
 */
async function saveReturn(pass: Pass, planned: PlannedPropagation, snapshot: PassSnapshot): Promise<Propagation | PassResult> {
  const { propagation, plan } = planned;
  const lasting = new Set(plan.evictions.map(({ cluster }) => cluster));
  const isEnding = propagation.status.evictions?.some(({ cluster }) => !lasting.has(cluster)) ?? false;
  return isEnding ? await saveStatus(pass, planned, snapshot) : propagation;
}

/**
 * Saves the copies that `purge` Never will release, before a job releases the first one: afterwards the inventory does not have them. Does
 * nothing if the status has all of them. Returns the Propagation, or the result of the pass if the hub did not save them.
 */
async function saveLeftBehind(pass: Pass, planned: PlannedPropagation, snapshot: PassSnapshot): Promise<Propagation | PassResult> {
  const { propagation, spec } = planned;
  if (spec.failover?.purge !== 'Never') return propagation;
  const { leftBehind, leftBehindUnrecorded = [] } = propagation.status;
  const known = new Set(leftBehind?.map(({ uid }) => uid));
  const { copies, unrecorded } = leftBehindIn(factsOf({ ...planned, unreadable: pass.state.unreadable, ...snapshot }));
  const isRecorded = copies.every(({ uid }) => known.has(uid)) && isDeepStrictEqual(unrecorded, leftBehindUnrecorded);
  return isRecorded ? propagation : await saveStatus(pass, planned, snapshot);
}

/** Returns the status of this pass, and records for the next decision about evictions which clusters have unhealthy copies. */
function statusIn({ state }: Pass, planned: PlannedPropagation, snapshot: PassSnapshot): PropagationStatus {
  const status = summarize(factsOf({ ...planned, unreadable: state.unreadable, ...snapshot }));
  const unhealthy = status.clusters?.filter(({ health }) => health === 'Unhealthy') ?? [];
  const before = state.seenUnhealthyMs;
  state.seenUnhealthyMs = new Map(unhealthy.map(({ cluster }) => [cluster, before.get(cluster) ?? snapshot.nowMs]));
  return status;
}

/** Writes the status at once. Returns the saved Propagation, or the result of the pass if the hub did not save the status. */
async function saveStatus(pass: Pass, planned: PlannedPropagation, snapshot: PassSnapshot): Promise<Propagation | PassResult> {
  const status = statusIn(pass, planned, snapshot);
  const written = await writeStatus(pass, { propagation: planned.propagation, status, urgency: 'blocking' });
  if (written.result === 'saved') return written.propagation;
  return { result: 'passed', ...(written.result === 'outdated' ? { againMs: 0 } : retryHubLater(pass)) };
}

/**
 * Starts a job in each cluster that has work, is not busy, may be written to, and whose retry is due. If the plan wants no copies in a
 * cluster, and the cluster has left the fleet or was abandoned, its job writes only to the hub (`taskForLostCluster`).
 */
function startJobs(pass: Pass, planned: PlannedPropagation, { clusters: assessments, rollout, nowMs }: PassSnapshot): void {
  const { state, ports } = pass;
  const { members } = ports.hub;
  const { propagation, spec, plan } = planned;
  const isHeld = plan.verdict.result !== 'do';
  for (const { cluster, share, facts, needs } of assessments) {
    const known = clusterStateOf(state, cluster);
    if (known.isBusy || known.retryAtMs > ports.clock.monotonic()) continue;
    const isAllowed = mayWriteIn(facts, rollout);
    const moved = isAllowed ? plan.rendered.leaving.find((one) => one.cluster === cluster && one.isMove === true)?.objects : undefined;
    const lost =
      facts.stage === 'leaving' && share !== undefined
        ? taskForLostCluster({ share, propagation, members, nowMs, isHeld, moved })
        : undefined;
    // Removals from a cluster that does not answer wait for its return.
    const isWaiting = moved !== undefined && facts.member?.phase === 'UNREACHABLE';
    const task = lost ?? (isAllowed && !isWaiting && hasWork(needs) ? taskFor(needs, facts.copies) : undefined);
    if (task === undefined) continue;
    const checkedVersions = mirroredVersionsOf(needs.correct, facts.copies);
    const { isPinned, revision, rollback } = plan;
    startClusterJob(pass, { cluster, propagation, spec, isPinned, revision, rollback, checkedVersions, task });
  }
}

/** True if the deletion of every confirmed copy has started. Later deletions need a confirmation of their own. */
function isPruneOver({ state, ports }: Pass, { verdict, rendered }: CurrentPlan): boolean {
  if (verdict.result !== 'do' || verdict.prune === undefined || state.shares === undefined) return false;
  return openPrune(rendered, state.shares, (cluster) => ports.hub.members.get(cluster) !== undefined).objects === 0;
}

/**
 * Writes the status, and returns when the next pass is due. Marks the plan as old once all deletions of a confirmed prune have started.
 */
async function finishPass(pass: Pass, planned: PlannedPropagation, snapshot: PassSnapshot): Promise<PassResult> {
  const { state } = pass;
  const status = statusIn(pass, planned, snapshot);
  recheckRoom(pass, planned, status);
  // Changed evictions are saved at once, so that the next pass does not decide the same return of a cluster again.
  const urgency = isSameEvictions(planned) ? 'usual' : 'urgent';
  const written = await writeStatus(pass, { propagation: planned.propagation, status, urgency });
  if (written.result === 'failed') return { result: 'passed', ...retryHubLater(pass) };
  if (isPruneOver(pass, planned.plan)) state.isPlanOld = true;
  const soonMs = written.result === 'later' ? written.ms : written.result === 'outdated' || state.isPlanOld ? 0 : undefined;
  return { result: 'passed', againMs: nextPassMs(pass, snapshot, soonMs) };
}

function isSameEvictions({ propagation, plan: { evictions, verdict } }: PlannedPropagation): boolean {
  return verdict.result === 'refused' || isDeepStrictEqual(evictions, propagation.status.evictions ?? []);
}

/**
 * Schedules the next plan while replicas are not ready, if the rules of KubeFed divide them. Pods that wait for room then get other
 * clusters. Jobs are left out, because their planner does not look at Pods.
 */
function recheckRoom({ state, ports: { clock } }: Pass, { spec, plan }: PlannedPropagation, { ready, placed }: PropagationStatus): void {
  if (!isDividedAsKubeFed(spec) || ready === undefined || placed === undefined || ready >= placed) return;
  if (!plan.rendered.clusters.some(({ objects }) => objects.some(({ desired }) => countFieldOf(desired) === 'replicas'))) return;
  state.replanAtMs = Math.min(state.replanAtMs, clock.monotonic() + roomRecheckMs);
}

/** Time after which each Propagation gets a pass even without a change, times a random factor in [0.9, 1.1). */
const resyncMs = 600_000;

/**
 * Delay of the pass that follows a write. By then each mirror has confirmed that it is up to date, so this pass can trust what the mirror
 * shows of that write.
 */
const mirrorConfirmedMs = 20_000;

/** Minimum delay of the next pass for a cluster that failed and cannot be retried yet. */
const minRetryMs = 1_000;

/** Returns the milliseconds until the next pass, if no change triggers a pass before. At most `soonMs`, if it is set. */
function nextPassMs({ state, ports }: Pass, { clusters: assessments, rollout, nowMs }: PassSnapshot, soonMs: number | undefined): number {
  const { clock } = ports;
  const times = [resyncMs * (0.9 + 0.2 * clock.random())];
  if (soonMs !== undefined) times.push(soonMs);
  const rescheduleMs = rescheduleMsOf(state);
  if (rescheduleMs !== undefined) times.push(Math.max(0, rescheduleMs - clock.now()));
  times.push(Math.max(0, state.replanAtMs - clock.monotonic()));
  if (rollout.waves.nextCheckAtMs !== undefined) times.push(Math.max(0, rollout.waves.nextCheckAtMs - nowMs));
  for (const { cluster, needs, share } of assessments) {
    const known = state.clusters.get(cluster);
    if (known === undefined || known.isBusy) continue;
    const retryInMs = known.retryAtMs - clock.monotonic();
    const isFailing = known.failures > 0 && (!needsNoWrite(needs) || share !== undefined);
    // If the retry is due and no job was started, the cluster waits for another event. That event triggers a pass. `minRetryMs` is only a
    // fallback, so that passes do not follow each other without a pause.
    if (isFailing && (retryInMs > 0 || !needsNoWrite(needs))) times.push(Math.max(minRetryMs, retryInMs));
    const sinceMs = nowMs - known.wroteAtMs;
    if (sinceMs < 2 * mirrorConfirmedMs) times.push(mirrorConfirmedMs);
  }
  return Math.min(...times);
}
