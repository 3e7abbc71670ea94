import type { z } from 'zod';
import { invariant } from '../../core/errors.ts';
import { type DocumentProblem, printDocument, readDocument } from '../../core/json/documents.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { clusterSet } from './cluster-set-definition.ts';
import type { override } from './override-definition.ts';
import type { placement, replicas } from './placement-definition.ts';
import type { sourceSystem } from './source-definition.ts';
import { type deletion, deletionParts, type requester, spec } from './spec-definition.ts';

/**
 * `spec` of a Propagation (docs/internals/propagation.md 2.1), validated and with its defaults. Enum values are spelled as in the custom
 * resource (`ServerSideApply`). Durations are in milliseconds. `spec-definition.ts` and docs/propagation-fields.md describe the fields.
 */
export type PropagationSpec = z.output<typeof spec>;

export type ClusterSet = z.output<typeof clusterSet>;
export type ClusterFieldRequirement = NonNullable<ClusterSet['fields']>[number];

export type Placement = z.output<typeof placement>;
/** core/v1 Toleration. */
export type Toleration = Placement['tolerations'][number];
export type AffinityGroup = Placement['affinityGroups'][number];
export type Spread = Placement['spread'][number];

export type ReplicasSpec = z.output<typeof replicas>;
export type ReplicaRule = ReplicasSpec['rules'][number];

export type Override = z.output<typeof override>;
export type ObjectMatch = Override['objects'];
export type ImageOverride = Override['image'][number];
export type ListOverride = Override['command'][number];
export type EnvOverride = Override['env'][number];
export type MapOverride = Override['labels'][number];
export type OverrideOperator = MapOverride['operator'];
/** An override inside a field whose text is a JSON or YAML document. */
export type FieldOverride = Override['fields'][number];

export type FailoverSpec = NonNullable<PropagationSpec['failover']>;

export type ConflictMode = PropagationSpec['conflict'];
export type WriteMode = PropagationSpec['write'];
export type DeletionSpec = z.output<typeof deletion>;
export type CompletionSpec = NonNullable<PropagationSpec['completion']>;

/** `exact` of a spec: the system whose rules the planner follows. */
export type ExactSpec = NonNullable<PropagationSpec['exact']>;

/** An identity, with the time of its request (RFC 3339). */
export type Requester = z.output<typeof requester>;

/** A system whose manifests can be imported. */
export type SourceSystem = z.output<typeof sourceSystem>;

/** A problem of a spec, with its path below `spec`. The message has the expected and the given value. */
export type SpecProblem = DocumentProblem;

/** `spec` as data of the custom resource: the result of `printSpec`. */
export type SpecDocument = JsonObject & { readonly template: readonly Json[] };

/**
 * Reads the spec of a document, with its defaults (docs/internals/propagation.md 2.1). If the document is wrong, returns all problems, each
 * with the path of its field. Checks everything, because users also write resources without the gateway. Never throws.
 */
export function parseSpec(document: JsonObject): PropagationSpec | { readonly problems: readonly SpecProblem[] } {
  const read = readDocument(spec, document);
  return 'problems' in read ? read : read.value;
}

/** Prints a spec as a document in canonical form: without defaults, and equal for equal specs. `parseSpec` reads an equal spec from it. */
export function printSpec(of: PropagationSpec): SpecDocument {
  const document = printDocument(spec, of);
  invariant(isJsonObject(document) && Array.isArray(document.template), 'a spec is printed as an object with a template');
  return document as SpecDocument;
}

/** True if the replicas of the spec are divided by the rules of KubeFed or of Federation v1, which have the same planner. */
export function isDividedAsKubeFed({ exact, replicas }: Pick<PropagationSpec, 'exact' | 'replicas'>): boolean {
  return replicas.mode === 'Divided' && (exact?.system === 'Kubefed' || exact?.system === 'FederationV1');
}

/** The parts of a spec that the deletion of a Propagation needs: how copies are removed, and with whose rights. */
export type DeletionParts = Pick<PropagationSpec, 'deletion' | 'runAs' | 'requester'>;

/**
 * Reads the members that the deletion of a Propagation needs, without defaults. Returns them, or their problems. Ignores problems of other
 * members, so that a Propagation with a wrong spec can be deleted. Never throws.
 */
export function parseDeletionParts(document: JsonObject): z.output<typeof deletionParts> | { readonly problems: readonly SpecProblem[] } {
  const read = readDocument(deletionParts, {
    deletion: document.deletion,
    runAs: document.runAs,
    requester: document.requester,
  });
  return 'problems' in read ? read : read.value;
}

/** Prints a spec for a revision, without the requester. A revision stores the requester separately. */
export function documentWithoutRequester({ requester: _requester, ...rest }: PropagationSpec): SpecDocument {
  return printSpec(rest);
}
