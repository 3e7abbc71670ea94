import { conditionOf } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { numberAt, textAt, valueAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { type RolloutState, workloadRolloutOf } from '../../model/columns/rollout.ts';

/**
 * Returns the progress of a workload towards the replicas in its spec.
 *
 * - Deployments, StatefulSets and DaemonSets: as `kubectl rollout status` decides.
 * - Argo Rollouts: done when their controller calls the observed generation `Healthy` and all replicas are available. `Degraded` fails.
 * - Other kinds: done when the generation is observed, as many replicas are ready as the spec has, and no condition Ready, Available or
 *   Healthy is false. They never fail.
 */
export function workloadHealthOf(kind: GroupKind, object: JsonObject): RolloutState {
  const known = workloadRolloutOf(kind, object);
  if (known !== undefined) return { phase: known.phase, message: known.message };
  return keyOfKind(kind) === 'Rollout.argoproj.io' ? healthOfArgoRollout(object) : healthOfCustomWorkload(object);
}

/** Returns the replicas that the spec of a workload has. Default of Kubernetes: 1. */
function specReplicasOf(object: JsonObject): number {
  return numberAt(object, 'spec', 'replicas') ?? 1;
}

function healthOfArgoRollout(object: JsonObject): RolloutState {
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  const observed = valueAt(object, 'status', 'observedGeneration');
  // Argo writes the generation as a text.
  if (String(observed) !== String(generation)) return progressing(`generation ${generation} is not observed yet`);
  const phase = textAt(object, 'status', 'phase') ?? 'unknown';
  if (phase === 'Degraded') return { phase: 'failed', message: 'its controller calls it Degraded' };
  const [wanted, available] = [specReplicasOf(object), numberAt(object, 'status', 'availableReplicas') ?? 0];
  if (phase !== 'Healthy') return progressing(`its controller calls it ${phase}`);
  return available < wanted ? progressing(`${available} of ${wanted} replicas available`) : done(`${available} replicas available`);
}

/** The conditions of which none may be false. */
const healthConditions = ['Ready', 'Available', 'Healthy'];

/** The counters of a status, the first of which that is set is compared. */
const readyCounters = ['availableReplicas', 'readyReplicas', 'replicas'];

function healthOfCustomWorkload(object: JsonObject): RolloutState {
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  const observed = valueAt(object, 'status', 'observedGeneration');
  if (observed !== undefined && Number(observed) < generation) return progressing(`generation ${generation} is not observed yet`);
  const refused = healthConditions.find((type) => conditionOf(object, type)?.status === 'False');
  if (refused !== undefined) return progressing(`its condition ${refused} is False`);
  const wanted = specReplicasOf(object);
  const ready = readyCounters.map((counter) => numberAt(object, 'status', counter)).find((count) => count !== undefined) ?? 0;
  return ready < wanted ? progressing(`${ready} of ${wanted} replicas ready`) : done(`${ready} replicas ready`);
}

function progressing(message: string): RolloutState {
  return { phase: 'progressing', message };
}

function done(message: string): RolloutState {
  return { phase: 'done', message };
}
