import type { Json, JsonObject } from '../../../core/json.ts';
import { numberAt } from '../../../core/json-at.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';

/** How many Pods a workload asks for. */
export interface WorkloadCount {
  /** Whole, ≥ 0. */
  readonly count: number;
  /** Of a Job that says how many are to succeed. */
  readonly completions?: number;
}

/** Where the count of a kind stands below `spec`; a kind that is not here has none of its own. */
const countFields: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': 'replicas',
  'apps/v1 StatefulSet': 'replicas',
  'apps/v1 ReplicaSet': 'replicas',
  'v1 ReplicationController': 'replicas',
  'batch/v1 Job': 'parallelism',
};

/**
 * The count of a workload: its replicas; of a Job as many as may run at once; of a Pod 1. What is absent counts as the API server defaults it: 1.
 * Undefined for what is no workload that can be divided, a DaemonSet among it.
 *
 * @param scalePath Where a kind that is not built in keeps its count, by its scale subresource: `['spec', 'replicas']`.
 */
export function workloadCountOf(manifest: JsonObject, scalePath?: readonly string[]): WorkloadCount | undefined {
  const field = countFieldOf(manifest);
  if (field === 'parallelism') return jobCountOf(manifest);
  if (field !== undefined) return { count: wholeAt(manifest, ['spec', field]) ?? 1 };
  if (manifest.apiVersion === 'v1' && manifest.kind === 'Pod') return { count: 1 };
  return scalePath === undefined ? undefined : { count: wholeAt(manifest, scalePath) ?? 1 };
}

/**
 * The manifest with that count, where its kind has one: otherwise the manifest itself. Completions are written where they are given. Members of the
 * result are shared with the manifest.
 *
 * @param scalePath As `workloadCountOf` takes it.
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

/** `replicas` or `parallelism`: the member of `spec` that is the count of this built-in kind. Undefined if it has none. */
export function countFieldOf({ apiVersion, kind }: JsonObject): string | undefined {
  const key = `${String(apiVersion)} ${String(kind)}`;
  return Object.hasOwn(countFields, key) ? countFields[key] : undefined;
}

/** More Pods than completions never run at once. */
function jobCountOf(job: JsonObject): WorkloadCount {
  const parallelism = wholeAt(job, ['spec', 'parallelism']) ?? 1;
  const completions = wholeAt(job, ['spec', 'completions']);
  return completions === undefined ? { count: parallelism } : { count: Math.min(parallelism, completions), completions };
}

function wholeAt(manifest: Json, path: readonly string[]): number | undefined {
  const found = numberAt(manifest, ...path);
  return found !== undefined && Number.isInteger(found) && found >= 0 ? found : undefined;
}
