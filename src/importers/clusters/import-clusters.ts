import { parseClusterName } from '../../core/names.ts';
import { type LabelSelector, matchesLabelSelector } from '../../core/selectors.ts';
import type { ClusterSet, SourceSystem } from '../../propagate/model/spec.ts';
import type { ClusterLocation } from '../../propagate/plan/placing/cluster-set.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ImportContext } from '../model/importer.ts';
import { nameListOf } from '../model/name-list.ts';

type Labels = Readonly<Record<string, string>>;

/** Receives the notes of a translation. */
export type AddNote = (note: ImportNote) => void;

/** The clusters that an import knows, by their names. */
export interface ImportClusters {
  readonly isExact: boolean;
  /** True: a placement leaves out names of clusters that are not in `visible`. False: such names stay, and a plan then refuses them. */
  readonly leavesOutUnknown: boolean;
  /** The clusters that the caller may see, with their labels in Muster. */
  readonly visible: ReadonlyMap<string, Labels>;
  /** The locations of these clusters, as far as they are known. */
  readonly locations: ReadonlyMap<string, ClusterLocation>;
  /**
   * The clusters that the source system manages, with their labels in that system. Absent if the documents come from a text, or the system
   * keeps no list of clusters, or the list could not be read.
   */
  readonly members?: ReadonlyMap<string, Labels>;
}

/** Names of clusters in a document. `pathOf` returns the path of a name, for notes. */
export interface NamesInDocument {
  readonly names: readonly string[];
  readonly pathOf: (index: number) => string;
}

/** Returns the clusters that an import of documents of one system knows. */
export function importClustersOf(context: ImportContext, system: SourceSystem): ImportClusters {
  const { isExact, clusters, living, isKeptInSync } = context;
  const members = living?.members.get(system);
  return {
    isExact,
    leavesOutUnknown: isExact || isKeptInSync === true,
    visible: new Map(clusters.map(({ name, labels }) => [name, labels])),
    locations: new Map(clusters.map(({ name, provider, region, zones = [] }) => [name, { provider, region, zones }])),
    ...(members === undefined ? {} : { members }),
  };
}

/**
 * Returns those of the names that go into the Propagation. The names of visible clusters always do. Other names do unless
 * `leavesOutUnknown` is set, but a text that cannot be the name of a cluster, such as an empty one, never does.
 *
 * Reports at most two notes UNKNOWN_CLUSTER: one with the unknown names that stay, and one with the unknown names that are left out.
 */
export function knownNames(clusters: ImportClusters, { names, pathOf }: NamesInDocument, addNote: AddNote): readonly string[] {
  const stays = (name: string) => clusters.visible.has(name) || (!clusters.leavesOutUnknown && parseClusterName(name) !== undefined);
  const unknown = names.flatMap((name, index) => (clusters.visible.has(name) ? [] : [{ name, index, stays: stays(name) }]));
  for (const [isKept, group] of Map.groupBy(unknown, (one) => one.stays)) {
    const message = messageOfUnknown([...new Set(group.map(({ name }) => name))], isKept);
    addNote({ severity: 'WARNING', code: 'UNKNOWN_CLUSTER', message, path: pathOf(group[0]?.index ?? 0) });
  }
  return names.filter(stays);
}

/**
 * Returns the message of a note UNKNOWN_CLUSTER. It has at most ten names: a policy may have thousands, and each of its Propagations has
 * the note.
 */
function messageOfUnknown(names: readonly string[], isKept: boolean): string {
  if (names.length === 1)
    return `expected the name of a cluster of Muster, got ${JSON.stringify(names[0])}: ${isKept ? 'a plan refuses it' : 'it is left out'}`;
  const shown = nameListOf(names.map((name) => JSON.stringify(name)));
  const outcome = isKept ? 'a plan refuses them' : 'they are left out';
  return `expected names of clusters of Muster, got ${shown}: ${outcome}`;
}

/**
 * Returns the set of a placement, as `withSelectedMembers` does. If `members` are known and the set has no list of clusters, it gets all of
 * them, because copies would otherwise also go to clusters that only Muster has.
 */
export function withMembers(set: ClusterSet, scope: SetOfMembers): ClusterSet {
  const selected = withSelectedMembers(set, scope);
  if (scope.clusters.members === undefined || selected.clusters !== undefined) return selected;
  return { ...selected, clusters: knownMembers(scope.clusters.members, scope) };
}

/**
 * Returns the set. Reports a warning LABELS_DIFFER if the selector of the set matches a cluster by its labels in only one of the two systems.
 * In exact mode, the members that it matches in the source system then replace the selector.
 */
export function withSelectedMembers(set: ClusterSet, scope: SetOfMembers): ClusterSet {
  const { members, isExact } = scope.clusters;
  const { selector, ...others } = set;
  if (members === undefined || selector === undefined || !noteDifferentLabels(selector, members, scope) || !isExact) return set;
  const listed = set.clusters ?? knownMembers(members, scope);
  return { ...others, clusters: listed.filter((name) => matchesLabelSelector(selector, members.get(name))) };
}

function knownMembers(members: ReadonlyMap<string, Labels>, { clusters, path, addNote }: SetOfMembers): readonly string[] {
  return knownNames(clusters, { names: [...members.keys()].toSorted(), pathOf: () => path }, addNote);
}

interface SetOfMembers {
  readonly clusters: ImportClusters;
  /** The path of the set in its document. */
  readonly path: string;
  readonly addNote: AddNote;
}

/** Reports the note LABELS_DIFFER if the selector matches other clusters by the labels of Muster. True if it does. */
function noteDifferentLabels(
  selector: LabelSelector,
  members: ReadonlyMap<string, Labels>,
  { clusters: { visible, isExact }, path, addNote }: SetOfMembers,
): boolean {
  const different = [...members].filter(([name, labels]) => {
    const ours = visible.get(name);
    return ours !== undefined && matchesLabelSelector(selector, labels) !== matchesLabelSelector(selector, ours);
  });
  if (different.length === 0) return false;
  const outcome = isExact
    ? 'the clusters that the selector matches in the source system are listed instead of it'
    : 'the selector selects other clusters: give these clusters the same labels in Muster';
  const names = nameListOf(different.map(([name]) => name).toSorted());
  addNote({
    severity: 'WARNING',
    code: 'LABELS_DIFFER',
    message: `the labels of ${names} differ between Muster and the source system, so ${outcome}`,
    path,
  });
  return true;
}
