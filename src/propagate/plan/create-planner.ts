import type { ClusterName } from '../../core/names.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { PropagationPlan, RenderedObject, RenderedPlan } from '../model/plan.ts';
import { type DryRun, dryRunCluster } from './dry-run.ts';
import { uniqueNotes, withStrictSeverity } from './plan-notes.ts';
import type { Planner } from './planner.ts';
import { portsSeenBy } from './ports-seen-by.ts';
import { preflightNotes } from './preflight.ts';
import { refusalNotes } from './refusal-notes.ts';
import { renderPlaced } from './render-placed.ts';
import { renderPlan } from './render-plan.ts';
import { type DryRuns, showPlan } from './show-plan.ts';
import { gatherSnapshot } from './snapshot/gather-snapshot.ts';
import type { PlannerPorts, PlanRequest } from './snapshot/plan-request.ts';
import { type PlanSnapshot, withLiveObjects } from './snapshot/snapshot.ts';

/** Creates the planner of a gateway. It has no state: each request reads its own snapshot. */
export function createPlanner(ports: PlannerPorts): Planner {
  return {
    async render(request) {
      const seen = await portsSeenBy(ports, request);
      return renderPlan(await gatherSnapshot(seen, request), seen);
    },
    renderPlaced: (request) => renderPlaced(ports, request),
    plan: async (request) =>
      plan(await portsSeenBy(ports, request), request, request.spec.rollout.onFailure === 'Rollback' ? 'with preflight' : 'without'),
    preflight: async (request) => plan(await portsSeenBy(ports, request), request, 'with preflight'),
  };
}

async function plan(ports: PlannerPorts, request: PlanRequest, extent: 'with preflight' | 'without'): Promise<PropagationPlan> {
  const withDryRuns = await renderWithDryRuns(ports, request, await gatherSnapshot(ports, request));
  const { snapshot, rendered, answers } = withDryRuns;
  const notes = [...rendered.notes, ...withStrictSeverity(snapshot, refusalNotes(snapshot, answers))];
  const shown = showPlan({ snapshot, rendered, answers, notes, uid: request.existing?.uid }, ports);
  if (extent === 'without') return shown;
  const obstacles = await preflightNotes(ports, request, { rendered, plan: shown });
  return { ...shown, ok: shown.ok && obstacles.length === 0, notes: uniqueNotes([...notes, ...obstacles]) };
}

interface PlanWithDryRuns {
  readonly snapshot: PlanSnapshot;
  readonly rendered: RenderedPlan;
  readonly answers: DryRuns;
}

/**
 * Renders the plan and sends a dry run for each object that it would write. A dry run that finds an outdated mirror returns the object as
 * read live. The whole plan is then rendered again with these objects, and only their dry runs are sent again, once.
 */
async function renderWithDryRuns(ports: PlannerPorts, request: PlanRequest, gathered: PlanSnapshot): Promise<PlanWithDryRuns> {
  const first = renderPlan(gathered, ports);
  const answers = await dryRunClusters(ports, request, { snapshot: gathered, rendered: first, isOfInterest: () => true });
  const behind = staleObjectsIn(answers);
  if (behind.size === 0) return { snapshot: gathered, rendered: first, answers };
  const snapshot = [...behind].reduce((sofar, [cluster, fresh]) => withLiveObjects(sofar, cluster, fresh), gathered);
  const rendered = renderPlan(snapshot, ports);
  const isOfInterest = (cluster: ClusterName, { key }: RenderedObject) => behind.get(cluster)?.has(textOfKey(key)) === true;
  const again = await dryRunClusters(ports, request, { snapshot, rendered, isOfInterest });
  return { snapshot, rendered, answers: mergeDryRuns(answers, behind, again) };
}

interface DryRunSelection {
  readonly snapshot: PlanSnapshot;
  readonly rendered: RenderedPlan;
  readonly isOfInterest: (cluster: ClusterName, object: RenderedObject) => boolean;
}

async function dryRunClusters(
  ports: PlannerPorts,
  request: PlanRequest,
  { snapshot, rendered, isOfInterest }: DryRunSelection,
): Promise<DryRuns> {
  const shares = new Map(snapshot.clusters.map(({ cluster, share }) => [cluster.name, share]));
  const answers = await Promise.all(
    rendered.clusters.map(async ({ chosen: { cluster }, objects }): Promise<[string, ReadonlyMap<string, DryRun>]> => {
      const question = { cluster, objects: objects.filter((object) => isOfInterest(cluster, object)), share: shares.get(cluster) };
      return [cluster, await dryRunCluster(ports, request, question)];
    }),
  );
  return new Map(answers);
}

function staleObjectsIn(answers: DryRuns): ReadonlyMap<string, ReadonlyMap<string, MirroredObject>> {
  const stale = [...answers].map(([cluster, of]): [string, ReadonlyMap<string, MirroredObject>] => {
    return [cluster, new Map([...of].flatMap(([text, answer]) => (answer.result === 'stale' ? [[text, answer.live]] : [])))];
  });
  return new Map(stale.filter(([, fresh]) => fresh.size > 0));
}

/**
 * Returns the answers of both rounds of dry runs. For the objects in `behind`, whose mirrors were outdated, only the second answers count.
 * Such an object has no answer if the new plan does not write it.
 */
function mergeDryRuns(before: DryRuns, behind: ReadonlyMap<string, ReadonlyMap<string, unknown>>, again: DryRuns): DryRuns {
  const clusters = [...before].map(([cluster, of]): [string, ReadonlyMap<string, DryRun>] => {
    const kept = [...of].filter(([text]) => behind.get(cluster)?.has(text) !== true);
    return [cluster, new Map([...kept, ...(again.get(cluster) ?? [])])];
  });
  return new Map(clusters);
}
