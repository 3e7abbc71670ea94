import { printDocument, structureSchema } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, valueAt } from '../../core/json-at.ts';
import { labelSelectorOf } from '../../core/label-selectors.ts';
import { clusterSet, labelSelector } from '../../propagate/model/cluster-set-definition.ts';
import type { ClusterSet } from '../../propagate/model/spec.ts';
import { clusterReferences, wrongTypeNote } from '../clusters/cluster-references.ts';
import { type ImportClusters, withMembers } from '../clusters/import-clusters.ts';
import { knownClusters } from '../clusters/known-clusters.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import type { ImportNote } from '../model/import-result.ts';
import { federatedPlacementOf } from './federated-placement.ts';

/**
 * The clusters of a federated object: those that `names` lists and that match all selectors. Without `names`, all clusters that match. An
 * empty list chooses no cluster.
 */
export interface ClusterChoice {
  readonly names?: readonly string[];
  readonly selectors: readonly JsonObject[];
}

/** All clusters of KubeFed. */
export const allClusters: ClusterChoice = { selectors: [] };

/** No cluster. */
export const noClusters: ClusterChoice = { names: [], selectors: [] };

/** Reads the placement of a federated object. Without names and without a selector, it chooses no cluster. */
export function choiceOf({ object }: ObjectDocument): ClusterChoice {
  const { names, selector } = federatedPlacementOf(valueAt(object, 'spec', 'placement'));
  return names === undefined ? selectorChoiceOf(selector) : { names, selectors: [] };
}

/** Reads the selector of a placement alone, as a preference with `intersectWithClusterSelector` does. */
export function selectorOnlyChoiceOf({ object }: ObjectDocument): ClusterChoice {
  return selectorChoiceOf(federatedPlacementOf(valueAt(object, 'spec', 'placement')).selector);
}

function selectorChoiceOf(selector: JsonObject | undefined): ClusterChoice {
  if (selector === undefined) return noClusters;
  const isEmpty = Object.keys(objectAt(selector, 'matchLabels')).length === 0 && listAt(selector, 'matchExpressions').length === 0;
  return { selectors: isEmpty ? [] : [selector] };
}

/** Returns the choice of the clusters that are in each of the choices. */
export function clusterIntersection(choices: readonly ClusterChoice[]): ClusterChoice {
  const named = choices.flatMap(({ names }) => (names === undefined ? [] : [names]));
  const [first, ...others] = named;
  const otherNames = others.map((names) => new Set(names));
  return {
    ...(first === undefined ? {} : { names: first.filter((name) => otherNames.every((names) => names.has(name))) }),
    selectors: choices.flatMap(({ selectors }) => selectors),
  };
}

/** True if the choice may leave out one of `clusters`. A name `*` in `clusters` stands for every cluster. */
export function mayLeaveOut({ names, selectors }: ClusterChoice, clusters: readonly string[]): boolean {
  const known = new Set(names);
  return selectors.length > 0 || (names !== undefined && !clusters.every((name) => known.has(name)));
}

/** Returns the error of a placement that KubeFed cannot read. Undefined if it can. */
export function placementProblem({ object, path }: ObjectDocument): ImportNote | undefined {
  return wrongTypeNote(placementSchema, valueAt(object, 'spec', 'placement'), `${path}.spec.placement`);
}

const placementSchema = structureSchema({ clusters: clusterReferences.exactOptional(), clusterSelector: labelSelector.exactOptional() });

/** Returns the notes about names in the placement of the object that are no visible cluster. */
export function placementNameNotes({ object, path }: ObjectDocument, fleet: ImportClusters): readonly ImportNote[] {
  const names = federatedPlacementOf(valueAt(object, 'spec', 'placement')).names ?? [];
  const named = names.map((name, index) => ({ name, path: `${path}.spec.placement.clusters[${index}].name` }));
  return knownClusters(fleet, named).notes;
}

interface ImportedPlacement {
  readonly placement: JsonObject;
  readonly notes: readonly ImportNote[];
}

/**
 * Translates a choice to `placement` of a spec. If the members of the federation are known, a choice without names gets their names.
 * Unknown names stay, so that a plan refuses them. In exact mode they are left out. `path` is the path of the object with the choice, for
 * notes.
 */
export function importedPlacement({ names, selectors }: ClusterChoice, path: string, fleet: ImportClusters): ImportedPlacement {
  const notes: ImportNote[] = [];
  const requirements = selectors.flatMap((selector) => labelSelectorOf(selector)?.requirements ?? []);
  const set: ClusterSet = {
    // The notes about these names are left out: `placementNameNotes` makes them, with the path of each name.
    ...(names === undefined
      ? {}
      : {
          clusters: knownClusters(
            fleet,
            names.map((name) => ({ name, path })),
          ).names,
        }),
    ...(selectors.length === 0 ? {} : { selector: { requirements } }),
  };
  const placement = printDocument(clusterSet, withMembers(set, { clusters: fleet, path, addNote: (note) => notes.push(note) }));
  return { placement: isJsonObject(placement) ? placement : {}, notes };
}
