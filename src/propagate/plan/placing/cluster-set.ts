import type { MemberCluster } from '../../../changes/members.ts';
import { type LabelRequirement, matchesLabelSelector, printLabelSelector } from '../../../core/selectors.ts';
import type { ClusterFieldRequirement, ClusterSet } from '../../model/spec.ts';

/** The location of a cluster. A missing value is absent or unknown. */
export type ClusterLocation = Pick<MemberCluster, 'provider' | 'region' | 'zones'>;

/** The first condition of a set that a cluster does not meet. `detail` is the cluster or the requirement that decided. */
interface SetMismatch {
  readonly reason: 'EXCLUDED' | 'LABELS' | 'FIELDS' | 'NOT_NAMED';
  readonly detail: string;
}

/**
 * True if the cluster meets every condition of the set. A set without conditions matches every cluster. An empty list `clusters` matches
 * none.
 */
export function matchesSet(set: ClusterSet, cluster: MemberCluster): boolean {
  return mismatchOf(set, cluster) === undefined;
}

/** True if unknown location fields decide whether the cluster is in the set: all other conditions are met. */
export function dependsOnUnknown(set: ClusterSet, cluster: MemberCluster): boolean {
  const unknownLocation = cluster.unknownLocation?.fields;
  if (unknownLocation === undefined || set.fields?.some(({ field }) => unknownLocation.includes(field)) !== true) return false;
  return matchesSet({ ...set, fields: set.fields.filter(({ field }) => !unknownLocation.includes(field)) }, cluster);
}

/**
 * True if a cluster of this name may be in the set. Only names are compared, because nothing else is known of a cluster outside the fleet.
 */
export function mayMatchName({ clusters, exclude }: ClusterSet, name: string): boolean {
  return exclude?.includes(name) !== true && clusters?.includes(name) !== false;
}

/**
 * Returns why the cluster is not in the set. Checks exclude, selector, fields and clusters, in this order. Undefined if it is in the set.
 */
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
 * True if the cluster meets one requirement on its location. An absent provider or region meets only `NotIn` and `DoesNotExist`, as an
 * absent label does. Zones are a list: `In` needs at least one of the values, `NotIn` needs none of them.
 */
export function meetsField({ field, operator, values }: ClusterFieldRequirement, cluster: ClusterLocation): boolean {
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

/** Returns the values of a location field. An empty text counts as absent. Zones keep their order. */
export function fieldValuesOf(cluster: ClusterLocation, field: ClusterFieldRequirement['field']): readonly string[] {
  const held = field === 'zone' ? cluster.zones : [cluster[field] ?? ''];
  return held.filter((value) => value !== '');
}

function meetsLabel(requirement: LabelRequirement, { labels }: MemberCluster): boolean {
  return matchesLabelSelector({ requirements: [requirement] }, labels);
}

function printRequirement({ field, operator, values }: ClusterFieldRequirement): string {
  return operator === 'In' || operator === 'NotIn' ? `${field} ${operator} (${values.join(', ')})` : `${field} ${operator}`;
}
