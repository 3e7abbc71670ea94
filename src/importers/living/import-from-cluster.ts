import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { indexedPathOf } from '../../core/indexed-path.ts';
import type { Json } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { SourceSystem } from '../../propagate/model/spec.ts';
import { sourceDocumentOf } from '../documents/source-documents.ts';
import type { ImportedPropagation, ImportNote, ImportResult } from '../model/import-result.ts';
import type { ImportContext, LivingSource } from '../model/importer.ts';
import type { ClusterImportRequest, ImportCaller } from '../model/imports.ts';
import { importDocuments } from '../translation/import-documents.ts';
import { ClusterReader } from './cluster-reader.ts';
import { ImportScope } from './import-scope.ts';
import type { LivingObject, LivingObjects } from './living-objects.ts';
import { readKarmada } from './read-karmada.ts';
import { readKubeFed } from './read-kubefed.ts';

/** The cluster to import from, and the other facts that an import needs. */
export interface ImportSource {
  /** The API server, with the rights of the caller. */
  readonly api: ClusterApi;
  readonly sensitiveKinds: SensitiveKinds;
  readonly context: Omit<ImportContext, 'isExact' | 'living'>;
}

/**
 * Translates the objects of other systems in one cluster to Propagations. Reads the objects live, with the rights of the caller. Writes
 * nothing.
 *
 * A system that the cluster does not have is no fault. A list that fails is a fault, and the objects of all other lists are translated.
 */
export async function importFromCluster(
  { signal, timeSlices }: ImportCaller,
  request: ClusterImportRequest,
  { api, sensitiveKinds, context }: ImportSource,
): Promise<ImportResult> {
  const scope = new ImportScope(request.kinds, request.namespaces);
  const reader = new ClusterReader({ api, sensitiveKinds, timeSlices }, signal);
  const [kubefed, karmada, operator] = await Promise.all([
    readKubeFed(reader, { scope, sensitiveKinds }),
    readKarmada(reader, scope),
    readMultiClusterResources(reader, scope),
  ]);
  const objects = [kubefed, karmada, operator].flatMap((living) => living.objects);
  const systems: readonly (readonly [SourceSystem, LivingObjects['members']])[] = [
    ['Kubefed', kubefed.members],
    ['Karmada', karmada.members],
  ];
  const members = new Map(systems.flatMap(([system, clusters]) => (clusters === undefined ? [] : [[system, clusters]])));
  const living: LivingSource = { cluster: api.cluster, members };
  const documents = objects.map(({ json }, index) => sourceDocumentOf(json, index));
  const result = await timeSlices.run(importDocuments(documents, { ...context, isExact: request.exact, living }));
  const inScope = withinScope(result, objects, scope);
  const failedListNotes = karmada.notes ?? [];
  return { ...inScope, notes: [...inScope.notes, ...failedListNotes], faults: reader.faults };
}

async function readMultiClusterResources(reader: ClusterReader, scope: ImportScope): Promise<LivingObjects> {
  const kinds = await reader.kindsIn('mulitcluster.practice.com');
  const kind = kinds.find((one) => one.kind === 'MultiClusterResource');
  const { objects } = kind === undefined ? { objects: [] } : await reader.list({ kind, namespaces: scope.namespaces });
  return { objects: objects.filter((object) => isInScope(valueAt(object, 'spec', 'template'), scope)).map((json) => ({ json })) };
}

/** True if the object, or a reference to it, is of a kind of the scope. */
function isInScope(object: Json | undefined, scope: ImportScope): boolean {
  return scope.includes({ group: groupOfApiVersion(textAt(object, 'apiVersion') ?? ''), kind: textAt(object, 'kind') ?? '' });
}

/**
 * Returns the result without the Propagations of kinds outside the scope. A Propagation of an object with `followsScope` stays. An unread
 * object with `isContext` is left out too, with its notes, unless it has an error.
 */
function withinScope(result: ImportResult, objects: readonly LivingObject[], scope: ImportScope): ImportResult {
  const withError = new Set(result.notes.filter(({ severity }) => severity === 'ERROR').map(indexOfNote));
  const leftOut = new Set(
    result.unread.map(({ index }) => index).filter((index) => objects[index]?.isContext === true && !withError.has(index)),
  );
  const isWanted = ({ input, documents }: ImportedPropagation) =>
    isInScope(propagatedBy(input), scope) ||
    documents.some(({ index, role }) => role === 'TEMPLATE' && objects[index]?.followsScope === true);
  return {
    ...result,
    propagations: result.propagations.filter(isWanted),
    unread: result.unread.filter(({ index }) => !leftOut.has(index)),
    notes: result.notes.filter((note) => !leftOut.has(indexOfNote(note) ?? -1)),
  };
}

/**
 * Returns the first entry of the template of an input: the resource that it propagates, or a reference to it. The entries of dependencies
 * come later. Undefined without a template.
 */
function propagatedBy(input: Json): Json | undefined {
  const [first] = listAt(input, 'template');
  return valueAt(first, 'json') ?? valueAt(first, 'ref');
}

/** Returns the index of the document that the path of a note begins with, such as 3 for `[3].spec`. Undefined without a path. */
function indexOfNote({ path = '' }: ImportNote): number | undefined {
  return indexedPathOf(path)?.index;
}

const controllers: Readonly<Record<SourceSystem, string>> = {
  Karmada: 'Karmada',
  Kubefed: 'KubeFed',
  FederationV1: 'Federation v1',
  MultiClusterResource: 'the operator of MultiClusterResources',
};

/** Adds a warning for each system that has Propagations in the result: its controllers must stop before the Propagations are applied. */
export function withStopNotes(result: ImportResult, cluster: string): ImportResult {
  const systems = [...new Set(result.propagations.map(({ system }) => system))];
  const stopNotes = systems.map(
    (system): ImportNote => ({
      severity: 'WARNING',
      code: 'STOP_FIRST',
      message:
        `plan the Propagations, then stop the controllers of ${controllers[system]}, then apply the Propagations. ` +
        `Leave their resources in cluster ${cluster} until its controllers are gone: ` +
        'if the resources are deleted while the controllers run, the copies are deleted too',
    }),
  );
  return { ...result, notes: [...result.notes, ...stopNotes] };
}
