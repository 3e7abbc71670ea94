import { type AccountName, userOfAccount } from '../../access/user-in-cluster.ts';
import { invariant } from '../../core/errors.ts';
import { sha256Of } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { clusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { runAtOnce } from '../../core/scheduling/operation-scheduler.ts';
import { withoutMembers } from '../../manifests/json-edits.ts';
import { documentOf } from '../../propagate/model/input-spec.ts';
import type { PropagationInput } from '../../propagate/model/propagations.ts';
import { parseSpec, type SpecDocument } from '../../propagate/model/spec.ts';
import { indexedDocuments } from '../documents/source-documents.ts';
import type { ImportNote } from '../model/import-result.ts';
import { importDocuments } from '../translation/import-documents.ts';
import { nameOf, resourceKind } from './resource-store.ts';

/** The spec that the Propagation of a resource must have, or why there is none. The notes tell the differences. */
export type ResourceTranslation =
  | TranslatedResource
  | { readonly result: 'broken'; readonly message: string; readonly notes: readonly ImportNote[] };

/** A resource that can be propagated. */
export interface TranslatedResource {
  readonly result: 'translated';
  /** The hash of `document()` (`sha256Of`). Only the hash is kept, because there may be thousands of resources. */
  readonly hash: string;
  /** Translates the resource again, and returns the spec. */
  readonly document: () => SpecDocument;
  readonly notes: readonly ImportNote[];
}

/** The facts that a translation depends on besides the resource. */
export interface TranslationFacts {
  /** The clusters of the fleet. Names of other clusters are left out of the placement. */
  readonly clusters: readonly string[];
  readonly hub: string;
  /** The service account in the namespace of the resource that writes copies. Default: the account of the gateway. */
  readonly serviceAccount?: string | undefined;
}

/**
 * Translates one MultiClusterResource of the hub, as the importer does for a living system. But `source` names no cluster, so that
 * `muster import --undo` leaves the Propagation: the upkeep would create it again. The result for an invalid resource has a
 * message with the path of the problem.
 */
export function translateResource(resource: KubernetesObject, facts: TranslationFacts): ResourceTranslation {
  const read = readResource(resource, facts);
  if (read.result === 'broken') return read;
  const { document, notes } = read;
  const again = () => {
    const found = readResource(resource, facts);
    invariant(found.result === 'read', 'a resource has the same translation each time');
    return found.document;
  };
  return { result: 'translated', hash: sha256Of(document), document: again, notes };
}

type ResourceRead =
  | { readonly result: 'read'; readonly document: SpecDocument; readonly notes: readonly ImportNote[] }
  | Extract<ResourceTranslation, { readonly result: 'broken' }>;

function readResource(resource: KubernetesObject, { clusters: names, hub, serviceAccount }: TranslationFacts): ResourceRead {
  const { apiVersion, kind } = resourceKind;
  const documents = indexedDocuments([{ ...resource, apiVersion: resource.apiVersion ?? apiVersion, kind }]);
  const clusters = names.map((name) => ({ name: clusterName(name), labels: {} }));
  const living = { cluster: hub, members: new Map<never, never>() };
  const imported = runAtOnce(importDocuments(documents, { isExact: false, clusters, hub, living, isKeptInSync: true }));
  const [propagation] = imported.propagations;
  const notes = [...(propagation?.notes ?? []), ...imported.notes].map(withoutIndex);
  const problem = notes.find(({ severity }) => severity === 'ERROR');
  if (propagation === undefined || problem !== undefined) return { result: 'broken', message: messageOf(problem ?? notes[0]), notes };
  const { namespace } = nameOf(resource);
  const acting = serviceAccount === undefined ? {} : actingAs({ namespace, name: serviceAccount }, resource);
  const content = documentOf(propagation.input as PropagationInput).document;
  const document: JsonObject = { ...content, ...acting, source: withoutMembers(objectAt(content, 'source'), ['cluster']) };
  const spec = parseSpec(document);
  const refused = 'problems' in spec ? spec.problems[0] : undefined;
  return refused === undefined
    ? { result: 'read', document: document as SpecDocument, notes }
    : { result: 'broken', message: `${refused.path}: ${refused.message}`, notes };
}

/**
 * Returns the parts of the spec that make the copies those of a ServiceAccount. The account is also the requester, because with
 * authentication a Propagation without a requester is refused. The time is that of the resource, so that the translation stays the same.
 */
function actingAs(account: AccountName, { metadata: { creationTimestamp: at } }: KubernetesObject): JsonObject {
  return { runAs: { serviceAccount: { ...account } }, requester: { user: userOfAccount(account), at: at ?? '1970-01-01T00:00:00Z' } };
}

/** Paths of notes begin with the index of the document. A resource on the hub is the only document. */
function withoutIndex({ path, ...note }: ImportNote): ImportNote {
  return path === undefined ? note : { ...note, path: path.replace(/^\[0\]\.?/, '') };
}

function messageOf(note: ImportNote | undefined): string {
  if (note === undefined) return 'expected a resource that can be propagated';
  return note.path === undefined || note.path === '' ? note.message : `${note.path}: ${note.message}`;
}
