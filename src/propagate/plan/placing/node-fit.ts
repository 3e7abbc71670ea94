import type { V1Node, V1NodeAffinity, V1NodeSelectorRequirement, V1PodSpec } from '@kubernetes/client-node';
import { labelsAt } from '../../../core/json-at.ts';
import { labelRequirementOf } from '../../../core/label-selectors.ts';
import type { TypedObject } from '../../../core/objects.ts';
import { type LabelRequirement, matchesLabelSelector } from '../../../core/selectors.ts';
import { itemsOf, type Stored, textsOf } from '../../../core/stored.ts';
import { taintsIn, tolerationIn, untoleratedTaint } from './tolerations.ts';

/**
 * True if a Pod with this spec may run on the Node by its taints, `nodeSelector` and required node affinity. Rules that depend on other
 * Pods (affinity, spread) are not checked.
 */
export function acceptsPod(node: TypedObject<V1Node>, podSpec: Stored<V1PodSpec>): boolean {
  const tolerations = itemsOf(podSpec.tolerations).flatMap((value) => tolerationIn(value) ?? []);
  if (untoleratedTaint(taintsIn(itemsOf(node.spec?.taints)), tolerations) !== undefined) return false;
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(labelsAt(podSpec, 'nodeSelector')).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
  return selected && meetsAffinity(node, podSpec.affinity?.nodeAffinity);
}

/** True if at least one term matches. An empty term never matches (core/v1 NodeSelectorTerm). */
function meetsAffinity({ metadata }: TypedObject<V1Node>, affinity: Stored<V1NodeAffinity> | undefined): boolean {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined || required === null) return true;
  return itemsOf(required.nodeSelectorTerms).some((term) => {
    const expressions = itemsOf(term.matchExpressions);
    const fields = itemsOf(term.matchFields);
    return (
      expressions.length + fields.length > 0 &&
      expressions.every((expression) => meets(expression, metadata.labels ?? {})) &&
      fields.every((field) => meets(field, { 'metadata.name': metadata.name }))
    );
  });
}

function meets(expression: Stored<V1NodeSelectorRequirement>, labels: Readonly<Record<string, string>>): boolean {
  const requirement = comparisonOf(expression) ?? labelRequirementOf(expression);
  return requirement !== undefined && matchesLabelSelector({ requirements: [requirement] }, labels);
}

/** Reads the operators `Gt` and `Lt`, which label selectors do not have. Undefined for other operators. */
function comparisonOf({ key, operator, values }: Stored<V1NodeSelectorRequirement>): LabelRequirement | undefined {
  const [value = ''] = textsOf(values);
  if (typeof key !== 'string' || (operator !== 'Gt' && operator !== 'Lt') || !/^-?\d{1,18}$/.test(value)) return undefined;
  return { operator: operator === 'Gt' ? 'above' : 'below', key, bound: BigInt(value) };
}
