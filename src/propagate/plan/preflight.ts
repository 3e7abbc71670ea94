import { describeFault } from '../../changes/describe-fault.ts';
import type { AccessReview } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import { objectTextOf } from '../../core/indexed-path.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationPlan, RenderedObject, RenderedPlan } from '../model/plan.ts';
import type { WriteMode } from '../model/spec.ts';
import { preflightNote } from './refusal-notes.ts';
import type { PlannerPorts, PlanRequest } from './snapshot/plan-request.ts';

/**
 * Checks whether each cluster can carry out the plan and undo it (docs/internals/propagation.md 5.5). Sends access reviews to the clusters.
 *
 * An obstacle is a cluster that does not answer, an object in conflict or refused, or a missing right for the plan or its undoing. Returns
 * one note per cluster and obstacle. An empty list means that the plan can start.
 *
 * @param plan The plan with the results of its dry runs.
 */
export async function preflightNotes(
  ports: PlannerPorts,
  request: PlanRequest,
  { rendered, plan }: { readonly rendered: RenderedPlan; readonly plan: PropagationPlan },
): Promise<readonly Note[]> {
  const work = [...rendered.clusters.map(({ chosen, objects }) => ({ cluster: chosen.cluster, objects })), ...rendered.leaving];
  const reviewed = await Promise.all(work.map(({ cluster, objects }) => reviewCluster(ports, request, { cluster, objects })));
  request.signal.throwIfAborted();
  const obstacles = plan.clusters
    .filter(({ rendered: chosen }) => chosen !== undefined)
    .flatMap(({ cluster, fault, objects }) => {
      if (fault !== undefined) return [preflightNote(cluster, describeFault(fault))];
      return objects.flatMap((object) =>
        object.fault === undefined ? [] : [preflightNote(cluster, `${objectTextOf(object.key)}: ${object.fault.message}`)],
      );
    });
  return [...obstacles, ...reviewed.flat()];
}

interface ClusterWork {
  readonly cluster: ClusterName;
  readonly objects: readonly RenderedObject[];
}

async function reviewCluster(
  { members, clientOf }: PlannerPorts,
  { spec, signal }: PlanRequest,
  { cluster, objects }: ClusterWork,
): Promise<readonly Note[]> {
  const client = clientOf(cluster, spec);
  // A cluster that has left the fleet gets no calls and blocks nothing.
  if (client === undefined) return [];
  const reviews = new Map<string, AccessReview>();
  for (const { key, action } of objects) {
    const resource = members.objects.served(cluster, key);
    if (resource === undefined || resource === 'absent') continue;
    for (const verb of verbsOf(action, spec.write)) {
      const review = { resource, namespace: resource.namespaced ? key.namespace : undefined, verb };
      reviews.set(JSON.stringify([resource.group, resource.resource, review.namespace ?? null, verb]), review);
    }
  }
  const answers = await Promise.all([...reviews.values()].map(async (review) => ({ review, allowed: await client.may(review, signal) })));
  return answers.flatMap(({ review, allowed }) => (allowed === true ? [] : [preflightNote(cluster, obstacleOf(review, allowed))]));
}

function obstacleOf({ verb, resource, namespace }: AccessReview, allowed: false | { readonly fault: Fault }): string {
  const what = `${verb} ${resource.resource}${namespace === undefined ? '' : ` in ${namespace}`}`;
  return allowed === false ? `not allowed to ${what}` : `the check for permission to ${what} failed: ${describeFault(allowed.fault)}`;
}

/** Returns the rights that a write and its undoing need. */
function verbsOf(action: RenderedObject['action'], write: WriteMode): readonly AccessReview['verb'][] {
  switch (action) {
    case 'CREATE':
      return ['get', 'create', 'patch', 'delete'];
    case 'UPDATE':
    case 'ADOPT':
      return write === 'Replace' ? ['get', 'update', 'patch'] : ['get', 'patch'];
    case 'DELETE':
      return ['get', 'create', 'patch', 'delete'];
    case 'RELEASE':
      return ['get', 'patch'];
    case 'UNCHANGED':
    case 'HOLD':
      return [];
    default:
      return action satisfies never;
  }
}
