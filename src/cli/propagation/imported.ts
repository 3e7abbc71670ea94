import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import type { GatewayClient } from '../client/gateway-client.ts';
import type { ImportedInput } from '../client/manifest-reader.ts';
import { renderTable } from '../output/table.ts';
import { type IntentNote, noteFields } from './plan.ts';

/** The answer to an import. */
export interface ImportAnswer {
  readonly propagations: readonly {
    readonly system: string;
    readonly input: ImportedInput;
    readonly documents: readonly { readonly index: number }[];
    readonly notes: readonly IntentNote[];
  }[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
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

const fields = `propagations { system input documents { index } notes { ${noteFields} } } notes { ${noteFields} } faults { ${faultFields} }`;

const fileQuery = `query ($yaml: String!, $exact: Boolean) { imported: importManifests(yaml: $yaml, exact: $exact) { ${fields} } }`;
const clusterQuery = `query ($cluster: String!, $kinds: [String!], $namespaces: [String!], $exact: Boolean) {
  imported: importFromCluster(cluster: $cluster, kinds: $kinds, namespaces: $namespaces, exact: $exact) { ${fields} } }`;

/** Imports at the gateway. @throws {CommandFailure} for an error of the gateway. */
export async function requestImport(gateway: GatewayClient, request: ImportRequest): Promise<ImportAnswer> {
  const query = 'yaml' in request ? fileQuery : clusterQuery;
  return (await gateway.query<{ readonly imported: ImportAnswer }>(query, { ...request })).imported;
}

/** Returns all notes: first those of the Propagations, then those that belong to no Propagation. */
export function importNotes({ propagations, notes }: ImportAnswer): readonly IntentNote[] {
  return [...propagations.flatMap((propagation) => propagation.notes), ...notes];
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
