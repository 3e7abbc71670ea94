import { conditionOf } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { numberAt, textAt, valueAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { type RolloutState, workloadRolloutOf } from '../../model/columns/rollout.ts';

/** The count that a workload must reach. */
interface ExpectedCount {
  /** The path of the count in the spec. Default: `spec.replicas`. */
  readonly countPath?: readonly string[] | undefined;
  /** The healthy replicas that are needed even if the spec has fewer. Default: 0. */
  readonly atLeast?: number | undefined;
}

/**
 * Returns the progress of a workload towards the replicas in its spec, and towards `atLeast`.
 *
 * - Deployments, StatefulSets and DaemonSets: as `kubectl rollout status` decides.
 * - Argo Rollouts: done when their controller calls the observed generation `Healthy` and all replicas are available. `Degraded` fails.
 * - Other kinds: done when the generation is observed, as many replicas are ready as the spec has, and no condition Ready, Available or
 *   Healthy is false. They never fail.
 */
export function workloadHealthOf(kind: GroupKind, object: JsonObject, { countPath, atLeast = 0 }: ExpectedCount = {}): RolloutState {
  const wanted = numberAt(object, ...(countPath ?? ['spec', 'replicas'])) ?? 1;
  const health = healthInSpec(kind, object, wanted);
  const healthy = healthyReplicasOf(kind, object);
  return health.phase === 'done' && healthy < atLeast ? progressing(`${healthy} of ${atLeast} replicas healthy`) : health;
}

function healthInSpec(kind: GroupKind, object: JsonObject, wanted: number): RolloutState {
  const known = workloadRolloutOf(kind, object);
  if (known !== undefined) return { phase: known.phase, message: known.message };
  return keyOfKind(kind) === 'Rollout.argoproj.io'
    ? healthOfArgoRollout(object, wanted)
    : healthOfCustomWorkload(object, { wanted, ready: healthyReplicasOf(kind, object) });
}

/** The counter of healthy replicas in the status, by kind. Status fields with the count 0 are left out. */
const counters: Readonly<Record<string, string>> = {
  'Deployment.apps': 'availableReplicas',
  'ReplicaSet.apps': 'availableReplicas',
  ReplicationController: 'availableReplicas',
  'Rollout.argoproj.io': 'availableReplicas',
  'StatefulSet.apps': 'readyReplicas',
  'DaemonSet.apps': 'numberAvailable',
};

/** The counters of other kinds. The first that is set counts. */
const otherCounters = ['availableReplicas', 'readyReplicas', 'replicas'];

/** Returns the number of healthy replicas in the status of a workload. */
export function healthyReplicasOf(kind: GroupKind, object: JsonObject): number {
  const known = counters[keyOfKind(kind)];
  const names = known === undefined ? otherCounters : [known];
  return names.map((name) => numberAt(object, 'status', name)).find((count) => count !== undefined) ?? 0;
}

function healthOfArgoRollout(object: JsonObject, wanted: number): RolloutState {
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  const observed = valueAt(object, 'status', 'observedGeneration');
  // Argo writes the generation as a text.
  if (String(observed) !== String(generation)) return progressing(`generation ${generation} is not observed yet`);
  const phase = textAt(object, 'status', 'phase') ?? 'unknown';
  if (phase === 'Degraded') return { phase: 'failed', message: 'its controller calls it Degraded' };
  const available = numberAt(object, 'status', 'availableReplicas') ?? 0;
  if (phase !== 'Healthy') return progressing(`its controller calls it ${phase}`);
  return available < wanted ? progressing(`${available} of ${wanted} replicas available`) : done(`${available} replicas available`);
}

/** The conditions of which none may be false. */
const healthConditions = ['Ready', 'Available', 'Healthy'];

function healthOfCustomWorkload(object: JsonObject, { wanted, ready }: { readonly wanted: number; readonly ready: number }): RolloutState {
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  const observed = valueAt(object, 'status', 'observedGeneration');
  if (observed !== undefined && Number(observed) < generation) return progressing(`generation ${generation} is not observed yet`);
  const refused = healthConditions.find((type) => conditionOf(object, type)?.status === 'False');
  if (refused !== undefined) return progressing(`its condition ${refused} is False`);
  return ready < wanted ? progressing(`${ready} of ${wanted} replicas ready`) : done(`${ready} replicas ready`);
}

function progressing(message: string): RolloutState {
  return { phase: 'progressing', message };
}

function done(message: string): RolloutState {
  return { phase: 'done', message };
}
