import { isDecided, marks, type Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import { actOnPlan } from './act-on-plan.ts';
import { cleanUp } from './clean-up.ts';
import { loadShares } from './load-shares.ts';
import { newestPropagation, withRecheck } from './newest-propagation.ts';
import { planGeneration } from './plan-generation.ts';
import { describeProblems, refuse } from './refuse.ts';
import { type NextPass, retryHubLater } from './retry-hub-later.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { type CurrentPlan, discardPlan, isBusy, rescheduleMsOf, retryAllNow } from './state/propagation-state.ts';
import { retryAfterMs } from './state/work-queue.ts';
import { readAgain } from './write-status.ts';

/**
 * One pass over one Propagation: plans it if its generation has no plan yet or the plan is old, begins what is to be done in its clusters, and writes its
 * status. Waits for nothing that is done in a cluster: what is begun has the Propagation looked at again when it ends.
 *
 * It may be interrupted anywhere, by a crash too: what the hub holds then is enough to go on from.
 */
export async function reconcile(pass: Pass): Promise<PassResult> {
  return withRecheck(pass.state, await reconcileNow(pass));
}

async function reconcileNow(pass: Pass): Promise<PassResult> {
  const { state, ports, term } = pass;
  const read = ports.stores.propagations.read(state.name);
  if (read.result === 'absent') return { result: 'gone' };
  // Who waits for the mirror is told when it is read.
  if (read.result === 'unread' || !term.isLeading()) return { result: 'passed' };
  const propagation = await newestPropagation(pass, read.propagation);
  if ('result' in propagation) return propagation;
  state.latest = propagation;
  const { metadata, spec } = propagation;
  const resumedAt = metadata.annotations[marks.resumedAt];
  if (state.resumedAt !== resumedAt) retryAllNow(state, ports.clock.monotonic());
  state.resumedAt = resumedAt;
  if (metadata.deletionTimestamp !== undefined) return await cleanUp(pass, propagation);
  if ('problems' in spec) return await refuse(pass, propagation, { message: describeProblems(spec.problems) });
  if (isWithoutRequester(pass, spec))
    return await refuse(pass, propagation, { message: 'RequesterMissing: nobody asked for it, and it names no ServiceAccount' });
  if (spec.suspend.scheduling && !isDecided(propagation)) return await refuse(pass, propagation, 'suspended');
  const plan = await currentPlan(pass, propagation, spec);
  if ('againMs' in plan) return { result: 'passed', againMs: plan.againMs };
  // As of the last write of ours: the finalizer has moved its version on.
  return await actOnPlan(pass, { propagation: state.latest ?? propagation, spec, plan });
}

/** Nobody's rights to act with: the gateway's own are not for that. */
function isWithoutRequester({ ports }: Pass, { runAs, requester }: PropagationSpec): boolean {
  return ports.accounts === 'many' && runAs.type === 'requester' && requester === undefined;
}

/** The plan of this generation, made if need be. */
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
  // What is being written is not in the inventory yet, and a plan that does not know of it would leave it behind.
  if (state.shares === undefined && isBusy(state)) return { againMs: waitForWorkMs };
  const isReady = await readHub(pass, propagation, { isFirst: before === undefined });
  if (isReady !== 'ready') return isReady;
  state.isPlanOld = false;
  const plan = await planGeneration(ports, { state, propagation: state.latest ?? propagation, spec }, term.signal);
  if ('fault' in plan) return retryHubLater(pass);
  state.hubFailures = 0;
  // It turned out to be another's meanwhile.
  if (state.shares === undefined) return { againMs: waitForWorkMs };
  keepRetry(pass, plan);
  state.plan = plan;
  return plan;
}

/** True if a write that was under way while the plan was made has ended. */
function isWriteOver({ clusters }: Pass['state'], { writingClusters: duringWrite }: CurrentPlan): boolean {
  return duringWrite.values().some((cluster) => clusters.get(cluster)?.isBusy !== true);
}

/** Plans again what was refused or is held by a circle, at the latest every 5 min. The cause may be removed without an event for the gateway. */
function keepRetry({ state, ports: { clock } }: Pass, { verdict, rendered }: CurrentPlan): void {
  const isInCircle = rendered.clusters.some(({ objects }) => objects.some(({ held }) => held === 'Circle'));
  state.refusals = verdict.result === 'refused' || isInCircle ? state.refusals + 1 : 0;
  state.replanAtMs = state.refusals === 0 ? Number.POSITIVE_INFINITY : clock.monotonic() + retryAfterMs(state.refusals, clock.random());
}

/** Work that is ended by its signal ends at once, and says so; this is for what is stuck. */
const waitForWorkMs = 1_000;

/** What somebody was to confirm, or was to ask for in another way, has been. */
function isAnswered({ verdict }: CurrentPlan, propagation: Propagation): boolean {
  const { annotations } = propagation.metadata;
  switch (verdict.result) {
    case 'do':
    case 'refused':
      return false;
    case 'stale':
      return annotations[marks.planDigest] !== verdict.asked;
    case 'holdPrune':
      return annotations[marks.confirmPrune] === propagation.status.prune?.digest;
    default:
      return verdict satisfies never;
  }
}

/** Live, as what is written by it must not be stale: the inventory always, the resource before its generation is planned for the first time here. */
async function readHub(pass: Pass, propagation: Propagation, { isFirst }: { readonly isFirst: boolean }): Promise<'ready' | NextPass> {
  const { state } = pass;
  const { uid, generation, deletionTimestamp } = propagation.metadata;
  if (isFirst) {
    if (!(await readAgain(pass))) return retryHubLater(pass);
    const live = state.latest?.metadata;
    if (live?.uid !== uid || live.generation !== generation || live.deletionTimestamp !== deletionTimestamp) return { againMs: behindMs };
  }
  if (!(await loadShares(pass, propagation))) return retryHubLater(pass);
  return (await keepFinalizer(pass)) ? 'ready' : retryHubLater(pass);
}

/** It is there before the first copy is: else a deletion would not wait for us. */
async function keepFinalizer({ state, ports, term }: Pass): Promise<boolean> {
  if (state.latest === undefined || !term.isLeading()) return false;
  const written = await ports.stores.propagations.setFinalizer(state.latest, 'present', term.signal);
  if (written.result === 'written') state.latest = written.propagation;
  return written.result === 'written';
}

/** A mirror that is behind the hub by more than a moment tells so itself. */
const behindMs = 200;
