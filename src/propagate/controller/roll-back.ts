import type { ClusterName } from '../../core/names.ts';
import { restoreCopies } from '../copies/restore-copies.ts';
import type { RevisionRange } from '../hub/revision-store.ts';
import { isRemoval } from '../planner/held-prune.ts';
import { isBegunAnew } from '../rollout/resumption.ts';
import { parseSpec } from '../spec/parse-spec.ts';
import type { ClusterFacts } from '../status/facts.ts';
import { beginJob } from './cluster-job.ts';
import type { ClusterView } from './cluster-view.ts';
import { hubWait, type Wait } from './hub-wait.ts';
import type { Look, PlannedPropagation } from './look.ts';
import type { Pass } from './ports.ts';
import { clusterRunOf, type Restoring } from './run.ts';

/**
 * After a breach with `onFailure: Rollback`: takes back what this generation did, wave by wave from the last, and gives the look with that told in it. The
 * look as it is where there is nothing to take back. It stays so until somebody resumes, or the spec changes. The revision is known as taken back before
 * anything of it is, and stands again once somebody resumed.
 */
export async function rollBack(pass: Pass, planned: PlannedPropagation, look: Look): Promise<Look | Wait> {
  const { run } = pass;
  if (look.rollout.waves.breach?.action !== 'Rollback') {
    if (isBegunAnew(planned.propagation, planned.spec) && !(await mark(pass, planned, 'standing'))) return hubWait(pass);
    run.restoring = undefined;
    return look;
  }
  const restoring = run.restoring ?? ((await mark(pass, planned, 'takenBack')) ? await restoringOf(pass, planned) : undefined);
  if (restoring === undefined) return hubWait(pass);
  run.restoring = restoring;
  const views = look.views.map((view) => standingIn(view, restoring));
  const open = views.filter(({ facts }) => facts.standing === 'rollingBack');
  const last = Math.max(...open.map(waveOf));
  for (const view of open) if (waveOf(view) === last) restore(pass, planned, { view, restoring });
  return { ...look, views, rollback: open.length === 0 ? 'done' : 'running' };
}

/** False if the hub does not do it. */
async function mark({ ports, term }: Pass, { propagation, plan }: PlannedPropagation, as: RevisionRange['as']): Promise<boolean> {
  if (!term.isLeading()) return false;
  const { revision } = plan;
  const marked = await ports.stores.revisions.mark(propagation, { from: revision, to: revision, as }, term.signal);
  return marked.result === 'written';
}

/** What the revision before would want now, and what was taken over since. Undefined if the hub does not say. */
async function restoringOf({ ports, run, term }: Pass, { propagation, plan }: PlannedPropagation): Promise<Restoring | undefined> {
  const { revisions } = ports.stores;
  const { signal } = term;
  const kept = await revisions.list(propagation, signal);
  const old = await revisions.oldValues(propagation, plan.revision, signal);
  if ('fault' in kept || 'fault' in old) return undefined;
  const before = kept.find(({ revision, isTakenBack }) => revision < plan.revision && !isTakenBack);
  const spec = before === undefined ? undefined : parseSpec(before.document);
  const wanted: Restoring['wanted'] = new Map();
  const restoring = { generation: plan.generation, wanted, old, done: new Set<ClusterName>() };
  if (spec === undefined || 'problems' in spec) return restoring;
  const { namespace, name, uid } = propagation.metadata;
  const { requester } = planSpecOf(propagation);
  const rendered = await ports.planner.render({
    namespace,
    name,
    spec: { ...spec, ...(requester === undefined ? {} : { requester }) },
    purpose: 'keep',
    // From zero: what is there now is what is taken back.
    existing: { uid, status: {} },
    shares: [...(run.shares?.values() ?? [])],
    signal,
  });
  const objects = rendered.clusters.map(
    (cluster) => [cluster.chosen.cluster, cluster.objects.filter((object) => !isRemoval(object))] as const,
  );
  return { ...restoring, wanted: new Map(objects) };
}

function planSpecOf({ spec }: PlannedPropagation['propagation']) {
  return 'problems' in spec ? { requester: undefined } : spec;
}

/** What this generation began, or what the revision before wants: where neither holds, nothing was done. */
function standingIn(view: ClusterView, { wanted, done }: Restoring): ClusterView {
  const { facts, cluster } = view;
  const before = wanted.get(cluster);
  if (facts.standing !== 'begun' && before === undefined) return view;
  const standing: ClusterFacts['standing'] = done.has(cluster) ? 'restored' : 'rollingBack';
  const planned = { ...(facts.planned ?? { wave: 0 }), objects: before ?? [] };
  return { ...view, facts: { ...facts, standing, planned } };
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
