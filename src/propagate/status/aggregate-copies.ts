import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { listAt, numberAt, valueAt } from '../../core/json-at.ts';
import { compareText } from '../../core/text.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { type CopyHealth, isBeingRemoved } from '../model/inventory.ts';
import type { AggregatedStatus, ClusterLine } from '../model/propagation.ts';
import { aggregateStatus } from './aggregate.ts';
import { collectStatus } from './collect.ts';
import { healthOfCopy, showsWrite } from './copy-state.ts';
import type { ClusterFacts, CopyFacts } from './facts.ts';
import type { StatusItem } from './status-item.ts';

/** One planned object in one cluster. Each cluster of the plan counts, also without a copy. */
interface Target {
  readonly line: ClusterLine;
  /** Undefined if the state of the cluster is unknown, or if its inventory has no such copy. */
  readonly copy: CopyFacts | undefined;
}

/**
 * Maximum number of conditions in all aggregates together, because a status must stay far below the limit of etcd. Each object has an equal part
 * of them.
 */
const maxConditions = 200;

/**
 * Returns one status for each planned object over all its clusters, sorted by group, kind, namespace and name. A cluster whose phase is
 * `Unknown` adds no figures, and `observed` is false then.
 */
export function aggregatesOf(
  clusters: readonly ClusterFacts[],
  lines: ReadonlyMap<string, ClusterLine>,
  generation: number,
): readonly AggregatedStatus[] {
  const found = targetsOf(clusters, lines);
  const maxPerObject = found.length === 0 ? 0 : Math.floor(maxConditions / found.length);
  return found.map(({ key, targets }) => ({
    key,
    status: statusOf(key, targets, generation),
    observed: targets.every(({ copy }) => copy?.mirrored.result === 'held'),
    health: healthOf(targets),
    conditions: conditionsOf(targets).slice(0, maxPerObject),
  }));
}

function targetsOf(clusters: readonly ClusterFacts[], lines: ReadonlyMap<string, ClusterLine>) {
  const found = new Map<string, { readonly key: ObjectKey; readonly targets: Target[] }>();
  for (const { cluster, planned, copies } of clusters) {
    const line = lines.get(cluster);
    if (planned === undefined || line === undefined) continue;
    const held = new Map(copies.filter(({ entry }) => !isBeingRemoved(entry)).map((copy) => [textOfKey(copy.entry.key), copy]));
    for (const { key, action } of planned.objects) {
      if (action === 'DELETE' || action === 'RELEASE') continue;
      const text = textOfKey(key);
      const entry = found.get(text) ?? { key, targets: [] };
      found.set(text, entry);
      entry.targets.push({ line, copy: line.phase === 'Unknown' ? undefined : held.get(text) });
    }
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, entry]) => entry);
}

/**
 * Returns the aggregated status of one planned object, computed from the current copies alone. For this, the template is treated as an
 * object of this generation without a status.
 */
function statusOf(key: ObjectKey, targets: readonly Target[], generation: number): JsonObject {
  const kind = groupKindOfKey(key);
  const items = targets.map(({ line, copy }): StatusItem => ({ clusterName: line.cluster, status: collectedOf(copy, generation) ?? null }));
  const type = targets.map(({ copy }) => valueAt(objectOf(copy), 'spec', 'type')).find((found) => found !== undefined);
  return aggregateStatus({ kind, template: { metadata: { generation }, spec: { type } }, items, semantics: 'ours' });
}

function collectedOf(copy: CopyFacts | undefined, generation: number): JsonObject | undefined {
  const object = objectOf(copy);
  if (copy === undefined || object === undefined) return undefined;
  const collected = collectStatus(groupKindOfKey(copy.entry.key), object, () => (showsWrite(copy.entry, object) ? generation : 0));
  if (collected.result === 'unreadable' || collected.status === undefined) return undefined;
  // The observed generation of a StatefulSet is not collected, but it shows whether the figures belong to the newest spec.
  const observedGeneration = numberAt(object, 'status', 'observedGeneration');
  return observedGeneration === undefined ? collected.status : { ...collected.status, observedGeneration };
}

function objectOf(copy: CopyFacts | undefined) {
  return copy?.mirrored.result === 'held' ? copy.mirrored.object : undefined;
}

function healthOf(targets: readonly Target[]): CopyHealth {
  const healths = targets.map(({ copy }) => (copy === undefined ? 'Unknown' : healthOfCopy(copy)));
  if (healths.includes('Unhealthy')) return 'Unhealthy';
  return healths.includes('Unknown') ? 'Unknown' : 'Healthy';
}

/**
 * Returns the conditions of the copies in all clusters, unchanged, because several conditions cannot be joined into one. Conditions from
 * clusters that are not healthy come first.
 */
function conditionsOf(targets: readonly Target[]): AggregatedStatus['conditions'] {
  const notHealthy = targets.filter(({ line }) => line.health !== 'Healthy');
  const healthy = targets.filter(({ line }) => line.health === 'Healthy');
  return [...notHealthy, ...healthy].flatMap(({ line: { cluster }, copy }) =>
    listAt(objectOf(copy), 'status', 'conditions')
      .filter(isJsonObject)
      .map((condition) => ({ cluster, condition })),
  );
}
