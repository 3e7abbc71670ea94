import { type IntentNote, noteFields } from '../../core/columns/plan-texts.ts';
import { objectTextOf, pathWithObject } from '../../core/indexed-path.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import type { GatewayClient } from '../client/gateway-client.ts';
import type { ImportedInput } from '../client/manifest-reader.ts';
import { printable, renderTable } from '../output/table.ts';

/** The answer to an import. */
export interface ImportAnswer {
  readonly propagations: readonly {
    readonly system: string;
    readonly input: ImportedInput;
    readonly documents: readonly ImportedDocumentView[];
    readonly notes: readonly IntentNote[];
  }[];
  readonly unread: readonly ImportedDocumentView[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

/** One document of an import. `key` is null for a document that is no object. */
interface ImportedDocumentView {
  readonly index: number;
  readonly key: { readonly kind: string; readonly namespace: string | null; readonly name: string } | null;
}

/** The source of an import: the text of files, or the living resources of a cluster. Null: all kinds, or all namespaces. */
export type ImportRequest =
  | { readonly yaml: string; readonly exact: boolean }
  | {
      readonly cluster: string;
      readonly kinds: readonly string[] | null;
      readonly namespaces: readonly string[] | null;
      readonly exact: boolean;
    };

const documentFields = 'index key { kind namespace name }';
const fields = `propagations { system input documents { ${documentFields} } notes { ${noteFields} } } unread { ${documentFields} }
  notes { ${noteFields} } faults { ${faultFields} }`;

const fileQuery = `query ($yaml: String!, $exact: Boolean) { imported: importManifests(yaml: $yaml, exact: $exact) { ${fields} } }`;
const clusterQuery = `query ($cluster: String!, $kinds: [String!], $namespaces: [String!], $exact: Boolean) {
  imported: importFromCluster(cluster: $cluster, kinds: $kinds, namespaces: $namespaces, exact: $exact) { ${fields} } }`;

/** Imports at the gateway. @throws {CommandFailure} for an error of the gateway. */
export async function requestImport(gateway: GatewayClient, request: ImportRequest): Promise<ImportAnswer> {
  const query = 'yaml' in request ? fileQuery : clusterQuery;
  return (await gateway.query<{ readonly imported: ImportAnswer }>(query, { ...request })).imported;
}

/** Where an import is from: one file, several files, or a living system. */
export type ImportOrigin = 'file' | 'files' | 'cluster';

/**
 * Returns all notes: the notes of each Propagation, then the notes that belong to no Propagation. The notes of several files or of a living
 * system name the object instead of the index, because a user does not see the order of all objects. The items of a list keep their index.
 */
export function importNotes({ propagations, unread, notes }: ImportAnswer, from: ImportOrigin): readonly IntentNote[] {
  const all = [...propagations.flatMap((propagation) => propagation.notes), ...notes];
  if (from === 'file') return all;
  const documents = [...propagations.flatMap((propagation) => propagation.documents), ...unread];
  const keys = new Map(documents.map(({ index, key }) => [index, key ?? undefined]));
  const pathNamed = (path: string) => (isInList(path) ? path : pathWithObject(path, (index) => keys.get(index)));
  return all.map((note) => ({ ...note, path: note.path === null ? null : pathNamed(note.path) }));
}

/** True for the path of an item of a list. All items of a list have its index, so the index alone does not say which object is meant. */
function isInList(path: string): boolean {
  return /^\[\d+\]\.items\[/.test(path);
}

/** Returns a line for each document from which no Propagation was made. A note of the import says why. */
export function unreadLines({ unread }: ImportAnswer, from: ImportOrigin): readonly string[] {
  return unread.map(({ index, key }) => {
    const parts = [...(from !== 'cluster' || key === null ? [`[${index}]`] : []), ...(key === null ? [] : [objectTextOf(key)])];
    return printable(`not imported: ${parts.join(' ')}`);
  });
}

/** Returns the table of the Propagations. */
export function importLines({ propagations }: ImportAnswer): string {
  return renderTable(
    ['NAMESPACE', 'NAME', 'SYSTEM', 'DOCUMENTS', 'NOTES'],
    propagations.map(({ system, input, documents, notes }) => [
      input.namespace,
      input.name,
      systemNames[system] ?? system,
      documents.map(({ index }) => index).join(','),
      String(notes.length),
    ]),
  );
}

const systemNames: Readonly<Record<string, string>> = {
  KARMADA: 'Karmada',
  KUBEFED: 'KubeFed',
  FEDERATION_V1: 'Federation v1',
  MULTI_CLUSTER_RESOURCE: 'MultiClusterResource',
};
