import type { Fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import type { SourceSystem } from '../../propagate/model/spec.ts';

/** The Propagations that manifests of other systems become. Every document of the input is in the `documents` of a Propagation or in `unread`. */
export interface ImportResult {
  /** One Propagation per resource, in the order of the resources in the input. */
  readonly propagations: readonly ImportedPropagation[];
  /** The documents that no Propagation was made from, in the order of the input. A note says why. */
  readonly unread: readonly ImportedDocument[];
  /** The notes that belong to no Propagation. Every document in `unread` has one. */
  readonly notes: readonly ImportNote[];
  /** The reasons why something could not be read from a cluster. An import of text reads only the hub, for the names that are taken. */
  readonly faults: readonly Fault[];
}

/** A Propagation for one resource. */
export interface ImportedPropagation {
  readonly system: SourceSystem;
  /** A `PropagationInput` of the GraphQL schema, ready for `propagate`. */
  readonly input: Json;
  /** The documents from which the Propagation was made, in the order of the input. */
  readonly documents: readonly ImportedDocument[];
  readonly notes: readonly ImportNote[];
}

/** One document of the input, with its role in a Propagation. */
export interface ImportedDocument {
  /** The index of the document, from 0. Empty documents are not counted. The items of a list have the index of their list. */
  readonly index: number;
  /** Absent if the document is no Kubernetes object. */
  readonly key?: ObjectKey;
  readonly role: DocumentRole;
}

/**
 * The role of a document in a Propagation: the resource itself or its federated form (`TEMPLATE`), the choice of clusters (`PLACEMENT`),
 * differences between clusters (`OVERRIDE`), the division of replicas (`SCHEDULING`), or none of them (`OTHER`).
 */
export type DocumentRole = 'TEMPLATE' | 'PLACEMENT' | 'OVERRIDE' | 'SCHEDULING' | 'OTHER';

/**
 * A difference between the source and what Muster does.
 *
 * - `ERROR`: the document was not imported, or its Propagation must not be applied.
 * - `WARNING`: Muster will not do something that the document asks for.
 * - `INFO`: the source system would do something else, or the Propagation expresses the same in another form.
 */
export interface ImportNote {
  readonly severity: 'INFO' | 'WARNING' | 'ERROR';
  /** One word for programs, such as `UNKNOWN_CLUSTER`. */
  readonly code: string;
  /** The note for people. It contains no values of Secrets. */
  readonly message: string;
  /** The path in the input, such as `[1].spec.schedulerName`. Absent if the note is about no single field. */
  readonly path?: string;
}
