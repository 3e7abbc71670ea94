import { readDocument } from '../../core/json/documents.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLabelValue } from '../../core/selectors.ts';
import { labelSelector } from '../model/cluster-set-definition.ts';
import type { ClusterFieldRequirement, ClusterSet } from '../model/spec.ts';

/**
 * Karmada's ClusterAffinity (policy/v1alpha1). A cluster must meet every field that is set. An empty list of names matches every cluster.
 */
export interface ClusterAffinity {
  readonly clusterNames?: readonly string[] | null;
  readonly exclude?: readonly string[] | null;
  readonly labelSelector?: JsonObject | null;
  readonly fieldSelector?: { readonly matchExpressions?: readonly FieldExpression[] | null } | null;
}

/** NodeSelectorRequirement (core/v1). */
interface FieldExpression {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[] | null;
}

/** A set without clusters. An affinity with an unreadable member becomes this set, without an error. */
const noCluster: ClusterSet = { clusters: [] };

/** Converts the affinity to a `ClusterSet`. An invalid label selector, or a field requirement that no cluster meets, gives `noCluster`. */
export function setOfAffinity({ clusterNames, exclude, labelSelector: labels, fieldSelector }: ClusterAffinity): ClusterSet {
  const read = labels === undefined || labels === null ? undefined : readDocument(labelSelector, labels);
  if (read !== undefined && 'problems' in read) return noCluster;
  const selector = read?.value;
  const fields: ClusterFieldRequirement[] = [];
  for (const expression of fieldSelector?.matchExpressions ?? []) {
    const read = requirementOf(expression);
    if (read === 'no cluster') return noCluster;
    if (read !== 'every cluster') fields.push(read);
  }
  return {
    ...(exclude === undefined || exclude === null ? {} : { exclude }),
    ...(selector === undefined ? {} : { selector }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(clusterNames === undefined || clusterNames === null || clusterNames.length === 0 ? {} : { clusters: clusterNames }),
  };
}

/**
 * Converts a field requirement. For a field that clusters do not have, `In` and `Exists` match no cluster, and the other operators match
 * every cluster. An invalid requirement matches no cluster.
 */
function requirementOf({ key = '', operator = '', values }: FieldExpression): ClusterFieldRequirement | 'every cluster' | 'no cluster' {
  const known = operators.find((name) => name === operator);
  if (known === undefined || key === '') return 'no cluster';
  if (key === 'zone') return zoneRequirementOf(known, values ?? []);
  if (!isRequirement(known, values ?? [])) return 'no cluster';
  if (key === 'provider' || key === 'region') return { field: key, operator: known, values: values ?? [] };
  return known === 'In' || known === 'Exists' ? 'no cluster' : 'every cluster';
}

/** Converts a requirement for zones, of which a cluster may have several. Without values, In matches no cluster, and NotIn matches all. */
function zoneRequirementOf(
  operator: (typeof operators)[number],
  values: readonly string[],
): ClusterFieldRequirement | 'every cluster' | 'no cluster' {
  if (operator === 'Exists' || operator === 'DoesNotExist') return { field: 'zone', operator, values: [] };
  if (values.length === 0) return operator === 'In' ? 'no cluster' : 'every cluster';
  return { field: 'zone', operator, values };
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function isRequirement(operator: (typeof operators)[number], values: readonly string[]): boolean {
  const needsSome = operator === 'In' || operator === 'NotIn';
  return needsSome === values.length > 0 && values.every(isLabelValue);
}
