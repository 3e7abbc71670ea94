import type { z } from 'zod';
import type { DocumentProblem } from '../core/json/documents.ts';
import type { JsonObject } from '../core/json.ts';
import type { ResourceVersion } from '../core/names.ts';
import type { InventoryEntry } from './inventory.ts';
import type { status } from './spec/status.ts';
import type { PropagationSpec } from './spec.ts';

/** What of a Propagation the hub holds beside spec and status. */
export interface PropagationMetadata {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: ResourceVersion;
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  /** RFC 3339. Set: it is being deleted. */
  readonly deletionTimestamp?: string;
}

/** One Propagation as read from the hub. */
export interface Propagation {
  readonly metadata: PropagationMetadata;
  /** As it stands in the resource. */
  readonly document: JsonObject;
  /** What is wrong with it, where it is not a spec: anybody may write a resource. */
  readonly spec: PropagationSpec | { readonly problems: readonly SpecProblem[] };
  readonly status: PropagationStatus;
}

/** What was expected and what came, at which path below `spec`. */
export type SpecProblem = DocumentProblem;

/** `status` of a Propagation (docs/internals/propagation.md 2.2). What the fields mean: docs/propagation-fields.md. A new resource has none. */
export type PropagationStatus = z.output<typeof status>;

export type PropagationPhase = NonNullable<PropagationStatus['phase']>;
export type RolloutProgress = NonNullable<PropagationStatus['progress']>;
export type StatusCondition = NonNullable<PropagationStatus['conditions']>[number];
export type AggregatedStatus = NonNullable<PropagationStatus['aggregate']>[number];
export type CompletionStatus = NonNullable<PropagationStatus['completion']>;

/** A prune that must be confirmed (docs/internals/propagation.md 5.4). */
export type HeldPrune = NonNullable<PropagationStatus['prune']>;
/** A plan that was asked for by its digest. */
export type AskedPlan = NonNullable<PropagationStatus['asked']>;

/** One cluster's line in the status. Its objects are in its ClusterShare. */
export type ClusterLine = NonNullable<PropagationStatus['clusters']>[number];
export type CopyPhase = ClusterLine['phase'];
/** Why a cluster is in its phase (docs/internals/propagation.md 2.2). */
export type CopyReason = NonNullable<ClusterLine['reason']>;
/** How far a rollout has come in one cluster. It stays while the cluster cannot be reached. `wanted`: see `wantedHashOf`. */
export type RolloutMark = NonNullable<ClusterLine['rollout']>;

/** What a share adds to a line, for who shows both. */
export interface ClusterObjects {
  readonly cluster: string;
  readonly entries: readonly InventoryEntry[];
}

/** A ControllerRevision on the hub: what a generation was (docs/internals/propagation.md 5.5). */
export interface PropagationRevision {
  readonly revision: number;
  readonly createdAt: string;
  readonly requester?: string;
  readonly digest: string;
  readonly document: JsonObject;
  /** It was gone back from, by somebody or after a breach, and does not stand any more. */
  readonly isTakenBack: boolean;
  /** When it was decided first, no inventory held anything: all that stands since is of it or a later one. Absent: something was held, or nobody knows. */
  readonly isFromNothing?: true;
}

/** Labels, annotations and the finalizer of ours. */
export const marks = {
  finalizer: 'muster.dev/propagation',
  /** Label of copies and shares: the uid of the Propagation. A hint, no proof. */
  propagation: 'muster.dev/propagation',
  /** Annotations of copies: `namespace/name` of the Propagation, its generation, the intent. */
  source: 'muster.dev/source',
  generation: 'muster.dev/generation',
  intent: 'muster.dev/intent',
  /** Annotations of a Propagation. */
  planDigest: 'muster.dev/plan-digest',
  paused: 'muster.dev/paused',
  resumedAt: 'muster.dev/resumed-at',
  confirmPrune: 'muster.dev/confirm-prune',
  abandon: 'muster.dev/abandon',
  rollback: 'muster.dev/rollback',
  rollbackGeneration: 'muster.dev/rollback-generation',
  /** Annotation of a ControllerRevision that was gone back from. */
  takenBack: 'muster.dev/taken-back',
} as const;

/** The API of our resources. */
export const musterGroup = 'muster.dev';
export const musterVersion = 'v1alpha1';
