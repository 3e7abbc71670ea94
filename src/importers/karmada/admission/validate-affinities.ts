import type { ClusterAffinity } from '../../../propagate/karmada/cluster-affinity.ts';
import type { AffinityTerm, ClusterAffinityTerm } from '../../../propagate/karmada/karmada-placement.ts';
import type { ResourceSelector } from '../../../propagate/karmada/resource-selector.ts';
import { labelKeyProblems } from './label-problems.ts';
import { type AdmissionProblem, checkEach, isPresent, problemIf, quoted } from './problems.ts';

/**
 * Checks the field selector of a ClusterAffinity. Returns the problems, none if all is valid. Karmada does not check the label selector.
 */
export function validateClusterAffinity(affinity: ClusterAffinity | null | undefined, path: string): readonly AdmissionProblem[] {
  const expressions = affinity?.fieldSelector?.matchExpressions ?? [];
  // Karmada reports the first wrong expression only.
  for (const { key = '', operator = '' } of expressions) {
    if (!fields.includes(key))
      return problemIf(true, `${path}.fieldSelector`, `expected one of ${fields.join(', ')} as the key, got ${quoted(key)}`);
    if (operator !== 'In' && operator !== 'NotIn') {
      return problemIf(true, `${path}.fieldSelector`, `expected In or NotIn as the operator, got ${quoted(operator)}`);
    }
  }
  return [];
}

const fields: readonly string[] = ['provider', 'region', 'zone'];

/** Checks `clusterAffinities`: the names and conditions of the groups and of their overflow. Returns the problems, none if all is valid. */
export function validateClusterAffinities(
  affinities: readonly ClusterAffinityTerm[] | null | undefined,
  path: string,
): readonly AdmissionProblem[] {
  const names = (affinities ?? []).map(({ affinityName = '' }) => affinityName);
  return checkEach(affinities, path, (affinity, at, index) => [
    ...nameProblems(affinity, at),
    ...problemIf(names.indexOf(names[index] ?? '') < index, path, `expected groups of different names, got ${quoted(names[index])} again`),
    ...validateClusterAffinity(affinity, at),
    ...validateOverflowAffinities(affinity, at),
  ]);
}

/** Checks the `overflowAffinities` of one group of `clusterAffinities`. Returns the problems, none if all is valid. */
export function validateOverflowAffinities(affinity: ClusterAffinityTerm, path: string): readonly AdmissionProblem[] {
  const { overflowAffinities, affinityName = '' } = affinity;
  if (!isPresent(overflowAffinities)) return [];
  const below = `${path}.overflowAffinities`;
  const names = [affinityName, ...overflowAffinities.map((one) => one.affinityName ?? '')];
  return [
    ...problemIf(isEmptyAffinity(affinity), below, 'expected conditions in a group that has overflow groups, got none'),
    ...checkEach(overflowAffinities, below, (overflow, at, index) => [
      ...nameProblems(overflow, `${at}.affinityName`),
      ...problemIf(
        names.indexOf(overflow.affinityName ?? '') <= index,
        `${at}.affinityName`,
        `expected a name that neither the group nor another overflow group has, got ${quoted(overflow.affinityName)}`,
      ),
      ...validateClusterAffinity(overflow, at),
    ]),
  ];
}

/** Checks that a namespaced policy selects in its own namespace only. Returns the problems, none if all is valid. */
export function validateResourceSelectors(
  selectors: readonly ResourceSelector[] | null | undefined,
  namespace: string | null | undefined,
): readonly AdmissionProblem[] {
  if (!isPresent(namespace) || namespace === '') return [];
  return checkEach(selectors, 'spec.resourceSelectors', (selector, path) => {
    const message = `expected the namespace of the policy, ${quoted(namespace)}, got ${quoted(selector.namespace)}`;
    return problemIf(selector.namespace !== namespace, `${path}.namespace`, message);
  });
}

/** A name has the syntax of a label key. */
function nameProblems({ affinityName = '' }: AffinityTerm, path: string): readonly AdmissionProblem[] {
  return labelKeyProblems(affinityName, path);
}

function isEmptyAffinity({ labelSelector, fieldSelector, clusterNames, exclude }: ClusterAffinity): boolean {
  return !isPresent(labelSelector) && !isPresent(fieldSelector) && (clusterNames ?? []).length === 0 && (exclude ?? []).length === 0;
}
