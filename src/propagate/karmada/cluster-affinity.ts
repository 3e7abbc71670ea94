import { readDocument } from '../../core/json/documents.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLabelValue } from '../../core/selectors.ts';
import { matchesSet, meetsField, valuesOf } from '../placing/cluster-set.ts';
import { labelSelector } from '../spec/cluster-sets.ts';
import type { ClusterFieldRequirement, ClusterSet } from '../spec.ts';
import { type KarmadaCluster, memberOf } from './karmada-cluster.ts';

/** ClusterAffinity (policy/v1alpha1): present parts are ANDed, no names are any. */
export interface ClusterAffinity {
  readonly clusterNames?: readonly string[] | null;
  readonly exclude?: readonly string[] | null;
  readonly labelSelector?: JsonObject | null;
  readonly fieldSelector?: { readonly matchExpressions?: readonly FieldExpression[] | null } | null;
}

/** core/v1 NodeSelectorRequirement. */
interface FieldExpression {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[] | null;
}

/** No cluster is in it: what a part that cannot be read comes to, without an error. */
const nobody: ClusterSet = { clusters: [] };

/** The affinity as a set of ours. */
export function setOfAffinity({ clusterNames, exclude, labelSelector: labels, fieldSelector }: ClusterAffinity): ClusterSet {
  const read = labels === undefined || labels === null ? undefined : readDocument(labelSelector, labels);
  if (read !== undefined && 'problems' in read) return nobody;
  const selector = read?.value;
  const fields: ClusterFieldRequirement[] = [];
  for (const expression of fieldSelector?.matchExpressions ?? []) {
    const read = requirementOf(expression);
    if (read === 'nobody') return nobody;
    if (read !== 'anybody') fields.push(read);
  }
  return {
    ...(exclude === undefined || exclude === null ? {} : { exclude }),
    ...(selector === undefined ? {} : { selector }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(clusterNames === undefined || clusterNames === null || clusterNames.length === 0 ? {} : { clusters: clusterNames }),
  };
}

/** ClusterMatches: is the cluster in the affinity? */
export function matchesCluster({ affinity, cluster }: { readonly affinity?: ClusterAffinity; readonly cluster: KarmadaCluster }): {
  readonly matches: boolean;
} {
  return { matches: matchesSet(setOfAffinity(affinity ?? {}), memberOf(cluster)) };
}

/** A requirement on zones against a list of them. */
export function matchZones({ requirement, zones }: { readonly requirement: FieldExpression; readonly zones?: readonly string[] | null }): {
  readonly matches: boolean;
} {
  const read = requirementOf({ ...requirement, key: 'zone' });
  return { matches: typeof read !== 'string' && meetsField(read, memberOf({ zones: zones ?? [] })) };
}

/** What field selectors may ask of a cluster besides its zones. */
export function clusterFields({ cluster }: { readonly cluster: KarmadaCluster }): { readonly fields: Readonly<Record<string, string>> } {
  const member = memberOf(cluster);
  const fields = (['provider', 'region'] as const).flatMap((field) => valuesOf(member, field).map((value) => [field, value]));
  return { fields: Object.fromEntries(fields) };
}

/** A field that no cluster has fails In and Exists and passes the others; what is no requirement matches nobody. */
function requirementOf({ key = '', operator = '', values }: FieldExpression): ClusterFieldRequirement | 'anybody' | 'nobody' {
  const known = operators.find((name) => name === operator);
  if (known === undefined || key === '') return 'nobody';
  if (key === 'zone') return { field: key, operator: known, values: values ?? [] };
  if (!isRequirement(known, values ?? [])) return 'nobody';
  if (key === 'provider' || key === 'region') return { field: key, operator: known, values: values ?? [] };
  return known === 'In' || known === 'Exists' ? 'nobody' : 'anybody';
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function isRequirement(operator: (typeof operators)[number], values: readonly string[]): boolean {
  const needsSome = operator === 'In' || operator === 'NotIn';
  return needsSome === values.length > 0 && values.every(isLabelValue);
}
