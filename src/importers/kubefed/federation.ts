import type { Json } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';
import type { ObjectDocument, SourceDocument } from '../documents/source-documents.ts';
import { errorNote, infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ProposedDocument } from '../model/importer.ts';
import { type FederationDocuments, federationDocumentsIn } from './federation-documents.ts';
import { type ReplicaPreference, readReplicaPreference } from './replica-preference.ts';

/** The contents of all documents of KubeFed, combined. */
export interface Federation extends Pick<FederationDocuments, 'preferences' | 'typeConfigs' | 'config'> {
  /** The federated objects, including the FederatedNamespaces. */
  readonly objects: readonly FederatedObject[];
  /** Returns the FederatedNamespace of a namespace. Undefined if there is none. */
  namespaceOf(namespace: string): FederatedObject | undefined;
  /** Returns the ReplicaSchedulingPreference for a federated object. Undefined if there is none. */
  preferenceOf(object: ObjectDocument): ReplicaPreference | undefined;
  /** The documents that KubeFed would refuse, and those that are no part of a Propagation. A note says why. */
  readonly unread: readonly ProposedDocument[];
  readonly notes: readonly ImportNote[];
}

/** A federated object in the spelling of the last KubeFed. */
export interface FederatedObject {
  /** The document of the input. */
  readonly source: ObjectDocument;
  /** The same, with the fields of earlier versions converted. */
  readonly current: ObjectDocument;
  /** Notes about the conversion. */
  readonly notes: readonly ImportNote[];
}

/** Reads the documents of KubeFed. In exact mode, fields of earlier versions are not converted. */
export function federationIn(documents: readonly SourceDocument[], { isExact }: { readonly isExact: boolean }): Federation {
  const found = federationDocumentsIn(documents);
  const namespaces = new Map<string, FederatedObject>();
  const objects = found.federated.map((source) => convertedObject(source, isExact));
  const unread: ProposedDocument[] = [];
  const notes: ImportNote[] = [];
  for (const namespace of found.namespaces.map((source) => convertedObject(source, isExact))) {
    const { key, path } = namespace.source;
    if ((key.namespace ?? key.name) !== key.name) {
      const message = `expected a FederatedNamespace in the namespace of its own name, ${key.name}, got ${key.namespace}`;
      notes.push(errorNote('INVALID', `${path}.metadata.namespace`, message));
      unread.push({ document: namespace.source, role: 'TEMPLATE' });
    } else {
      objects.push(namespace);
      if (!namespaces.has(key.name)) namespaces.set(key.name, namespace);
    }
  }
  const preferences = new Map<string, ReplicaPreference>();
  for (const document of found.preferences) {
    const read = readReplicaPreference(document);
    if (read.result === 'read') {
      const id = `${read.targetKind}/${document.key.namespace ?? ''}/${document.key.name}`;
      if (!preferences.has(id)) preferences.set(id, read);
    } else {
      notes.push(read.note);
      unread.push({ document, role: 'SCHEDULING' });
    }
  }
  for (const document of found.others) {
    notes.push(configurationNote(document));
    unread.push({ document, role: 'OTHER' });
  }
  return {
    ...found,
    objects,
    namespaceOf: (namespace) => namespaces.get(namespace),
    preferenceOf: ({ key }) => preferences.get(`${key.kind}/${key.namespace ?? ''}/${key.name}`),
    unread,
    notes,
  };
}

/** Returns the note that an object configures the federation itself. */
export function configurationNote({ key, path }: ObjectDocument): ImportNote {
  return warningNote('UNSUPPORTED', path, `${key.kind} ${key.name} configures KubeFed itself and is not imported`);
}

/** Converts `placement.clusterNames` of the first versions of KubeFed to `placement.clusters`. In exact mode, nothing is converted. */
function convertedObject(source: ObjectDocument, isExact: boolean): FederatedObject {
  const written = valueAt(source.object, 'spec', 'placement', 'clusterNames');
  const isOld = !isExact && Array.isArray(written) && valueAt(source.object, 'spec', 'placement', 'clusters') === undefined;
  if (!isOld) return { source, current: source, notes: [] };
  const clusters = listAt(source.object, 'spec', 'placement', 'clusterNames').map((name: Json) => ({ name }));
  const object = withValueAt(
    withoutValueAt(source.object, ['spec', 'placement', 'clusterNames']),
    ['spec', 'placement', 'clusters'],
    clusters,
  );
  const at = `${source.path}.spec.placement.clusterNames`;
  return { source, current: { ...source, object }, notes: [infoNote('PATH_CONVERTED', at, 'clusterNames became clusters')] };
}

/** True if KubeFed was limited to one namespace. FederatedNamespaces are then optional. */
export function isLimitedToNamespace({ config }: Federation): boolean {
  return textAt(config?.object, 'spec', 'scope') === 'Namespaced';
}

/** True if KubeFed did not take over existing objects of its members. */
export function isAdoptionDisabled({ config }: Federation): boolean {
  return textAt(config?.object, 'spec', 'syncController', 'adoptResources') === 'Disabled';
}
