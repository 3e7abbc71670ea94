import type { MemberCluster } from '../../changes/members.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { SourceSystem, SpecDocument, SpecProblem } from '../../propagate/model/spec.ts';
import type { ClusterLocation } from '../../propagate/plan/placing/cluster-set.ts';
import type { ObjectDocument, SourceDocument } from '../documents/source-documents.ts';
import type { DocumentRole, ImportNote } from './import-result.ts';

/** The facts that an import depends on besides the documents. */
export interface ImportContext {
  /** True: the Propagations do exactly what the source system did. False: they have the semantics of Muster, with notes about differences. */
  readonly isExact: boolean;
  /** The clusters that the caller may see. */
  readonly clusters: readonly (Pick<MemberCluster, 'name' | 'labels'> & Partial<ClusterLocation>)[];
  /** The cluster that keeps Propagations. Absent if the gateway has no hub. */
  readonly hub?: string;
  /** The cluster that the documents were read from. Absent if they come from a text. */
  readonly living?: LivingSource;
  /**
   * True: the leader keeps the Propagation in sync with a resource on the hub, and does what the source system does with the resource. Names of
   * clusters that are not in the fleet are left out of placements, with the note `UNKNOWN_CLUSTER`. A Namespace is deleted with its resource.
   *
   * Default: such names are left out only if `isExact`, and a Namespace is never deleted with its Propagation.
   */
  readonly isKeptInSync?: true;
}

/** A cluster in which the source system is installed. */
export interface LivingSource {
  readonly cluster: string;
  /** The clusters that the source system itself manages, by their names, with the labels that they have there. Absent for a system that has no list. */
  readonly members: ReadonlyMap<SourceSystem, ReadonlyMap<string, Readonly<Record<string, string>>>>;
}

/** Translates the documents of one system. */
export interface Importer {
  readonly system: SourceSystem;
  /**
   * Makes one proposal for each resource. The importer takes only documents of its own system and the resources that they refer to, and
   * leaves all others to other importers. It yields at least once per proposal.
   */
  translate(documents: readonly SourceDocument[], context: ImportContext): Steps<Translation>;
}

/** The result of one importer. A document that is in no proposal and not in `unread` was not for this importer. */
export interface Translation {
  readonly proposals: readonly Proposal[];
  /** The documents of this system that no proposal was made from. A note must say why. */
  readonly unread: readonly ProposedDocument[];
  /** The notes that belong to no proposal. */
  readonly notes: readonly ImportNote[];
  /** The refused policies by the documents that only they select. The documents may be in proposals of other importers. Default: none. */
  readonly refusedPolicies?: ReadonlyMap<SourceDocument, ObjectDocument>;
}

/** A Propagation for one resource, before its name is made unique. */
export interface Proposal {
  /**
   * The namespace of the Propagation. Undefined for cluster-scoped resources and resources without a namespace. The Propagation is then in
   * `default`.
   */
  readonly namespace: string | undefined;
  readonly name: string;
  /** `spec` of the custom resource, without `source`. Enum values are spelled as there (`Divided`), and selectors are LabelSelectors. */
  readonly spec: SpecDocument;
  readonly documents: readonly ProposedDocument[];
  readonly notes: readonly ImportNote[];
  /** The problems for which the proposal is refused. Its spec may then be incomplete. Absent or empty: the spec itself is checked. */
  readonly problems?: readonly SpecProblem[];
}

/** A document with its role. */
export interface ProposedDocument {
  readonly document: SourceDocument;
  readonly role: DocumentRole;
}
