import { abandonedOf, printAbandoned } from '../hub/abandoned.ts';
import { isDecided, marks, type Propagation } from '../model/propagation.ts';
import { documentWithoutRequester } from '../model/spec.ts';
import { isBegunAnew } from '../rollout/resumption.ts';
import { wantedHashOf } from '../rollout/wanted-hash.ts';
import type { ClusterFacts } from '../status/facts.ts';
import { summarize } from '../status/summarize.ts';
import { beginJob } from './clusters/cluster-job.ts';
import { isAtRest, isDue } from './clusters/cluster-needs.ts';
import { type ClusterView, holding, viewsOf } from './clusters/cluster-view.ts';
import { actOn, versionsOf } from './clusters/cluster-work.ts';
import { actOnLost } from './clusters/lost-clusters.ts';
import { hubWait } from './hub-wait.ts';
import { isToRestoreFirst, keepPlaced } from './keep-placed.ts';
import type { Look, PlannedPropagation } from './pass-snapshot.ts';
import { openPrune } from './prune-to-confirm.ts';
import { rollBack } from './roll-back.ts';
import { decideRollout, mayBegin, type RolloutDecision } from './rollout-step.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { type CurrentPlan, clusterRunOf, forgetFailures, rescheduleMsOf } from './state/propagation-state.ts';
import { factsOf } from './status-facts.ts';
import { writeStatus } from './write-status.ts';

/**
 * Decides what is next and begins it. What a generation decided stands on the hub, as revision and in the status, before anything is written by it; after
 * that, what is done comes before what is told.
 */
export async function actOnPlan(pass: Pass, planned: PlannedPropagation): Promise<PassResult> {
  const { run } = pass;
  const { verdict } = planned.plan;
  if (run.restoring !== undefined && isBegunAnew(planned.propagation, planned.spec)) run.begun.clear();
  const look = lookAt(pass, planned);
  if (verdict.result === 'stale' || verdict.result === 'refused') return await tell(pass, planned, await keepPlaced(pass, planned, look));
  const decided = isDecided(planned.propagation) ? planned.propagation : await saveDecision(pass, planned, look);
  if ('result' in decided) return decided;
  const now = { ...planned, propagation: decided };
  const restored = await rollBack(pass, now, look);
  if ('againMs' in restored) return { result: 'passed', ...restored };
  const isFirst = restored.views.some(({ share }) => share?.entries.some((entry) => isToRestoreFirst(planned.plan, entry)));
  const kept = isFirst ? await keepPlaced(pass, now, restored) : undefined;
  // The inventory turned out to be another's meanwhile: nothing that was seen holds, and it is read again first.
  if (run.shares === undefined) return { result: 'passed', againMs: 0 };
  if (restored.rollback === undefined) begin(pass, now, restored);
  return await tell(pass, now, kept ?? (await keepPlaced(pass, now, restored)));
}

function lookAt({ run, ports, drift }: Pass, { propagation, spec, plan }: PlannedPropagation): Look {
  const nowMs = ports.clock.now();
  const isKept = ports.accounts === 'one' || spec.runAs.type === 'serviceAccount';
  const scene = { members: ports.hub.members, run, propagation, spec, plan, isKept, drift, nowMs };
  const views = viewsOf(scene);
  const rollout = decideRollout({ views, propagation, spec, plan, nowMs });
  if (rollout.start.size === 0 || !mayBeDone(plan)) return { views: withSurge(views, rollout), rollout, nowMs };
  for (const { cluster, rendered } of views) {
    if (!rollout.start.has(cluster) || rendered === undefined) continue;
    run.begun.set(cluster, wantedHashOf(rendered.objects));
    forgetFailures(run, cluster);
  }
  return { views: withSurge(viewsOf(scene), rollout), rollout, nowMs };
}

function mayBeDone({ verdict }: CurrentPlan): boolean {
  return verdict.result === 'do' || verdict.result === 'holdPrune';
}

/** A decrease whose increase failed says that it is held by that. */
function withSurge(views: readonly ClusterView[], { surge }: RolloutDecision): readonly ClusterView[] {
  if (surge.held.length === 0) return views;
  const trouble: ClusterFacts['trouble'] = { reason: 'SurgeHeld', message: 'waits for replicas elsewhere that failed or ran out of time' };
  return views.map((view) => (surge.held.includes(view.cluster) ? { ...view, facts: { trouble, ...view.facts } } : view));
}

/** The revision first: a status that names it must not be wrong. */
async function saveDecision(pass: Pass, { propagation, spec, plan }: PlannedPropagation, look: Look): Promise<Propagation | PassResult> {
  const { ports, term, run } = pass;
  if (!term.isLeading()) return { result: 'passed' };
  const { revision, digest } = plan;
  const requester = spec.requester?.user;
  const hadNoCopies = run.shares !== undefined && run.unreadable.length === 0 && holding(run).length === 0;
  const record = {
    revision,
    digest,
    document: documentWithoutRequester(spec),
    hadNoCopies,
    ...(requester === undefined ? {} : { requester }),
  };
  const kept = await ports.stores.revisions.record(propagation, record, term.signal);
  if (kept.result === 'failed') return { result: 'passed', ...hubWait(pass) };
  if (plan.goingBack !== undefined) {
    const passed = { from: plan.goingBack.to + 1, to: revision - 1, as: 'rolledBack' } as const;
    const marked = await ports.stores.revisions.markRange(propagation, passed, term.signal);
    if (marked.result === 'failed') return { result: 'passed', ...hubWait(pass) };
  }
  const status = summarize(factsOf({ propagation, spec, plan, unreadable: run.unreadable, ...look }));
  const written = await writeStatus(pass, { propagation, status, urgency: 'urgent' });
  if (written.result === 'saved') return written.propagation;
  run.begun.clear();
  return { result: 'passed', ...(written.result === 'outdated' ? { againMs: 0 } : hubWait(pass)) };
}

function begin(pass: Pass, planned: PlannedPropagation, { views, rollout, nowMs }: Look): void {
  const { run, ports } = pass;
  const { members } = ports.hub;
  const { propagation, spec, plan } = planned;
  const isHeld = plan.verdict.result !== 'do';
  for (const { cluster, share, facts, needs } of views) {
    const known = clusterRunOf(run, cluster);
    if (known.isBusy || known.retryAtMs > ports.clock.monotonic()) continue;
    const lost =
      facts.standing === 'leaving' && share !== undefined ? actOnLost({ share, propagation, members, nowMs, isHeld }) : undefined;
    const act = lost ?? (mayBegin(facts, rollout) && isDue(needs) ? actOn(needs, facts.copies) : undefined);
    if (act === undefined) continue;
    const asked = versionsOf(needs.correct, facts.copies);
    const { isPinned, revision, goingBack } = plan;
    beginJob(pass, { cluster, propagation, spec, isPinned, revision, goingBack, asked, act });
  }
}

/** All that was confirmed is on its way: it needs no confirmation any more, and what else goes from now on needs its own. */
function isPruneOver({ run, ports }: Pass, { verdict, rendered }: CurrentPlan): boolean {
  if (verdict.result !== 'do' || verdict.prune === undefined || run.shares === undefined) return false;
  return openPrune(rendered, run.shares, (cluster) => ports.hub.members.get(cluster) !== undefined).objects === 0;
}

async function tell(pass: Pass, planned: PlannedPropagation, look: Look): Promise<PassResult> {
  const { run } = pass;
  const status = summarize(factsOf({ ...planned, unreadable: run.unreadable, ...look }));
  const written = await writeStatus(pass, { propagation: planned.propagation, status, urgency: 'usual' });
  if (written.result === 'failed') return { result: 'passed', ...hubWait(pass) };
  if (written.result === 'saved') await tidyAbandoned(pass, written.propagation);
  if (isPruneOver(pass, planned.plan)) run.isPlanOld = true;
  const soonMs = written.result === 'later' ? written.ms : written.result === 'outdated' || run.isPlanOld ? 0 : undefined;
  return { result: 'passed', againMs: nextLookMs(pass, look, soonMs) };
}

/**
 * Takes those out of the annotation of which nothing is left, given up or taken back: it stands there for as long as it means something. Written under the
 * version that was read, so that nobody's words are lost; if somebody else wrote, the next pass does it.
 */
async function tidyAbandoned({ run, ports, term }: Pass, propagation: Propagation): Promise<void> {
  const { shares } = run;
  const asked = abandonedOf(propagation);
  const open = asked.filter(({ cluster, share }) =>
    [...(shares?.values() ?? [])].some((one) => one.cluster === cluster && one.uid === share),
  );
  if (shares === undefined || open.length === asked.length || !term.isLeading()) return;
  const written = await ports.stores.propagations.annotateUnchanged(propagation, { [marks.abandon]: printAbandoned(open) }, term.signal);
  if (written.result === 'written') run.latest = written.propagation;
}

/** Every Propagation is looked at again after so long, whatever is heard: times a random factor in [0.9, 1.1). */
const resyncMs = 600_000;

/** Mirrors are known to be true as of after a write within so long: then what they say of it is believed. */
const heardWithinMs = 20_000;

/** What failed, and cannot be begun again yet, is looked at no more often than this. */
const leastMs = 1_000;

/** After how many milliseconds there is something to look at again, if nothing is heard until then. `soonMs`: at the latest. */
function nextLookMs({ run, ports }: Pass, { views, rollout, nowMs }: Look, soonMs: number | undefined): number {
  const { clock } = ports;
  const times = [resyncMs * (0.9 + 0.2 * clock.random())];
  if (soonMs !== undefined) times.push(soonMs);
  const rescheduleMs = rescheduleMsOf(run);
  if (rescheduleMs !== undefined) times.push(Math.max(0, rescheduleMs - clock.now()));
  times.push(Math.max(0, run.replanAtMs - clock.monotonic()));
  if (rollout.waves.nextCheckAtMs !== undefined) times.push(Math.max(0, rollout.waves.nextCheckAtMs - nowMs));
  for (const { cluster, needs, share } of views) {
    const known = run.clusters.get(cluster);
    if (known === undefined || known.isBusy) continue;
    const retryInMs = known.retryAtMs - clock.monotonic();
    const isFailing = known.failures > 0 && (!isAtRest(needs) || share !== undefined);
    // Where its time has come, and nothing was begun, it waits for something else: that is heard, and asked about now and then, not in every turn.
    if (isFailing && (retryInMs > 0 || !isAtRest(needs))) times.push(Math.max(leastMs, retryInMs));
    const sinceMs = nowMs - known.wroteAtMs;
    if (sinceMs < 2 * heardWithinMs) times.push(heardWithinMs);
  }
  return Math.min(...times);
}
