import { numberAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { plannedCountOf, type WorkloadCount } from './placing/workload-count.ts';
import { type CopyRenderer, createCopyRenderer, type RenderedCopy } from './render-copies.ts';
import { gatherSnapshot } from './snapshot/gather-snapshot.ts';
import type { PlacedRequest, PlannerPorts } from './snapshot/plan-request.ts';
import type { PlanSnapshot, SnapshotCluster } from './snapshot/snapshot.ts';

/** The largest replica count that is tried for a divided workload. */
const maxReplicas = 1_000;

/**
 * Renders the copies that a spec placed in each cluster, as they were written last. Returns a copy only if its manifest has the hash in the
 * inventory. So a copy is missing if another spec placed it, or if its template or dependency has changed since.
 *
 * The hash proves the match, so clusters are not chosen again and replicas are not divided again. Divided replica counts are found by
 * trial: first the counts in the mirror, then every count up to the maximum.
 */
export async function renderPlaced(
  ports: PlannerPorts,
  request: PlacedRequest,
): Promise<ReadonlyMap<ClusterName, readonly RenderedObject[]>> {
  const snapshot = await gatherSnapshot(ports, { ...request, purpose: 'keep' });
  const copiesOf = createCopyRenderer(snapshot, ports.listRulesOf);
  return new Map(snapshot.clusters.map((entry) => [entry.cluster.name, placedIn(snapshot, entry, copiesOf)]));
}

function placedIn(snapshot: PlanSnapshot, entry: SnapshotCluster, copiesOf: CopyRenderer): readonly RenderedObject[] {
  const open = new Map(entry.share?.entries.map((one) => [textOfKey(one.key), one]));
  const workloads = workloadsIn(snapshot);
  const found: RenderedObject[] = [];
  for (const counts of countsToTry(snapshot, entry, workloads)) {
    const rendered = copiesOf({ entry, counts });
    if (rendered.result === 'failed') break;
    for (const copy of rendered.copies) {
      if (!isWrittenAs(open.get(copy.keyText), copy)) continue;
      found.push(objectOf(copy));
      open.delete(copy.keyText);
    }
    if (!workloads.some(({ text }) => open.has(text))) break;
  }
  return inWriteOrder(found);
}

function isWrittenAs(entry: InventoryEntry | undefined, { hash }: RenderedCopy): boolean {
  return entry !== undefined && (entry.state === 'Owned' || entry.state === 'Shared') && entry.appliedHash === hash;
}

function objectOf({ key, manifest, hash, secretOf, leftPaths, overriding }: RenderedCopy): RenderedObject {
  return { key, action: 'UNCHANGED', desired: manifest, desiredHash: hash, predicted: false, secretOf, leftPaths, overriding };
}

interface Workload extends WorkloadCount {
  readonly index: number;
  readonly text: string;
}

function workloadsIn({ spec, templates }: PlanSnapshot): readonly Workload[] {
  return templates.flatMap(({ manifest }, index): readonly Workload[] => {
    const workload = plannedCountOf(manifest, spec);
    if (workload === undefined) return [];
    return [{ ...workload, index, text: textOfKey(keyOfManifest(manifest)), count: spec.replicas.total ?? workload.count }];
  });
}

/**
 * Yields the counts to try, by index in `PlanSnapshot.templates`. Each copy is compared alone, so one try can give the same count to all
 * divided workloads.
 */
function* countsToTry(
  { spec }: PlanSnapshot,
  { live }: SnapshotCluster,
  workloads: readonly Workload[],
): Generator<ReadonlyMap<number, WorkloadCount>> {
  const asOf = (countOf: (workload: Workload) => number) =>
    new Map(
      workloads.map((workload): [number, WorkloadCount] => {
        const { index, completions } = workload;
        return [index, completions === undefined ? { count: countOf(workload) } : { count: countOf(workload), completions }];
      }),
    );
  if (spec.replicas.mode !== 'Divided') return yield asOf(({ count }) => count);
  yield asOf(({ text, count }) => {
    const copy = live.get(text);
    return (copy?.result === 'held' ? numberAt(copy.object, 'spec', 'replicas') : undefined) ?? count;
  });
  const most = Math.min(maxReplicas, Math.max(0, ...workloads.map(({ count }) => count)));
  for (let count = 1; count <= most; count += 1) yield asOf(() => count);
}
