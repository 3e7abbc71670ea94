import type { ObjectDocument } from '../documents/source-documents.ts';
import { warningNote } from '../model/import-notes.ts';
import type { DocumentRole, ImportNote } from '../model/import-result.ts';
import type { Proposal } from '../model/importer.ts';
import type { KarmadaResource } from './claims.ts';
import { describeDocument, type PoliciesRead, type PropagationPolicy } from './policies/read-policies.ts';

/** A document that no Propagation is made from, with the notes that say why. */
export interface UnreadDocument {
  readonly document: ObjectDocument;
  readonly role: DocumentRole;
  readonly notes: readonly ImportNote[];
}

/**
 * Returns a Secret, or an object that contains one, as unread, with the error that a Propagation must not contain its data. The message
 * names `selectedBy`: the policy or workload that selects the object.
 */
export function unreadSecret({ document }: KarmadaResource, selectedBy: string): UnreadDocument {
  const message =
    `${describeDocument(document)} is selected by ${selectedBy}, but a Propagation takes the data of a Secret by reference only: ` +
    'every reader of the Propagation could read them. Create the Secret in a cluster, and propagate it with ref';
  return { document, role: 'TEMPLATE', notes: [{ severity: 'ERROR', code: 'SECRET', message, path: document.path }] };
}

/** Returns a resource that a policy selects, but that Karmada never propagates, as unread. */
export function unreadReserved({ document }: KarmadaResource, policy: PropagationPolicy): UnreadDocument {
  const message = `${describeDocument(document)} is selected by ${describeDocument(policy.document)}, but Karmada propagates no objects of its namespace or kind`;
  return { document, role: 'OTHER', notes: [warningNote('UNCLAIMED', document.path, message)] };
}

interface UsedPolicies {
  readonly proposals: readonly Proposal[];
  /** The policies that select a resource that another policy propagates. */
  readonly losers: ReadonlySet<PropagationPolicy>;
}

/** Returns the policies that are in no proposal, because they select no resource, or only resources that other policies propagate. */
export function unreadPolicies({ propagation, overrides }: PoliciesRead, { proposals, losers }: UsedPolicies): readonly UnreadDocument[] {
  const used = new Set(proposals.flatMap(({ documents }) => documents.map(({ document }) => document)));
  return [
    ...propagation.map((policy) => ({
      ...policy,
      role: 'PLACEMENT' as const,
      message: losers.has(policy) ? 'selects only resources that other policies propagate' : 'selects no resource that can be propagated',
    })),
    ...overrides.map((policy) => ({ ...policy, role: 'OVERRIDE' as const, message: 'selects no resource that a policy propagates' })),
  ]
    .filter(({ document }) => !used.has(document))
    .map(({ document, role, message, notes }) => ({
      document,
      role,
      notes: [
        { severity: 'WARNING', code: 'NO_TEMPLATE', message: `${describeDocument(document)} ${message}`, path: document.path },
        ...notes,
      ],
    }));
}
