import { printDocument } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { type ClusterAffinity, setOfAffinity } from '../../propagate/karmada/cluster-affinity.ts';
import { clusterSet } from '../../propagate/model/cluster-set-definition.ts';
import type { ClusterFieldRequirement, ClusterSet } from '../../propagate/model/spec.ts';
import { type AddNote, type ImportClusters, knownNames, withMembers, withSelectedMembers } from '../clusters/import-clusters.ts';

/** The facts that the translation of a part of a policy needs in addition to the part. */
export interface PartScope {
  readonly clusters: ImportClusters;
  /** The path of the part in the input: `[1].spec.placement`. */
  readonly path: string;
  readonly addNote: AddNote;
}

/** The facts that the translation of the sets of a placement needs. */
export interface PlacementScope extends PartScope {
  /** Fields that clusters must have, because a spread constraint names them. */
  readonly required: readonly ClusterFieldRequirement['field'][];
  /** The cluster of Karmada's API server, which holds the resources themselves. Absent for a text. */
  readonly sourceCluster?: string | undefined;
}

/** Returns the same facts for a member of the part: only the path is another one. */
export function scopeBelow<Scope extends PartScope>(scope: Scope, member: string): Scope {
  return { ...scope, path: `${scope.path}.${member}` };
}

/**
 * Translates a ClusterAffinity to a set of clusters. An affinity with a broken selector becomes a set without clusters, because Karmada
 * matches no cluster then. In an exact import of a living Karmada, the selector counts with the labels that Karmada has
 * (`withSelectedMembers`).
 */
export function translateSet(affinity: ClusterAffinity, scope: PartScope): JsonObject {
  return printSet(withSelectedMembers(setOf(affinity, scope), scope));
}

/**
 * Translates the set of a placement, as `translateSet` does. Then adds the clusters of a living Karmada if the set names none
 * (`withMembers`), the `required` fields, and the exclusion of `sourceCluster`.
 */
export function translatePlacementSet(affinity: ClusterAffinity, scope: PlacementScope): JsonObject {
  const set = withMembers(setOf(affinity, scope), scope);
  const { required, sourceCluster } = scope;
  const fields = [...(set.fields ?? []), ...required.map((field) => ({ field, operator: 'Exists', values: [] }) as const)];
  const exclude = [...(set.exclude ?? []), ...(sourceCluster === undefined ? [] : [sourceCluster])];
  return printSet({ ...set, ...(fields.length === 0 ? {} : { fields }), ...(exclude.length === 0 ? {} : { exclude }) });
}

function setOf(affinity: ClusterAffinity, scope: PartScope): ClusterSet {
  const { clusters, path, addNote } = scope;
  const { clusters: names, exclude, ...conditions } = setOfAffinity(affinity);
  if (names?.length === 0) {
    const message = 'expected a valid selector: Karmada matches no cluster with this one, and neither does the Propagation';
    addNote({ severity: 'WARNING', code: 'UNSUPPORTED', message, path });
  }
  const known = (given: readonly string[], member: string) =>
    knownNames(clusters, { names: given, pathOf: (index) => `${path}.${member}[${index}]` }, addNote);
  return {
    ...conditions,
    ...(exclude === undefined || exclude.length === 0 ? {} : { exclude: known(exclude, 'exclude') }),
    ...(names === undefined ? {} : { clusters: known(names, 'clusterNames') }),
  };
}

function printSet(set: ClusterSet): JsonObject {
  const printed = printDocument(clusterSet, set);
  return isJsonObject(printed) ? printed : {};
}
