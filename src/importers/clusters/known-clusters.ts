import type { ImportNote } from '../model/import-result.ts';
import { type ImportClusters, knownNames } from './import-clusters.ts';

/** The name of a cluster in a document, with the path of the name. */
interface NamedCluster {
  readonly name: string;
  readonly path: string;
}

/** The names that go into a spec, each once, and the notes about names that are no visible cluster. */
interface KnownClusters {
  readonly names: readonly string[];
  readonly notes: readonly ImportNote[];
}

/** Chooses with `knownNames` the names that go into a spec, and collects its notes. A name that the document repeats is returned once. */
export function knownClusters(clusters: ImportClusters, named: readonly NamedCluster[]): KnownClusters {
  const notes: ImportNote[] = [];
  const names = knownNames(clusters, { names: named.map(({ name }) => name), pathOf: (index) => named[index]?.path ?? '' }, (note) =>
    notes.push(note),
  );
  return { names: [...new Set(names)], notes };
}
