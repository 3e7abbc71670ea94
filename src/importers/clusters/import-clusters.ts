import { parseClusterName } from '../../core/names.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import type { ClusterSet, SourceSystem } from '../../propagate/model/spec.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ImportContext } from '../model/importer.ts';

type Labels = Readonly<Record<string, string>>;

/** Receives the notes of a translation. */
export type TellNote = (note: ImportNote) => void;

/** The clusters that an import knows, by their names. */
export interface ImportClusters {
  readonly isExact: boolean;
  /** True: names of other clusters are left out. False: they stay, and a plan refuses them. */
  readonly leavesOutUnknown: boolean;
  /** The clusters that the caller may see, with their labels in Muster. */
  readonly visible: ReadonlyMap<string, Labels>;
  /** The clusters of a living source system, with their labels there. Absent for a text, and for a system that has no list. */
  readonly members?: ReadonlyMap<string, Labels>;
}

/** Names of clusters in a document. `pathOf` returns the path of a name, for notes. */
export interface NamesInDocument {
  readonly names: readonly string[];
  readonly pathOf: (index: number) => string;
}

/** Prepares the clusters of an import for the documents of one system. */
export function importClustersOf(context: ImportContext, system: SourceSystem): ImportClusters {
  const { isExact, clusters, living, leavesOutUnknownClusters } = context;
  const members = living?.members.get(system);
  return {
    isExact,
    leavesOutUnknown: isExact || leavesOutUnknownClusters === true,
    visible: new Map(clusters.map(({ name, labels }) => [name, labels])),
    ...(members === undefined ? {} : { members }),
  };
}

/**
 * Returns the names for the Propagation. Unknown names stay, unless `leavesOutUnknown`. A text that cannot be the name of a cluster, such as
 * an empty one, never stays. One note UNKNOWN_CLUSTER lists the unknown names that stay, and one those that are left out.
 */
export function knownNames(clusters: ImportClusters, { names, pathOf }: NamesInDocument, tell: TellNote): readonly string[] {
  const stays = (name: string) => clusters.visible.has(name) || (!clusters.leavesOutUnknown && parseClusterName(name) !== undefined);
  const unknown = names.flatMap((name, index) => (clusters.visible.has(name) ? [] : [{ name, index, stays: stays(name) }]));
  for (const [isKept, group] of Map.groupBy(unknown, (one) => one.stays)) {
    const message = messageOfUnknown([...new Set(group.map(({ name }) => name))], isKept);
    tell({ severity: 'WARNING', code: 'UNKNOWN_CLUSTER', message, path: pathOf(group[0]?.index ?? 0) });
  }
  return names.filter(stays);
}

/** Lists at most ten names. A policy may have thousands of them, and its notes are in each of its Propagations. */
function messageOfUnknown(names: readonly string[], isKept: boolean): string {
  if (names.length === 1)
    return `expected the name of a cluster of Muster, got ${JSON.stringify(names[0])}: ${isKept ? 'a plan refuses it' : 'it is left out'}`;
  const shown = names.slice(0, 10).map((name) => JSON.stringify(name));
  const others = names.length > shown.length ? ` and ${names.length - shown.length} others` : '';
  const outcome = isKept ? 'a plan refuses them' : 'they are left out';
  return `expected names of clusters of Muster, got ${shown.join(', ')}${others}: ${outcome}`;
}

/**
 * Names the clusters of the living source system in a set that names none. Without them, copies would also go to clusters that the system
 * does not have. Notes with LABELS_DIFFER a label selector that selects other clusters by the labels in Muster.
 */
export function withMembers(set: ClusterSet, { clusters, path, tell }: SetOfMembers): ClusterSet {
  const { members } = clusters;
  if (members === undefined) return set;
  noteDifferentLabels(set, members, { clusters, path, tell });
  if (set.clusters !== undefined) return set;
  return { ...set, clusters: knownNames(clusters, { names: [...members.keys()].toSorted(), pathOf: () => path }, tell) };
}

interface SetOfMembers {
  readonly clusters: ImportClusters;
  /** The path of the set in its document. */
  readonly path: string;
  readonly tell: TellNote;
}

function noteDifferentLabels(
  { selector }: ClusterSet,
  members: ReadonlyMap<string, Labels>,
  { clusters: { visible }, path, tell }: SetOfMembers,
): void {
  if (selector === undefined) return;
  const different = [...members].filter(([name, labels]) => {
    const ours = visible.get(name);
    return ours !== undefined && matchesLabelSelector(selector, labels) !== matchesLabelSelector(selector, ours);
  });
  if (different.length === 0) return;
  const names = different.map(([name]) => name).toSorted();
  const message = `the labels of ${names.join(', ')} differ between Muster and the source system, so the selector selects other clusters`;
  tell({ severity: 'WARNING', code: 'LABELS_DIFFER', message, path });
}
