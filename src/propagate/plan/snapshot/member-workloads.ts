import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import type { Members } from '../../../changes/members.ts';
import { type GroupKind, keyOfKind } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import { type Stored, textOrUndefined } from '../../../core/stored.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import { podSpecOf } from '../../../manifests/pod-specs.ts';
import { isDividedAsKubeFed, type PropagationSpec } from '../../model/spec.ts';
import { nodeRoomsOf, replicasThatFit } from '../placing/node-rooms.ts';
import { plannedCountOf } from '../placing/workload-count.ts';

const nodes: GroupKind = { group: '', kind: 'Node' };
const pods: GroupKind = { group: '', kind: 'Pod' };
/** The kinds from which the free room of a cluster is computed. */
export const roomKinds: readonly GroupKind[] = [nodes, pods];
/** The kind of autoscalers. */
export const autoscalers: GroupKind = { group: 'autoscaling', kind: 'HorizontalPodAutoscaler' };

/** The workloads of a template and how their replicas are set. */
export interface TemplateWorkloads {
  readonly spec: Pick<PropagationSpec, 'placement' | 'replicas' | 'exact'>;
  readonly manifests: readonly Manifest[];
}

/**
 * Returns the kinds to read for the workloads of a template: autoscalers. Where the free capacity counts, it also returns Nodes and Pods. The
 * rules of KubeFed need Pods only. Empty with mode External, and for a template without workloads.
 */
export function capacityKinds({ spec, manifests }: TemplateWorkloads): readonly GroupKind[] {
  if (spec.replicas.mode === 'External' || !manifests.some((manifest) => plannedCountOf(manifest, spec) !== undefined)) return [];
  if (isDividedAsKubeFed(spec)) return [pods, autoscalers];
  return needsCapacity(spec) ? [nodes, pods, autoscalers] : [autoscalers];
}

/**
 * True for the kinds of `capacityKinds`. Their objects must be those of now: replicas are placed by them, and no dry run would notice that
 * the mirror is behind.
 */
export function isCapacityKind(kind: GroupKind): boolean {
  return [...roomKinds, autoscalers].some((one) => keyOfKind(one) === keyOfKind(kind));
}

/**
 * True if the plan depends on the free capacity of clusters: in mode Divided. With the rules of Karmada, a spread needs it in every mode. The
 * rules of KubeFed know no free capacity.
 */
function needsCapacity(spec: TemplateWorkloads['spec']): boolean {
  const { placement, replicas, exact } = spec;
  if (isDividedAsKubeFed(spec) || replicas.mode === 'External') return false;
  return replicas.mode === 'Divided' || (exact?.system === 'Karmada' && placement.spread.length > 0);
}

/**
 * Returns how many additional replicas of each workload fit in a cluster, by the workload's index. Empty if the plan does not depend on it,
 * or while Nodes and Pods are unread.
 */
export function capacitiesIn(members: Members, cluster: ClusterName, template: TemplateWorkloads): ReadonlyMap<number, number> {
  const workloads = [...template.manifests.entries()].filter(([, manifest]) => plannedCountOf(manifest, template.spec) !== undefined);
  if (!needsCapacity(template.spec) || workloads.length === 0) return new Map();
  const allNodes = members.objects.all(cluster, nodes);
  const allPods = members.objects.all(cluster, pods);
  if (allNodes === undefined || allPods === undefined) return new Map();
  const rooms = nodeRoomsOf(allNodes, allPods);
  return new Map(workloads.map(([index, manifest]) => [index, replicasThatFit(rooms, podSpecOf(manifest))]));
}

/** Returns the workloads that a HorizontalPodAutoscaler of the cluster scales, by `textOfKey`. Empty while autoscalers are unread. */
export function autoscaledIn(members: Members, cluster: ClusterName, workloads: TemplateWorkloads): ReadonlySet<string> {
  if (capacityKinds(workloads).length === 0) return new Set();
  return new Set((members.objects.all(cluster, autoscalers) ?? []).map(keyScaledBy));
}

/** Returns the `textOfKey` of the workload that an autoscaler scales. */
export function keyScaledBy({ metadata, spec }: Stored<V2HorizontalPodAutoscaler>): string {
  const namespace = metadata?.namespace;
  const target = spec?.scaleTargetRef;
  const [apiVersion = '', kind = '', name = ''] = [target?.apiVersion, target?.kind, target?.name].map(textOrUndefined);
  return textOfKey({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
}

/** True for a HorizontalPodAutoscaler of any version. */
export function isAutoscaler({ apiVersion, kind }: Manifest): boolean {
  return kind === autoscalers.kind && apiVersion.startsWith(`${autoscalers.group}/`);
}
