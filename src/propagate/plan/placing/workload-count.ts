import type { Json, JsonObject } from '../../../core/json.ts';
import { numberAt } from '../../../core/json-at.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';
import type { PropagationSpec } from '../../model/spec.ts';

/** The count of a workload: the number of Pods that it runs at once. */
export interface WorkloadCount {
  /** Whole, ≥ 0. */
  readonly count: number;
  /** The completions of a Job. Absent for other workloads, and for Jobs without completions. */
  readonly completions?: number;
}

/** The field of `spec` with the count, by kind. Kinds that are not listed have no such field. */
const countFields: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': 'replicas',
  'apps/v1 StatefulSet': 'replicas',
  'apps/v1 ReplicaSet': 'replicas',
  'v1 ReplicationController': 'replicas',
  'batch/v1 Job': 'parallelism',
};

/**
 * Returns the count of a workload: `replicas`, or 1 for a Pod. For a Job, it is the parallelism, but at most the completions. An absent field
 * counts as 1, the default of the API server. Undefined for objects that cannot be divided, such as a DaemonSet.
 *
 * @param scalePath The path of the count of a custom kind, from its scale subresource: `['spec', 'replicas']`.
 */
export function workloadCountOf(manifest: JsonObject, scalePath?: readonly string[]): WorkloadCount | undefined {
  const field = countFieldOf(manifest);
  if (field === 'parallelism') return jobCountOf(manifest);
  if (field !== undefined) return { count: wholeAt(manifest, ['spec', field]) ?? 1 };
  if (manifest.apiVersion === 'v1' && manifest.kind === 'Pod') return { count: 1 };
  return scalePath === undefined ? undefined : { count: wholeAt(manifest, scalePath) ?? 1 };
}

/**
 * Returns the count of a workload that the plan sets or divides. Undefined for objects without a count. With the rules of Karmada, these
 * include ReplicationControllers: Karmada copies them unchanged.
 */
export function plannedCountOf(manifest: JsonObject, { exact }: Pick<PropagationSpec, 'exact'>): WorkloadCount | undefined {
  const isCopied = exact?.system === 'Karmada' && manifest.kind === 'ReplicationController';
  return isCopied ? undefined : workloadCountOf(manifest);
}

/**
 * Returns the manifest with this count, and with the completions if they are given. Returns the manifest itself if its kind has no count.
 * The result shares unchanged members with the manifest.
 *
 * @param scalePath The path of the count of a custom kind, as for `workloadCountOf`.
 */
export function withWorkloadCount<T extends JsonObject>(
  manifest: T,
  { count, completions }: WorkloadCount,
  scalePath?: readonly string[],
): T {
  const field = countFieldOf(manifest);
  const path = field === undefined ? scalePath : ['spec', field];
  if (path === undefined) return manifest;
  const counted = withValueAt(manifest, path, count);
  return completions === undefined || field !== 'parallelism' ? counted : withValueAt(counted, ['spec', 'completions'], completions);
}

/** Returns the field of `spec` with the count of a built-in kind: `replicas` or `parallelism`. Undefined if the kind has none. */
export function countFieldOf({ apiVersion, kind }: JsonObject): string | undefined {
  const key = `${String(apiVersion)} ${String(kind)}`;
  return Object.hasOwn(countFields, key) ? countFields[key] : undefined;
}

/**
 * Returns the number of Pods that a workload asks for: `replicas`, or the parallelism of a Job, which may be larger than its completions. An
 * absent field counts as 1.
 */
export function wantedPodsOf(manifest: JsonObject): number {
  const field = countFieldOf(manifest);
  return field === undefined ? 1 : (wholeAt(manifest, ['spec', field]) ?? 1);
}

/** Reads the count of a Job: its parallelism, at most its completions, because no more Pods run at once. */
function jobCountOf(job: JsonObject): WorkloadCount {
  const parallelism = wantedPodsOf(job);
  const completions = wholeAt(job, ['spec', 'completions']);
  return completions === undefined ? { count: parallelism } : { count: Math.min(parallelism, completions), completions };
}

function wholeAt(manifest: Json, path: readonly string[]): number | undefined {
  const found = numberAt(manifest, ...path);
  return found !== undefined && Number.isInteger(found) && found >= 0 ? found : undefined;
}
