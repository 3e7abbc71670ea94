import { marks, type Propagation, type SpecProblem } from '../propagation.ts';
import type { PropagationSpec } from '../spec.ts';
import { actOnPlan } from './act-on-plan.ts';
import { cleanUp } from './clean-up.ts';
import { hubWait, type Wait } from './hub-wait.ts';
import { newestOf } from './newest.ts';
import { isDecided, planNow } from './plan-step.ts';
import type { Pass, PassResult } from './ports.ts';
import { loadShares } from './read-hub.ts';
import { refuse } from './refuse.ts';
import { type CurrentPlan, isBusy, turnOver } from './run.ts';
import { readAgain } from './write-status.ts';

/**
 * One pass over one Propagation: plans it if its generation has no plan yet or the plan is old, begins what is to be done in its clusters, and writes its
 * status. Waits for nothing that is done in a cluster: what is begun has the Propagation looked at again when it ends.
 *
 * It may be interrupted anywhere, by a crash too: what the hub holds then is enough to go on from.
 */
export async function reconcile(pass: Pass): Promise<PassResult> {
  const { run, ports, term } = pass;
  const read = ports.stores.propagations.read(run.place);
  if (read.result === 'absent') return { result: 'gone' };
  // Who waits for the mirror is told when it is read.
  if (read.result === 'unread' || !term.isLeading()) return { result: 'passed' };
  const propagation = newestOf(read.propagation, run.latest);
  run.latest = propagation;
  const { metadata, spec } = propagation;
  if (metadata.deletionTimestamp !== undefined) return await cleanUp(pass, propagation);
  if ('problems' in spec) return await refuse(pass, propagation, { message: textOf(spec.problems) });
  if (isUnasked(pass, spec))
    return await refuse(pass, propagation, { message: 'RequesterMissing: nobody asked for it, and it names no ServiceAccount' });
  if (spec.suspend.scheduling && !isDecided(propagation)) return await refuse(pass, propagation, 'suspended');
  const plan = await currentPlan(pass, propagation, spec);
  if ('againMs' in plan) return { result: 'passed', againMs: plan.againMs };
  // As of the last write of ours: the finalizer has moved its version on.
  return await actOnPlan(pass, { propagation: run.latest ?? propagation, spec, plan });
}

function textOf(problems: readonly SpecProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

/** Nobody's rights to act with: the gateway's own are not for that. */
function isUnasked({ ports }: Pass, { runAs, requester }: PropagationSpec): boolean {
  return ports.accounts === 'many' && runAs.type === 'requester' && requester === undefined;
}

/** The plan of this generation, made if need be. */
async function currentPlan(pass: Pass, propagation: Propagation, spec: PropagationSpec): Promise<CurrentPlan | Wait> {
  const { run, ports, term } = pass;
  const { uid, generation } = propagation.metadata;
  const isOther = run.plan !== undefined && (run.plan.uid !== uid || run.plan.generation !== generation);
  if (isOther) turnOver(run);
  const before = run.plan;
  if (before !== undefined && !run.isPlanOld && run.shares !== undefined && !isAnswered(before, propagation)) return before;
  // What is being written is not in the inventory yet, and a plan that does not know of it would leave it behind.
  if (run.shares === undefined && isBusy(run)) return { againMs: waitForWorkMs };
  const isReady = await readHub(pass, propagation, { isFirst: before === undefined });
  if (isReady !== 'ready') return isReady;
  run.isPlanOld = false;
  const plan = await planNow(ports, { run, propagation: run.latest ?? propagation, spec }, term.signal);
  if ('fault' in plan) return hubWait(pass);
  run.hubFailures = 0;
  if (before !== undefined) unmark(pass, { before, plan });
  run.plan = plan;
  return plan;
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
      return annotations[marks.confirmPrune] === propagation.status.digest;
    default:
      return verdict satisfies never;
  }
}

/** Live, as what is written by it must not be stale: the inventory always, the resource before its generation is planned for the first time here. */
async function readHub(pass: Pass, propagation: Propagation, { isFirst }: { readonly isFirst: boolean }): Promise<'ready' | Wait> {
  const { run } = pass;
  const { uid, generation, deletionTimestamp } = propagation.metadata;
  if (isFirst) {
    if (!(await readAgain(pass))) return hubWait(pass);
    const live = run.latest?.metadata;
    if (live?.uid !== uid || live.generation !== generation || live.deletionTimestamp !== deletionTimestamp) return { againMs: behindMs };
  }
  if (!(await loadShares(pass, propagation))) return hubWait(pass);
  return (await keepFinalizer(pass)) ? 'ready' : hubWait(pass);
}

/** It is there before the first copy is: else a deletion would not wait for us. */
async function keepFinalizer({ run, ports, term }: Pass): Promise<boolean> {
  if (run.latest === undefined || !term.isLeading()) return false;
  const written = await ports.stores.propagations.setFinalizer(run.latest, 'present', term.signal);
  if (written.result === 'written') run.latest = written.propagation;
  return written.result === 'written';
}

/** A mirror that is behind the hub by more than a moment tells so itself. */
const behindMs = 200;

/** Where something else is wanted than before, in the same generation, that goes through the waves too. */
function unmark({ run }: Pass, { before, plan }: { readonly before: CurrentPlan; readonly plan: CurrentPlan }): void {
  const hashes = new Map(before.rendered.clusters.map(({ chosen, objects }) => [chosen.cluster, hashOf(objects)]));
  for (const { chosen, objects } of plan.rendered.clusters) {
    const known = hashes.get(chosen.cluster);
    if (known === undefined || known === hashOf(objects)) continue;
    run.begun.delete(chosen.cluster);
    run.unmarked.add(chosen.cluster);
  }
}

function hashOf(objects: CurrentPlan['rendered']['clusters'][number]['objects']): string {
  return objects.map(({ desiredHash }) => desiredHash).join();
}
