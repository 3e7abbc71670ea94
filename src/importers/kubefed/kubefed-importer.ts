import { valueAt } from '../../core/json-at.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { importClustersOf } from '../clusters/import-clusters.ts';
import type { ObjectDocument, SourceDocument } from '../documents/source-documents.ts';
import { warningNote } from '../model/import-notes.ts';
import type { DocumentRole, ImportNote } from '../model/import-result.ts';
import type { ImportContext, Importer, ProposedDocument, Translation } from '../model/importer.ts';
import { translateEach } from '../model/translate-each.ts';
import { configurationNote, type Federation, federationIn } from './federation.ts';
import { proposalOf } from './propose-federated.ts';

/**
 * Translates KubeFed. Each federated object becomes a Propagation of its target, with the placement of its FederatedNamespace and with its
 * ReplicaSchedulingPreference. Each FederatedNamespace becomes one, too.
 */
export const kubeFedImporter: Importer = { system: 'Kubefed', translate };

function* translate(documents: readonly SourceDocument[], context: ImportContext): Steps<Translation> {
  const federation = federationIn(documents, context);
  const fleet = importClustersOf(context, 'Kubefed');
  const { objects } = federation;
  const translated = yield* translateEach(
    objects.map((object) => ({ document: object.source, propose: () => proposalOf(object, federation, fleet) })),
  );
  const unread = [...federation.unread, ...translated.unread];
  const rest = withoutProposal(federation, [...translated.proposals.flatMap((proposal) => proposal.documents), ...unread]);
  return {
    proposals: translated.proposals,
    unread: [...unread, ...rest.unread],
    notes: [...federation.notes, ...translated.notes, ...rest.notes],
  };
}

/** Returns the preferences without a federated object, and the configuration that no proposal uses. */
function withoutProposal(
  { preferences, typeConfigs, config }: Federation,
  taken: readonly ProposedDocument[],
): Pick<Translation, 'unread' | 'notes'> {
  const known = new Set<SourceDocument>(taken.map(({ document }) => document));
  const left = (objects: readonly ObjectDocument[]) => objects.filter((document) => !known.has(document));
  const configs = left([...typeConfigs, ...(config === undefined ? [] : [config])]);
  const lone = left(preferences);
  return {
    unread: [...lone.map((document) => withRole(document, 'SCHEDULING')), ...configs.map((document) => withRole(document, 'OTHER'))],
    notes: [...lone.map(loneNote), ...configs.map(configurationNote)],
  };
}

function withRole(document: ObjectDocument, role: DocumentRole): ProposedDocument {
  return { document, role };
}

function loneNote({ key, path, object }: ObjectDocument): ImportNote {
  const kind = String(valueAt(object, 'spec', 'targetKind'));
  const message = `there is no ${kind} ${key.name} for the ReplicaSchedulingPreference ${key.name}, or it has another preference`;
  return warningNote('NO_TEMPLATE', path, message);
}
