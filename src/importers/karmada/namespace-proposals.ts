import type { Json } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { propagationNameOf } from '../documents/source-documents.ts';
import { warningNote } from '../model/import-notes.ts';
import type { Proposal, ProposedDocument } from '../model/importer.ts';
import { UniqueNotes } from '../model/unique-notes.ts';
import type { KarmadaResource } from './claims.ts';
import type { ProposalFacts } from './karmada-proposal.ts';
import { defaultNamespace } from './policies/read-policies.ts';
import { overridesFor } from './translate-overrides.ts';

/** The label with which Karmada leaves a namespace out. */
const skipLabel = 'namespace.karmada.io/skip-auto-propagation';

/**
 * Returns the Namespaces of the text that hold a propagated resource and that no policy claims. Karmada creates every namespace in every
 * cluster, except `default`, the namespaces of Kubernetes and Karmada, and namespaces with the skip label (its NamespaceSync controller).
 */
export function namespacesOf(resources: readonly KarmadaResource[], claimed: readonly KarmadaResource[]): readonly KarmadaResource[] {
  const used = new Set(claimed.map(({ manifest }) => manifest.metadata.namespace));
  const isClaimed = new Set(claimed);
  return resources.filter((resource) => {
    const { apiVersion, kind, metadata } = resource.manifest;
    if (apiVersion !== 'v1' || kind !== 'Namespace' || isClaimed.has(resource)) return false;
    const { name } = metadata;
    if (!used.has(name) || name === defaultNamespace || /^(?:kube|karmada)-/.test(name)) return false;
    return textAt(metadata, 'labels', skipLabel)?.toLowerCase() !== 'true';
  });
}

/**
 * Makes the Propagation of a Namespace to all clusters. The Namespace stays when its Propagation is deleted, because it may have other
 * objects.
 */
export function namespaceProposalOf({ document, manifest }: KarmadaResource, { overrides, clusters }: ProposalFacts): Proposal {
  const notes = new UniqueNotes();
  notes.tell(
    warningNote('NAMESPACE_KEPT', document.path, `deleting the Propagation leaves the namespace ${manifest.metadata.name} in the clusters`),
  );
  const chosen = overrides.policiesFor(manifest);
  const entries = chosen.flatMap(({ overrides: policy }): readonly Json[] => {
    notes.add(policy.notes);
    return overridesFor(policy, { manifest, isOneOfMany: false }, { clusters, tell: notes.tell });
  });
  return {
    namespace: undefined,
    name: propagationNameOf(document.key),
    spec: {
      template: [{ json: document.object }],
      placement: {},
      ...(entries.length === 0 ? {} : { overrides: entries }),
      conflict: 'Adopt',
      deletion: { policy: 'Orphan' },
      ...(clusters.isExact ? { write: 'Replace', exact: { system: 'Karmada' } } : {}),
    },
    documents: [
      { document, role: 'TEMPLATE' },
      ...chosen.map(({ policy }): ProposedDocument => ({ document: policy.document, role: 'OVERRIDE' })),
    ],
    notes: notes.all,
  };
}
