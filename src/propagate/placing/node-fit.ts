import type { Json } from '../../core/json.ts';
import { labelsAt, listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { type LabelRequirement, matchesSelector } from '../../core/selectors.ts';
import { taintsIn, tolerationIn, untoleratedTaint } from './tolerations.ts';

/**
 * True if taints, `nodeSelector` and required node affinity let a Pod with that spec onto the Node. What depends on other Pods (their affinity, spread)
 * is not looked at.
 */
export function acceptsPod(node: KubernetesObject, podSpec: Json | undefined): boolean {
  const tolerations = listAt(podSpec, 'tolerations').flatMap((value) => tolerationIn(value) ?? []);
  if (untoleratedTaint(taintsIn(listAt(node, 'spec', 'taints')), tolerations) !== undefined) return false;
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(labelsAt(podSpec, 'nodeSelector')).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
  return selected && meetsAffinity(node, objectAt(podSpec, 'affinity', 'nodeAffinity'));
}

/** Of the terms one must hold; an empty one never does (core/v1 NodeSelectorTerm). */
function meetsAffinity(node: KubernetesObject, affinity: Json): boolean {
  const required = valueAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
  if (required === undefined || required === null) return true;
  return listAt(required, 'nodeSelectorTerms').some((term) => {
    const expressions = listAt(term, 'matchExpressions');
    const fields = listAt(term, 'matchFields');
    return (
      expressions.length + fields.length > 0 &&
      expressions.every((expression) => meets(expression, node.metadata.labels ?? {})) &&
      fields.every((field) => meets(field, { 'metadata.name': node.metadata.name }))
    );
  });
}

function meets(expression: Json, labels: Readonly<Record<string, string>>): boolean {
  const requirement = requirementIn(expression);
  return requirement !== undefined && matchesSelector({ requirements: [requirement] }, labels);
}

/** Undefined if it is none: that meets nothing. */
function requirementIn(expression: Json): LabelRequirement | undefined {
  const key = textAt(expression, 'key') ?? '';
  const values = listAt(expression, 'values').filter((value) => typeof value === 'string');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return { operator: 'in', key, values: new Set(values) };
    case 'NotIn':
      return { operator: 'notIn', key, values: new Set(values) };
    case 'Exists':
      return { operator: 'exists', key };
    case 'DoesNotExist':
      return { operator: 'absent', key };
    case 'Gt':
      return compared('above', key, values);
    case 'Lt':
      return compared('below', key, values);
    default:
      return undefined;
  }
}

function compared(operator: 'above' | 'below', key: string, [value = '']: readonly string[]): LabelRequirement | undefined {
  return /^-?\d{1,18}$/.test(value) ? { operator, key, bound: BigInt(value) } : undefined;
}
