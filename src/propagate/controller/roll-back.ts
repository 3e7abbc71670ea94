import { restoreCopies } from '../apply/restore-copies.ts';
import { keptRevisions, type RevisionRange } from '../hub/revision-store.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationRevision } from '../model/propagation.ts';
import { type PropagationSpec, parseSpec } from '../model/spec.ts';
import { isRemoval } from '../plan/held-prune.ts';
import { isBegunAnew } from '../rollout/resumption.ts';
import type { ClusterFacts } from '../status/facts.ts';
import { beginJob } from './clusters/cluster-job.ts';
import type { ClusterView } from './clusters/cluster-view.ts';
import { hubWait, type Wait } from './hub-wait.ts';
import type { Look, PlannedPropagation } from './pass-snapshot.ts';
import type { Pass } from './state/ports.ts';
import { clusterRunOf, type Restoring } from './state/propagation-state.ts';

/**
 * After a breach with `onFailure: Rollback`: takes back what this generation did, wave by wave from the last, and gives the look with that told in it. The
 * look as it is where there is nothing to take back. It stays so until somebody resumes, or the spec changes. The revision is known as taken back before
 * anything of it is, and stands again once somebody resumed. Where nobody knows what stood before, nothing is taken back, and the look says why.
 */
export async function rollBack(pass: Pass, planned: PlannedPropagation, look: Look): Promise<Look | Wait> {
  const { run } = pass;
  if (look.rollout.waves.breach?.action !== 'Rollback') {
    if (isBegunAnew(planned.propagation, planned.spec) && !(await mark(pass, planned, 'inEffect'))) return hubWait(pass);
    run.restoring = undefined;
    return look;
  }
  const restoring = await restoringNow(pass, planned);
  if (restoring === undefined) return hubWait(pass);
  if ('why' in restoring) return { ...look, rollback: 'done', notTakenBack: restoring.why };
  const views = look.views.map((view) => standingIn(view, restoring));
  const open = views.filter(({ facts }) => facts.standing === 'rollingBack');
  const known = open.filter(({ cluster }) => !restoring.unknown.has(cluster));
  const last = Math.max(...known.map(waveOf));
  for (const view of known) if (waveOf(view) === last) restore(pass, planned, { view, restoring });
  return { ...look, views, rollback: open.length === 0 ? 'done' : 'running' };
}

/** False if the hub does not do it. */
async function mark({ ports, term }: Pass, { propagation, plan }: PlannedPropagation, as: RevisionRange['as']): Promise<boolean> {
  if (!term.isLeading()) return false;
  const { revision } = plan;
  const marked = await ports.stores.revisions.markRange(propagation, { from: revision, to: revision, as }, term.signal);
  return marked.result === 'written';
}

/**
 * What is to be taken back, looked at again while any of it is not known. Where nothing is to be, the revision is not marked. Undefined if the hub does not
 * say.
 */
async function restoringNow(pass: Pass, planned: PlannedPropagation): Promise<Restoring | Unknown | undefined> {
  const { run } = pass;
  const known = run.restoring;
  if (known !== undefined && known.unknown.size === 0) return known;
  const found = await restoringOf(pass, planned);
  if (found === undefined || 'why' in found) return known ?? found;
  if (known === undefined && !(await mark(pass, planned, 'rolledBack'))) return undefined;
  run.restoring = { ...found, done: known?.done ?? found.done };
  return run.restoring;
}

type Unknown = Extract<Before, { readonly result: 'unknown' }>;

/** What the revision before would want now, and what was taken over since. Undefined if the hub does not say. */
async function restoringOf(
  { ports, run, term }: Pass,
  { propagation, plan }: PlannedPropagation,
): Promise<Restoring | Unknown | undefined> {
  const { revisions } = ports.stores;
  const { signal } = term;
  const kept = await revisions.list(propagation, signal);
  const old = await revisions.oldValues(propagation, plan.revision, signal);
  if ('fault' in kept || 'fault' in old) return undefined;
  const restoring: Restoring = { generation: plan.generation, wanted: new Map(), unknown: new Map(), old, done: new Set() };
  const before = beforeOf(kept, plan.revision);
  if (before.result === 'unknown') return before;
  if (before.result === 'nothing') return restoring;
  const { namespace, name, uid } = propagation.metadata;
  const { requester } = 'problems' in propagation.spec ? {} : propagation.spec;
  const { ok, clusters, notes } = await ports.planner.render({
    namespace,
    name,
    spec: { ...before.spec, ...(requester === undefined ? {} : { requester }) },
    purpose: 'keep',
    // From zero: what is there now is what is taken back.
    existing: { uid, status: {} },
    shares: [...(run.shares?.values() ?? [])],
    signal,
  });
  if (!ok) return { result: 'unknown', why: `revision ${before.revision} cannot be planned now: ${errorsIn(notes)}` };
  const wanted = clusters.map(({ chosen, objects }) => [chosen.cluster, objects.filter((object) => !isRemoval(object))] as const);
  const unknown = clusters.flatMap(({ chosen, fault }) => (fault === undefined ? [] : [[chosen.cluster, fault] as const]));
  return { ...restoring, wanted: new Map(wanted), unknown: new Map(unknown) };
}

function errorsIn(notes: readonly Note[]): string {
  return notes.flatMap(({ severity, message }) => (severity === 'ERROR' ? [message] : [])).join('; ');
}

/** What this generation began, or what the revision before wants: where neither holds, nothing was done. */
function standingIn(view: ClusterView, { wanted, unknown, done }: Restoring): ClusterView {
  const { facts, cluster } = view;
  const before = wanted.get(cluster);
  if (facts.standing !== 'begun' && before === undefined) return view;
  const standing: ClusterFacts['standing'] = done.has(cluster) ? 'restored' : 'rollingBack';
  const planned = { ...(facts.planned ?? { wave: 0 }), objects: before ?? [] };
  const fault = standing === 'restored' ? undefined : unknown.get(cluster);
  const trouble = fault === undefined ? {} : { trouble: { message: `what it had before is not known: ${fault.message}` } };
  return { ...view, facts: { ...facts, standing, planned, ...trouble } };
}

function waveOf({ facts }: ClusterView): number {
  return facts.planned?.wave ?? 0;
}

function restore(
  pass: Pass,
  { propagation, spec, plan }: PlannedPropagation,
  { view, restoring }: { readonly view: ClusterView; readonly restoring: Restoring },
): void {
  const { run, ports } = pass;
  const { cluster } = view;
  const known = clusterRunOf(run, cluster);
  if (known.isBusy || known.retryAtMs > ports.clock.monotonic()) return;
  const rendered = restoring.wanted.get(cluster) ?? [];
  const old = restoring.old.filter((values) => values.cluster === cluster);
  beginJob(pass, {
    cluster,
    propagation,
    spec,
    isPinned: false,
    revision: plan.revision,
    act: async (work, signal) => [await restoreCopies(work, { rendered, old }, signal)],
    onDone: () => restoring.done.add(cluster),
  });
}

/** What a breach goes back to. */
export type Before =
  | { readonly result: 'spec'; readonly revision: number; readonly spec: PropagationSpec }
  /** Nothing of ours stood anywhere: all that stands is of the revision itself. */
  | { readonly result: 'nothing' }
  /** `why` holds no values of specs. */
  | { readonly result: 'unknown'; readonly why: string };

/**
 * What stood before that revision, by what is kept of them, the newest first: the newest that was not gone back from. That none is kept says nothing of what
 * stood; neither does an older one where those between are lost. Pure.
 */
export function beforeOf(kept: readonly PropagationRevision[], revision: number): Before {
  const own = kept.find((one) => one.revision === revision);
  const before = kept.find((one) => one.revision < revision && !one.isRolledBack);
  if (before === undefined && own?.hadNoCopies === true) return { result: 'nothing' };
  if (before === undefined) return { result: 'unknown', why: `no revision before ${revision} is kept that was not gone back from` };
  const between = kept.filter((one) => one.revision > before.revision && one.revision < revision);
  // What is older than the last ten was dropped, and was gone back from.
  if (between.length < Math.min(revision - before.revision - 1, keptRevisions - 1))
    return { result: 'unknown', why: `not all revisions from ${before.revision} to ${revision} are kept` };
  const spec = parseSpec(before.document);
  if (!('problems' in spec)) return { result: 'spec', revision: before.revision, spec };
  const paths = spec.problems.map(({ path }) => path).join(', ');
  return { result: 'unknown', why: `revision ${before.revision} is no spec that can be read: ${paths}` };
}
