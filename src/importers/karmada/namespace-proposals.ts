import { textAt } from '../../core/json-at.ts';
import { propagationNameOf } from '../documents/source-documents.ts';
import { infoNote } from '../model/import-notes.ts';
import type { Proposal, ProposedDocument } from '../model/importer.ts';
import { UniqueNotes } from '../model/unique-notes.ts';
import type { ClaimedResource } from './attach-dependencies.ts';
import type { KarmadaResource, PolicyChoice } from './claims.ts';
import { type ProposalFacts, templateEntryOf } from './karmada-proposal.ts';
import { overridesOf } from './object-overrides.ts';
import { defaultNamespace, describeDocument } from './policies/read-policies.ts';
import { translatePlacement } from './translate-placement.ts';

/** The label with which Karmada leaves a namespace out. */
const skipLabel = 'namespace.karmada.io/skip-auto-propagation';

/**
 * Returns the Namespaces that hold a propagated resource, or that a policy claims. Karmada creates every namespace in every
 * cluster, whatever the policy chooses. Exceptions are `default`, the namespaces of Kubernetes and Karmada, and namespaces with the skip label (its
 * NamespaceSync controller).
 */
export function namespacesOf(resources: readonly KarmadaResource[], claimed: readonly ClaimedResource[]): readonly SyncedNamespace[] {
  const used = new Set(claimed.map(({ resource }) => resource.manifest.metadata.namespace));
  const choices = new Map(claimed.map(({ resource, choice }) => [resource, choice]));
  return resources.flatMap((resource) => {
    const choice = choices.get(resource);
    const isNeeded = choice !== undefined || used.has(resource.manifest.metadata.name);
    return isNeeded && isSynced(resource) ? [{ resource, choice }] : [];
  });
}

/** A Namespace that Karmada creates in every cluster. */
export interface SyncedNamespace {
  readonly resource: KarmadaResource;
  /** The policy that claims it. Its placement does not limit the Namespace. */
  readonly choice: PolicyChoice | undefined;
}

function isSynced({ manifest: { apiVersion, kind, metadata } }: KarmadaResource): boolean {
  if (apiVersion !== 'v1' || kind !== 'Namespace') return false;
  if (metadata.name === defaultNamespace || /^(?:kube|karmada)-/.test(metadata.name)) return false;
  return textAt(metadata, 'labels', skipLabel)?.toLowerCase() !== 'true';
}

/** Makes the Propagation of a Namespace to all clusters. */
export function namespaceProposalOf(
  { resource, choice }: SyncedNamespace,
  { overrides, clusters, sourceCluster }: ProposalFacts,
): Proposal {
  const { document, manifest } = resource;
  const notes = new UniqueNotes();
  if (choice !== undefined) {
    const message = `Namespace ${manifest.metadata.name} goes to every cluster, as in Karmada, whatever ${describeDocument(choice.winner.document)} chooses`;
    notes.add(infoNote('CLAIMED_BY', document.path, message));
  }
  const chosen = overrides.policiesFor(manifest);
  const { fields, problems } = overridesOf([{ manifest, writtenVersion: manifest.apiVersion, policies: chosen }], {
    clusters,
    notes,
    isOneOfMany: false,
  });
  return {
    namespace: undefined,
    name: propagationNameOf(document.key),
    spec: {
      template: [templateEntryOf(resource, { sourceCluster })],
      placement: translatePlacement({}, { clusters, path: document.path, addNote: notes.add }, sourceCluster),
      ...fields,
      conflict: 'Adopt',
      ...(clusters.isExact ? { write: 'Replace', exact: { system: 'Karmada' } } : {}),
    },
    documents: [
      { document, role: 'TEMPLATE' },
      ...(choice === undefined ? [] : [{ document: choice.winner.document, role: 'PLACEMENT' } as const]),
      ...chosen.map(({ policy }): ProposedDocument => ({ document: policy.document, role: 'OVERRIDE' })),
    ],
    notes: notes.all,
    problems,
  };
}
