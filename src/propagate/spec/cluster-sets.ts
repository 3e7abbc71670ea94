import type { ClusterFieldRequirement, ClusterSet } from '../spec.ts';
import { below, type Codec, checked, choice, defaulted, list, optional, type Place, record, required, tell } from './codec.ts';
import { checkValues, labelSelector } from './selector.ts';
import { anyText, clusterText } from './texts.ts';

/** A Propagation goes to at most so many clusters (propagation.md 2.1). */
export const maxClusters = 500;

const field: Codec<ClusterFieldRequirement> = checked(
  record({
    field: required(choice(['provider', 'region', 'zone'])),
    operator: required(choice(['In', 'NotIn', 'Exists', 'DoesNotExist'])),
    values: defaulted(list(anyText, { max: 100 }), []),
  }),
  ({ operator, values }, place) => checkValues(operator, values, below(place, 'values')),
);

/** The members of a set of clusters. */
export const setFields = {
  clusters: optional(list(clusterText, { max: maxClusters })),
  selector: optional(labelSelector),
  fields: optional(list(field, { max: 20 })),
  exclude: optional(list(clusterText, { max: maxClusters })),
} as const;

/** A set of clusters. */
export const clusterSet: Codec<ClusterSet> = record(setFields);

/** True if a part of it narrows it. */
export function isNarrow({ clusters, selector, fields = [], exclude = [] }: ClusterSet): boolean {
  return clusters !== undefined || (selector?.requirements.length ?? 0) > 0 || fields.length > 0 || exclude.length > 0;
}

/** Tells of each text that stands there a second time. */
export function checkUnique(texts: readonly (string | undefined)[], placeOf: (index: number) => Place): void {
  texts.forEach((text, index) => {
    if (text !== undefined && texts.indexOf(text) < index)
      tell(placeOf(index), `expected each only once, got ${JSON.stringify(text)} again`);
  });
}
