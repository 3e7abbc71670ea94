import type { MemberCluster } from '../../../changes/members.ts';
import { type LabelRequirement, matchesLabelSelector, printLabelSelector } from '../../../core/selectors.ts';
import type { ClusterFieldRequirement, ClusterSet } from '../../model/spec.ts';

/** The first part of a set that a cluster fails, and the value that decided it. */
interface SetMismatch {
  readonly reason: 'EXCLUDED' | 'LABELS' | 'FIELDS' | 'NOT_NAMED';
  readonly detail: string;
}

/** True if the cluster meets every part of the set that is present. A set without parts matches every cluster, one with empty `clusters` none. */
export function matchesSet(set: ClusterSet, cluster: MemberCluster): boolean {
  return mismatchOf(set, cluster) === undefined;
}

/** True if all that is known of the cluster meets the set, and what nobody knows of it decides. */
export function dependsOnUnknown(set: ClusterSet, cluster: MemberCluster): boolean {
  const unknownLocation = cluster.unknownLocation?.fields;
  if (unknownLocation === undefined || set.fields?.some(({ field }) => unknownLocation.includes(field)) !== true) return false;
  return matchesSet({ ...set, fields: set.fields.filter(({ field }) => !unknownLocation.includes(field)) }, cluster);
}

/** True unless its name alone keeps the cluster out, whatever else the set asks: all that can be told of one that is no member. */
export function mayMatchName({ clusters, exclude }: ClusterSet, name: string): boolean {
  return exclude?.includes(name) !== true && clusters?.includes(name) !== false;
}

/** Why the cluster is not in the set: the first that fails of exclude, selector, fields, clusters. Undefined: it is. */
export function mismatchOf(set: ClusterSet, cluster: MemberCluster): SetMismatch | undefined {
  if (set.exclude?.includes(cluster.name) === true) return { reason: 'EXCLUDED', detail: cluster.name };
  const label = set.selector?.requirements.find((requirement) => !meetsLabel(requirement, cluster));
  if (label !== undefined) return { reason: 'LABELS', detail: printLabelSelector({ requirements: [label] }) };
  const field = set.fields?.find((requirement) => !meetsField(requirement, cluster));
  if (field !== undefined) return { reason: 'FIELDS', detail: printRequirement(field) };
  if (set.clusters?.includes(cluster.name) === false) return { reason: 'NOT_NAMED', detail: cluster.name };
  return undefined;
}

/**
 * True if the cluster meets one requirement on where it runs. Provider and region are compared as labels are: an absent one meets `NotIn` and
 * `DoesNotExist` alone. Zones are a list: `In` is an overlap, `NotIn` is none.
 */
export function meetsField({ field, operator, values }: ClusterFieldRequirement, cluster: MemberCluster): boolean {
  const held = fieldValuesOf(cluster, field);
  switch (operator) {
    case 'In':
      return held.some((value) => values.includes(value));
    case 'NotIn':
      return !held.some((value) => values.includes(value));
    case 'Exists':
      return held.length > 0;
    case 'DoesNotExist':
      return held.length === 0;
    default:
      return operator satisfies never;
  }
}

/** What the cluster has of that field; an empty text is none. Zones in the order of the cluster. */
export function fieldValuesOf(cluster: MemberCluster, field: ClusterFieldRequirement['field']): readonly string[] {
  const held = field === 'zone' ? cluster.zones : [cluster[field] ?? ''];
  return held.filter((value) => value !== '');
}

function meetsLabel(requirement: LabelRequirement, { labels }: MemberCluster): boolean {
  return matchesLabelSelector({ requirements: [requirement] }, labels);
}

function printRequirement({ field, operator, values }: ClusterFieldRequirement): string {
  return operator === 'In' || operator === 'NotIn' ? `${field} ${operator} (${values.join(', ')})` : `${field} ${operator}`;
}
