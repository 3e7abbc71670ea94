import type { Fault } from '../core/faults.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { numberAt, valueAt } from '../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { ObjectAddress, ObjectCallResult, ObjectClient, Preconditions, RunMode } from './object-client.ts';

const restartable: ReadonlySet<string> = new Set(['Deployment.apps', 'StatefulSet.apps', 'DaemonSet.apps']);

/** The annotation of the pod template with which `kubectl rollout restart` replaces all Pods. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

/**
 * Returns the patch that restarts a workload, for the same kinds and in the same way as kubectl. Returns a fault for other kinds and for a
 * paused Deployment.
 */
export function restartPatch({
  kind,
  cluster,
  before,
  at,
}: {
  readonly kind: GroupKind;
  readonly cluster: ClusterName;
  readonly before: KubernetesObject | undefined;
  readonly at: Date;
}): { readonly patch: JsonObject } | { readonly fault: Fault } {
  const about = { code: 'INVALID', cluster, kind: { group: kind.group, kind: kind.kind }, retry: 'NEVER' } as const;
  if (!restartable.has(keyOfKind(kind))) {
    return { fault: { ...about, message: `expected a Deployment, a StatefulSet or a DaemonSet, got ${keyOfKind(kind)}` } };
  }
  if (valueAt(before, 'spec', 'paused') === true) {
    return { fault: { ...about, message: 'expected a Deployment that is not paused: resume it first' } };
  }
  // Like kubectl, writes an RFC 3339 time to the second.
  const time = `${at.toISOString().slice(0, 19)}Z`;
  return { patch: { spec: { template: { metadata: { annotations: { [restartedAt]: time } } } } } };
}

/** One change of a replica count. */
interface Scaling {
  readonly client: ObjectClient;
  readonly address: ObjectAddress;
  readonly run: RunMode;
  readonly replicas: number;
  readonly before: KubernetesObject | undefined;
  readonly preconditions: Preconditions;
}

/**
 * Sets the replica count through the subresource `scale`, like kubectl. Callers then need only the right for that subresource. Returns the
 * changed workload, which is read again for a real write. Without `before`, the caller may not read the workload, so the result is the
 * `Scale` object of the answer.
 */
export async function scaleWorkload(
  { client, address, run, replicas, before, preconditions }: Scaling,
  signal: AbortSignal,
): Promise<ObjectCallResult> {
  const { uid, resourceVersion } = preconditions;
  const guards = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const patch: Json = { ...(Object.keys(guards).length === 0 ? {} : { metadata: guards }), spec: { replicas } };
  const answer = await client.patch({ ...address, type: 'merge', patch, subresource: 'scale', run }, signal);
  if (answer.result !== 'answered' || before === undefined) return answer;
  if (run === 'dry') return { ...answer, isNew: false, object: withReplicas(before, replicas) };
  const after = await client.get(address, signal);
  return after.result === 'answered' ? { ...after, isNew: false, warnings: answer.warnings } : after;
}

/** Returns the object with the new count. If its kind keeps the count at another path than `spec.replicas`, the object stays unchanged. */
function withReplicas(object: KubernetesObject, replicas: number): KubernetesObject {
  const { spec } = object;
  return numberAt(object, 'spec', 'replicas') === undefined || !isJsonObject(spec) ? object : { ...object, spec: { ...spec, replicas } };
}
