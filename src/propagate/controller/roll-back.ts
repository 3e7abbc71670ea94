import { restoreCopies } from '../apply/restore-copies.ts';
import { keptRevisions, type RevisionRange } from '../hub/revision-store.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationRevision } from '../model/propagation.ts';
import { type PropagationSpec, parseSpec } from '../model/spec.ts';
import { isRemoval } from '../plan/held-prune.ts';
import { hashOfSources, isForOneGeneration } from '../plan/snapshot/frozen-sources.ts';
import { isRestarted } from '../rollout/resumption.ts';
import type { ClusterFacts } from '../status/facts.ts';
import type { ClusterAssessment } from './clusters/cluster-assessment.ts';
import { startClusterJob } from './clusters/cluster-job.ts';
import type { PassSnapshot, PlannedPropagation } from './pass-snapshot.ts';
import { type NextPass, retryHubLater } from './retry-hub-later.ts';
import type { Pass } from './state/ports.ts';
import { type BreachRollback, clusterStateOf } from './state/propagation-state.ts';

/**
 * Rolls this generation back after a breach with `onFailure: Rollback`, wave by wave from the last to the first. Returns the snapshot with
 * the progress of the rollback. Without such a breach, returns the snapshot unchanged. If the hub does not answer, returns the delay until
 * the next pass.
 *
 * The rollback stays in effect until a user resumes the Propagation or changes its spec. The revision is marked as rolled back before the
 * first copy is restored, and marked as in effect again after a resume. If the previous state is unknown, no copy is changed, and the
 * snapshot says why.
 */
export async function rollBackAfterBreach(
  pass: Pass,
  planned: PlannedPropagation,
  snapshot: PassSnapshot,
): Promise<PassSnapshot | NextPass> {
  const { state } = pass;
  if (snapshot.rollout.waves.breach?.action !== 'Rollback') {
    if (isRestarted(planned.propagation, planned.spec) && !(await markRevision(pass, planned, 'inEffect'))) return retryHubLater(pass);
    state.breachRollback = undefined;
    return snapshot;
  }
  const restoring = await currentRollback(pass, planned);
  if (restoring === undefined) return retryHubLater(pass);
  if ('why' in restoring) return { ...snapshot, rollback: 'done', whyNotRolledBack: restoring.why };
  const assessments = snapshot.clusters.map((assessment) => withStage(assessment, restoring));
  const open = assessments.filter(({ facts }) => facts.stage === 'rollingBack');
  const known = open.filter(({ cluster }) => !restoring.unknown.has(cluster));
  const last = Math.max(...known.map(waveOf));
  for (const assessment of known) if (waveOf(assessment) === last) restorePrevious(pass, planned, { assessment, restoring });
  return { ...snapshot, clusters: assessments, rollback: open.length === 0 ? 'done' : 'running' };
}

/** Marks the revision of the plan on the hub as rolled back or as in effect. False if the hub refuses, or if this process does not lead. */
async function markRevision({ ports, term }: Pass, { propagation, plan }: PlannedPropagation, as: RevisionRange['as']): Promise<boolean> {
  if (!term.isLeading()) return false;
  const { revision } = plan;
  const marked = await ports.stores.revisions.markRange(propagation, { from: revision, to: revision, as }, term.signal);
  return marked.result === 'written';
}

/**
 * Returns the rollback that is under way. If there is none, starts one: marks the revision on the hub as rolled back and keeps the rollback
 * in `state`. While the previous state of a cluster is unknown, computes the rollback again. If the previous revision is unknown, starts
 * nothing and returns the reason. Undefined if the hub does not answer.
 */
async function currentRollback(pass: Pass, planned: PlannedPropagation): Promise<BreachRollback | UnknownRevision | undefined> {
  const { state } = pass;
  const known = state.breachRollback;
  if (known !== undefined && known.unknown.size === 0) return known;
  const found = await rollbackFor(pass, planned);
  if (found === undefined || 'why' in found) return known ?? found;
  if (known === undefined && !(await markRevision(pass, planned, 'rolledBack'))) return undefined;
  state.breachRollback = { ...found, doneClusters: known?.doneClusters ?? found.doneClusters };
  return state.breachRollback;
}

type UnknownRevision = Extract<PreviousRevision, { readonly result: 'unknown' }>;

/**
 * Computes the rollback: the objects that the previous revision would place now, and the old values of objects that this generation took
 * over. Undefined if the hub does not answer.
 */
async function rollbackFor(
  { ports, state, term }: Pass,
  { propagation, plan }: PlannedPropagation,
): Promise<BreachRollback | UnknownRevision | undefined> {
  const { revisions } = ports.stores;
  const { signal } = term;
  const kept = await revisions.list(propagation, signal);
  const old = await revisions.oldValues(propagation, plan.revision, signal);
  if ('fault' in kept || 'fault' in old) return undefined;
  const restoring: BreachRollback = {
    generation: plan.generation,
    wanted: new Map(),
    unknown: new Map(),
    oldValues: old,
    doneClusters: new Set(),
  };
  const before = previousRevisionOf(kept, plan.revision);
  if (before.result === 'unknown') return before;
  if (before.result === 'nothing') return restoring;
  const { namespace, name, uid } = propagation.metadata;
  const { requester } = 'problems' in propagation.spec ? {} : propagation.spec;
  const spec = { ...before.spec, ...(requester === undefined ? {} : { requester }) };
  const { ok, clusters, notes, contents } = await ports.planner.render({
    namespace,
    name,
    spec,
    purpose: 'keep',
    // Planned as if no copy existed, because the existing copies are the ones to roll back.
    existing: { uid, status: {} },
    shares: [...(state.shares?.values() ?? [])],
    signal,
  });
  if (!ok) return { result: 'unknown', why: `revision ${before.revision} cannot be planned now: ${errorsIn(notes)}` };
  if (isForOneGeneration(ports.accounts, spec) && before.sources !== hashOfSources(contents ?? []))
    return { result: 'unknown', why: `an object that revision ${before.revision} refers to or depends on has changed since` };
  const wanted = clusters.map(({ chosen, objects }) => [chosen.cluster, objects.filter((object) => !isRemoval(object))] as const);
  const unknown = clusters.flatMap(({ chosen, fault }) => (fault === undefined ? [] : [[chosen.cluster, fault] as const]));
  return { ...restoring, wanted: new Map(wanted), unknown: new Map(unknown) };
}

function errorsIn(notes: readonly Note[]): string {
  return notes.flatMap(({ severity, message }) => (severity === 'ERROR' ? [message] : [])).join('; ');
}

/**
 * Returns the assessment with the stage `rollingBack`, or `restored` once the cluster is rolled back. The planned objects become those of the
 * previous revision.
 *
 * Returns the assessment unchanged if this generation was not started in the cluster and the previous revision has no copies there.
 */
function withStage(assessment: ClusterAssessment, { wanted, unknown, doneClusters: done }: BreachRollback): ClusterAssessment {
  const { facts, cluster } = assessment;
  const before = wanted.get(cluster);
  if (facts.stage !== 'begun' && before === undefined) return assessment;
  const stage: ClusterFacts['stage'] = done.has(cluster) ? 'restored' : 'rollingBack';
  const planned = { ...(facts.planned ?? { wave: 0 }), objects: before ?? [] };
  const fault = stage === 'restored' ? undefined : unknown.get(cluster);
  const problem = fault === undefined ? {} : { problem: { message: `its previous state is unknown: ${fault.message}` } };
  return { ...assessment, facts: { ...facts, stage, planned, ...problem } };
}

function waveOf({ facts }: ClusterAssessment): number {
  return facts.planned?.wave ?? 0;
}

function restorePrevious(
  pass: Pass,
  { propagation, spec, plan }: PlannedPropagation,
  { assessment, restoring }: { readonly assessment: ClusterAssessment; readonly restoring: BreachRollback },
): void {
  const { state, ports } = pass;
  const { cluster } = assessment;
  const known = clusterStateOf(state, cluster);
  if (known.isBusy || known.retryAtMs > ports.clock.monotonic()) return;
  const rendered = restoring.wanted.get(cluster) ?? [];
  const old = restoring.oldValues.filter((values) => values.cluster === cluster);
  startClusterJob(pass, {
    cluster,
    propagation,
    spec,
    isPinned: false,
    revision: plan.revision,
    task: async (work, signal) => [await restoreCopies(work, { rendered, oldValues: old }, signal)],
    onDone: () => restoring.doneClusters.add(cluster),
  });
}

/** The revision to which a breach is rolled back. */
export type PreviousRevision =
  /** `sources`: see `PropagationRevision.sources`. */
  | { readonly result: 'spec'; readonly revision: number; readonly spec: PropagationSpec; readonly sources: string | undefined }
  /** No copy existed before the revision that is rolled back. So all its copies are deleted. */
  | { readonly result: 'nothing' }
  /** The revision is not known, for the reason `why`. The text holds no values of specs. */
  | { readonly result: 'unknown'; readonly why: string };

/**
 * Finds the revision before `revision` among the kept revisions, which are sorted from newest to oldest. Skips revisions that were rolled
 * back. Pure.
 *
 * The result is unknown if no earlier revision is kept, or if revisions between the two are missing.
 */
export function previousRevisionOf(kept: readonly PropagationRevision[], revision: number): PreviousRevision {
  const own = kept.find((one) => one.revision === revision);
  const before = kept.find((one) => one.revision < revision && !one.isRolledBack);
  if (before === undefined && own?.hadNoCopies === true) return { result: 'nothing' };
  if (before === undefined) return { result: 'unknown', why: `no revision before ${revision} is kept that was not rolled back` };
  const between = kept.filter((one) => one.revision > before.revision && one.revision < revision);
  // Only the last ten revisions are kept. An older revision that is missing was dropped, and had been rolled back.
  if (between.length < Math.min(revision - before.revision - 1, keptRevisions - 1))
    return { result: 'unknown', why: `not all revisions from ${before.revision} to ${revision} are kept` };
  const spec = parseSpec(before.document);
  if (!('problems' in spec)) return { result: 'spec', revision: before.revision, spec, sources: before.sources };
  const paths = spec.problems.map(({ path }) => path).join(', ');
  return { result: 'unknown', why: `revision ${before.revision} has an invalid spec: ${paths}` };
}
