import { readDocument } from '../../core/json/documents.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, valueAt } from '../../core/json-at.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { clusterSet } from '../../propagate/model/cluster-set-definition.ts';
import { fieldValuesOf, meetsField } from '../../propagate/plan/placing/cluster-set.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';

/** A placement with every cluster that one of several placements may choose. */
interface UnitedPlacement {
  readonly placement: JsonObject;
  /** True: the clusters were found by their present labels and are listed by name, so later clusters are not among them. */
  readonly isSnapshot: boolean;
  /**
   * The clusters that are left out because their provider, region or zone is not known, and a placement has a condition on it. So an object
   * never goes to a cluster that no placement allows.
   */
  readonly unlocated: readonly string[];
}

/**
 * Unites placements, given in the form of the custom resource. The result has neither affinity groups nor a spread. So it has every cluster
 * that one of the placements may choose, except `unlocated` ones, and maybe clusters that none of them does choose.
 */
export function unitePlacements(placements: readonly JsonObject[], fleet: ImportClusters): UnitedPlacement {
  const sets = unique(placements.flatMap(setsOf));
  const tolerations = unique(placements.flatMap((placement) => listAt(placement, 'tolerations')));
  const withTolerations = (set: JsonObject) => (tolerations.length === 0 ? set : { ...set, tolerations });
  const everything = sets.find((set) => Object.keys(set).length === 0);
  const [first = {}] = sets;
  if (sets.length === 1 || everything !== undefined)
    return { placement: withTolerations(everything ?? first), isSnapshot: false, unlocated: [] };
  const isNamed = (set: JsonObject) =>
    Object.keys(set).every((member) => member === 'clusters' || member === 'exclude') && 'clusters' in set;
  const found = sets.map((set) => clustersIn(set, fleet));
  const clusters = [...new Set(found.flatMap(({ names }) => names))];
  const unlocated = [...new Set(found.flatMap((one) => one.unlocated))].filter((name) => !clusters.includes(name));
  return { placement: withTolerations({ clusters }), isSnapshot: !sets.every(isNamed), unlocated };
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

/** The clusters of a set by their names: the clusters that meet its conditions, and the clusters for which this is unknown. */
interface SetClusters {
  readonly names: readonly string[];
  readonly unlocated: readonly string[];
}

/** Finds the clusters of a set among the names that it lists, or else among the visible clusters, by their present labels and locations. */
function clustersIn(set: JsonObject, { visible, locations }: ImportClusters): SetClusters {
  const read = readDocument(clusterSet, set);
  if ('problems' in read) return { names: [], unlocated: [] };
  const { clusters, exclude = [], selector, fields = [] } = read.value;
  const excluded = new Set(exclude);
  const hasLabels = (name: string) => selector === undefined || matchesLabelSelector(selector, visible.get(name));
  const candidates = (clusters ?? [...visible.keys()]).filter((name) => !excluded.has(name) && hasLabels(name));
  const locationOf = (name: string) => locations.get(name) ?? { zones: [] };
  const isLocated = (name: string) => fields.every(({ field }) => fieldValuesOf(locationOf(name), field).length > 0);
  return {
    names: candidates.filter((name) => isLocated(name) && fields.every((requirement) => meetsField(requirement, locationOf(name)))),
    unlocated: candidates.filter((name) => !isLocated(name)),
  };
}

function unique<T extends Json>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
