import { isDecided, marks, type Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import { actOnPlan } from './act-on-plan.ts';
import { cleanUp } from './clean-up.ts';
import { loadShares } from './load-shares.ts';
import { newestPropagation, withRecheck } from './newest-propagation.ts';
import { planGeneration } from './plan-generation.ts';
import { describeProblems, refuse } from './refuse.ts';
import { releaseAbandoned } from './release-abandoned.ts';
import { type NextPass, retryHubLater } from './retry-hub-later.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { type CurrentPlan, discardPlan, isBusy, rescheduleMsOf, retryAllNow } from './state/propagation-state.ts';
import { retryAfterMs } from './state/work-queue.ts';
import { updateEvictions } from './update-evictions.ts';
import { readAgain } from './write-status.ts';

/**
 * Runs one pass over one Propagation. The steps are:
 *
 * 1. Read the Propagation from the mirror.
 * 2. Delete the shares of abandoned clusters (`releaseAbandoned`).
 * 3. Decide which clusters are evicted (`updateEvictions`).
 * 4. Plan its generation, if there is no plan or the plan is old (`planGeneration`).
 * 5. Start work in the clusters and write the status (`actOnPlan`).
 *
 * A pass does not wait for the work in clusters. Each job triggers another pass when it ends. A pass may be interrupted anywhere, also by a
 * crash: the state on the hub is enough to continue.
 */
export async function reconcile(pass: Pass): Promise<PassResult> {
  return withEvictionCheck(pass, withRecheck(pass.state, await reconcileNow(pass)));
}

/** Bounds the delay of the next pass by the time at which an eviction may begin or end. */
function withEvictionCheck({ state: { evictions }, ports: { clock } }: Pass, passed: PassResult): PassResult {
  const atMs = evictions?.nextCheckAtMs;
  if (atMs === undefined || passed.result === 'gone') return passed;
  return { ...passed, againMs: Math.min(passed.againMs ?? Number.POSITIVE_INFINITY, Math.max(0, atMs - clock.now())) };
}

async function reconcileNow(pass: Pass): Promise<PassResult> {
  const { state, ports, term } = pass;
  const read = ports.stores.propagations.read(state.name);
  if (read.result === 'absent') return { result: 'gone' };
  // A pass follows when the mirror has been read.
  if (read.result === 'unread' || !term.isLeading()) return { result: 'passed' };
  const newest = await newestPropagation(pass, read.propagation);
  if ('result' in newest) return newest;
  state.latest = newest;
  const propagation = await releaseAbandoned(pass, newest);
  if ('againMs' in propagation) return { result: 'passed', againMs: propagation.againMs };
  const { metadata, spec } = propagation;
  const resumedAt = metadata.annotations[marks.resumedAt];
  if (state.resumedAt !== resumedAt) retryAllNow(state, ports.clock.monotonic());
  state.resumedAt = resumedAt;
  if (metadata.deletionTimestamp !== undefined) return await cleanUp(pass, propagation);
  if ('problems' in spec) return await refuse(pass, propagation, { message: describeProblems(spec.problems) });
  if (ports.accounts === 'many' && spec.requester === undefined) return await refuse(pass, propagation, { message: requesterMissing });
  if (spec.suspend.scheduling && !isDecided(propagation)) return await refuse(pass, propagation, 'suspended');
  const kept = await updateEvictions(pass, propagation, spec);
  if ('againMs' in kept) return { result: 'passed', againMs: kept.againMs };
  const plan = await currentPlan(pass, kept, spec);
  if ('againMs' in plan) return { result: 'passed', againMs: plan.againMs };
  // The latest version, because setting the finalizer has changed it.
  return await actOnPlan(pass, { propagation: state.latest ?? kept, spec, plan });
}

/**
 * Why a Propagation without a requester is refused if there are many accounts, whatever its `runAs`. With its own rights, the gateway could
 * write what the author may not. Without a requester, the right to act as a ServiceAccount cannot be checked either.
 */
const requesterMissing = 'RequesterMissing: expected `requester`: if you edit the spec without Muster, set it to your own user and groups';

/**
 * Returns the plan of this generation. Discards a plan of another generation. If there is no plan, or the plan is old, makes a new plan and
 * keeps it in the state. Returns the delay until the next pass if no plan can be made now.
 */
async function currentPlan(pass: Pass, propagation: Propagation, spec: PropagationSpec): Promise<CurrentPlan | NextPass> {
  const { state, ports, term } = pass;
  const { uid, generation } = propagation.metadata;
  const isOther = state.plan !== undefined && (state.plan.uid !== uid || state.plan.generation !== generation);
  if (isOther) discardPlan(state);
  const before = state.plan;
  if ((rescheduleMsOf(state) ?? Number.POSITIVE_INFINITY) <= ports.clock.now()) state.isPlanOld = true;
  if (before !== undefined && isWriteOver(state, before)) state.isPlanOld = true;
  if (ports.clock.monotonic() >= state.replanAtMs) state.isPlanOld = true;
  if (before !== undefined && !state.isPlanOld && state.shares !== undefined && !isAnswered(before, propagation)) return before;
  // Copies that are being written now are not in the inventory yet. A plan without them would leave them behind.
  if (state.shares === undefined && isBusy(state)) return { againMs: waitForWorkMs };
  const isReady = await readHub(pass, propagation, { isFirst: before === undefined });
  if (isReady !== 'ready') return isReady;
  state.isPlanOld = false;
  const plan = await planGeneration(ports, { state, propagation: state.latest ?? propagation, spec }, term.signal);
  if ('fault' in plan) return retryHubLater(pass);
  state.hubFailures = 0;
  // Another process saved the inventory in the meantime.
  if (state.shares === undefined) return { againMs: waitForWorkMs };
  scheduleReplan(pass, plan);
  state.plan = plan;
  return plan;
}

/** True if a write that was under way while the plan was made has ended. */
function isWriteOver({ clusters }: Pass['state'], { writingClusters }: CurrentPlan): boolean {
  return writingClusters.values().some((cluster) => clusters.get(cluster)?.isBusy !== true);
}

/**
 * Counts refused plans in a row, and schedules the next plan with a backoff of at most 5 min. A plan that does not write an object because
 * it would create a loop of Propagations (`Circle`) counts as refused. The cause may be removed without an event for the gateway.
 */
function scheduleReplan({ state, ports: { clock } }: Pass, { verdict, rendered }: CurrentPlan): void {
  const isInCircle = rendered.clusters.some(({ objects }) => objects.some(({ held }) => held === 'Circle'));
  state.refusals = verdict.result === 'refused' || isInCircle ? state.refusals + 1 : 0;
  state.replanAtMs = state.refusals === 0 ? Number.POSITIVE_INFINITY : clock.monotonic() + retryAfterMs(state.refusals, clock.random());
}

/**
 * Delay of the next pass if the inventory must be read again before a plan is made. A running job usually ends earlier and triggers a pass.
 * The delay is a fallback for a job that does not end when its signal aborts.
 */
const waitForWorkMs = 1_000;

/** True if a user has done what the plan waits for: confirmed the prune, or requested another digest. */
function isAnswered({ verdict }: CurrentPlan, propagation: Propagation): boolean {
  const { annotations } = propagation.metadata;
  switch (verdict.result) {
    case 'do':
    case 'refused':
      return false;
    case 'stale':
      return annotations[marks.planDigest] !== verdict.requested;
    case 'holdPrune':
      return annotations[marks.confirmPrune] === propagation.status.prune?.digest;
    default:
      return verdict satisfies never;
  }
}

/**
 * Prepares the hub for a plan. Reads the inventory live, unless the state has it. If `isFirst`, also reads the Propagation live. Then sets
 * the finalizer of Muster. The reads are live because writes must not depend on a stale mirror.
 *
 * Returns the delay until the next pass if a request fails, or if the Propagation differs from the mirrored one.
 */
async function readHub(pass: Pass, propagation: Propagation, { isFirst }: { readonly isFirst: boolean }): Promise<'ready' | NextPass> {
  const { state } = pass;
  const { uid, generation, deletionTimestamp } = propagation.metadata;
  if (isFirst) {
    if (!(await readAgain(pass))) return retryHubLater(pass);
    const live = state.latest?.metadata;
    if (live?.uid !== uid || live.generation !== generation || live.deletionTimestamp !== deletionTimestamp) return { againMs: behindMs };
  }
  if (!(await loadShares(pass, propagation))) return retryHubLater(pass);
  return (await ensureFinalizer(pass)) ? 'ready' : retryHubLater(pass);
}

/**
 * Sets the finalizer of Muster, before the first copy exists. Without it, a deletion of the Propagation would not wait for its copies. False
 * if the hub did not save the finalizer, or if this process does not lead.
 */
async function ensureFinalizer({ state, ports, term }: Pass): Promise<boolean> {
  if (state.latest === undefined || !term.isLeading()) return false;
  const written = await ports.stores.propagations.setFinalizer(state.latest, 'present', term.signal);
  if (written.result === 'written') state.latest = written.propagation;
  return written.result === 'written';
}

/** Delay of the next pass if the mirror does not have the latest Propagation of the hub yet. It repeats until the mirror has it. */
const behindMs = 200;
