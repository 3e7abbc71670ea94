import { readDocument } from '../../core/json/documents.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, valueAt } from '../../core/json-at.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { clusterSet } from '../../propagate/model/cluster-set-definition.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';

/** A placement with every cluster that one of several placements may choose. */
interface UnitedPlacement {
  readonly placement: JsonObject;
  /** True: the clusters were found by their present labels and are listed by name, so later clusters are not among them. */
  readonly isSnapshot: boolean;
}

/**
 * Unites placements, given in the form of the custom resource. The result has neither affinity groups nor a spread. So it has every cluster
 * that one of the placements may choose, and maybe clusters that none of them does choose.
 */
export function unitePlacements(placements: readonly JsonObject[], { visible }: ImportClusters): UnitedPlacement {
  const sets = unique(placements.flatMap(setsOf));
  const tolerations = unique(placements.flatMap((placement) => listAt(placement, 'tolerations')));
  const withTolerations = (set: JsonObject) => (tolerations.length === 0 ? set : { ...set, tolerations });
  const everything = sets.find((set) => Object.keys(set).length === 0);
  const [first = {}] = sets;
  if (sets.length === 1 || everything !== undefined) return { placement: withTolerations(everything ?? first), isSnapshot: false };
  const isNamed = (set: JsonObject) =>
    Object.keys(set).every((member) => member === 'clusters' || member === 'exclude') && 'clusters' in set;
  const names = sets.flatMap((set) => namesIn(set, visible));
  return { placement: withTolerations({ clusters: [...new Set(names)] }), isSnapshot: !sets.every(isNamed) };
}

/** Returns the sets of a placement: its own set, or those of its affinity groups and their overflows. */
function setsOf(placement: JsonObject): readonly JsonObject[] {
  const groups = listAt(placement, 'affinityGroups');
  if (groups.length > 0) {
    const parts = groups.flatMap((group) => [group, ...listAt(group, 'overflow')]);
    return parts.map((part) => valueAt(part, 'set') as JsonObject);
  }
  const { affinityGroups: _groups, tolerations: _tolerations, spread: _spread, ...set } = placement;
  return [set];
}

/** Returns the names in a set that lists names, or of the visible clusters with the labels of its selector. Conditions on fields are left out. */
function namesIn(set: JsonObject, visible: ImportClusters['visible']): readonly string[] {
  const read = readDocument(clusterSet, set);
  if ('problems' in read) return [];
  const { clusters, exclude = [], selector } = read.value;
  const excluded = new Set(exclude);
  const hasLabels = (name: string) => selector === undefined || matchesLabelSelector(selector, visible.get(name));
  return (clusters ?? [...visible.keys()]).filter((name) => !excluded.has(name) && hasLabels(name));
}

function unique<T extends Json>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
