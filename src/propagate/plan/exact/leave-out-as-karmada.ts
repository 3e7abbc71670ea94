import { itemsOf } from '../../../core/stored.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { podSpecOf } from '../../../manifests/pod-specs.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { requestsOf } from '../placing/resource-amounts.ts';
import { plannedCountOf } from '../placing/workload-count.ts';

/** The parts of a plan's snapshot with the spec and the objects of the template. */
export interface PlannedTemplates {
  readonly spec: PropagationSpec;
  readonly templates: readonly { readonly manifest: Manifest }[];
}

/**
 * True if Karmada places nothing of a workload with 0 replicas: in mode Divided, if the Pods have requirements. Karmada then divides 0
 * replicas, and no cluster gets one. A workload without requirements counts as an object without replicas, and goes to every cluster.
 */
export function leavesOutEmptyAsKarmada({ spec, templates }: PlannedTemplates): boolean {
  if (spec.replicas.mode !== 'Divided') return false;
  const workloads = templates.filter(({ manifest }) => plannedCountOf(manifest, spec) !== undefined);
  return workloads.some(({ manifest }) => hasRequirements(manifest));
}

/** True if Karmada reads requirements for each replica from the workload: rules about Nodes, tolerations, or requests of resources. */
function hasRequirements(manifest: Manifest): boolean {
  const pod = podSpecOf(manifest);
  if (pod === undefined) return false;
  const nodeRules = [pod.nodeSelector, pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution];
  if (nodeRules.some((rule) => rule !== undefined && rule !== null) || itemsOf(pod.tolerations).length > 0) return true;
  return [...requestsOf(pod).values()].some((amount) => amount > 0);
}
