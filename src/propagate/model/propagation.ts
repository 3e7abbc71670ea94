import type { JsonObject } from '../../core/json.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { OwnerReference } from '../../core/objects.ts';
import type { InventoryEntry } from './inventory.ts';
import type { PropagationSpec, SpecProblem } from './spec.ts';
import type { PropagationStatus } from './status-definition.ts';

/** The metadata of a Propagation on the hub. */
export interface PropagationMetadata {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: ResourceVersion;
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  /** The owners of the Propagation. Kubernetes deletes it when none of them exists any more. */
  readonly owners: readonly OwnerReference[];
  /** RFC 3339. Absent if the Propagation is not being deleted. */
  readonly deletionTimestamp?: string;
}

/** One Propagation as read from the hub. */
export interface Propagation {
  readonly metadata: PropagationMetadata;
  /** The unparsed `spec` of the resource. */
  readonly document: JsonObject;
  /** The parsed spec, or the problems if it is not valid. Kubernetes lets users write an invalid resource. */
  readonly spec: PropagationSpec | { readonly problems: readonly SpecProblem[] };
  readonly status: PropagationStatus;
}

export type PropagationPhase = NonNullable<PropagationStatus['phase']>;
export type RolloutProgress = NonNullable<PropagationStatus['progress']>;
export type StatusCondition = NonNullable<PropagationStatus['conditions']>[number];
export type AggregatedStatus = NonNullable<PropagationStatus['aggregate']>[number];
export type CompletionStatus = NonNullable<PropagationStatus['completion']>;

/** A prune that must be confirmed (docs/internals/propagation.md 5.4). */
export type HeldPrune = NonNullable<PropagationStatus['prune']>;
/** A cluster whose copies must run elsewhere (docs/internals/propagation.md 9). */
export type Eviction = NonNullable<PropagationStatus['evictions']>[number];
/** The labels of the copies in one cluster that have their values from the status of the copies that they replace. */
export type PreservedIn = NonNullable<PropagationStatus['preserved']>[number];
/** A copy that `purge` Never releases, or has released. */
export type CopyLeftBehind = NonNullable<PropagationStatus['leftBehind']>[number];
/** The number of copies in one cluster that `purge` Never has released, and for which `leftBehind` had no room. */
export type UnrecordedCopies = NonNullable<PropagationStatus['leftBehindUnrecorded']>[number];
/** The plan that a user requested by its digest, with the generation of that request. */
export type RequestedPlan = NonNullable<PropagationStatus['asked']>;

/** The line of one cluster in the status. The objects of the cluster are in its ClusterShare. */
export type ClusterLine = NonNullable<PropagationStatus['clusters']>[number];
export type CopyPhase = ClusterLine['phase'];
/** Why a cluster is in its phase (docs/internals/propagation.md 2.2). */
export type CopyReason = NonNullable<ClusterLine['reason']>;
/**
 * The progress of a rollout in one cluster. It stays while the cluster cannot be reached. It counts only while `wanted` equals the hash of
 * the wanted copies (`wantedHashOf`).
 */
export type RolloutMark = NonNullable<ClusterLine['rollout']>;

/** The inventory entries of one cluster, shown next to its status line. */
export interface ClusterObjects {
  readonly cluster: string;
  readonly entries: readonly InventoryEntry[];
}

/**
 * A revision of a Propagation: the spec of a past generation, kept as a ControllerRevision on the hub (docs/internals/propagation.md 5.5).
 */
export interface PropagationRevision {
  readonly revision: number;
  readonly createdAt: string;
  readonly requester?: string;
  readonly digest: string;
  readonly document: JsonObject;
  /** True if the revision was rolled back, by a user or after a breach, and is not in effect any more. */
  readonly isRolledBack: boolean;
  /**
   * True if no inventory had an entry when the revision was first decided: every existing copy comes from this revision or a later one.
   * Absent if there were entries, or it is not known.
   */
  readonly hadNoCopies?: true;
  /** The hash of the sources that its last generation accepted (`hashOfSources`). Absent if not known. */
  readonly sources?: string;
}

/** The labels, annotations and the finalizer that Muster writes. */
export const marks = {
  finalizer: 'muster.dev/propagation',
  /** Label of copies and shares: the uid of the Propagation. A hint, not a proof. */
  propagation: 'muster.dev/propagation',
  /** Annotations of copies: `namespace/name` of the Propagation, its generation, and the intent token of the copy. */
  source: 'muster.dev/source',
  generation: 'muster.dev/generation',
  intent: 'muster.dev/intent',
  /** Annotations of a Propagation. */
  planDigest: 'muster.dev/plan-digest',
  paused: 'muster.dev/paused',
  resumedAt: 'muster.dev/resumed-at',
  /** Names the cluster from which a migration moves the application. The copies there stay until the migration removes the annotation. */
  heldDrain: 'muster.dev/held-drain',
  confirmPrune: 'muster.dev/confirm-prune',
  abandon: 'muster.dev/abandon',
  rollback: 'muster.dev/rollback',
  rollbackGeneration: 'muster.dev/rollback-generation',
  /** Annotation of a ControllerRevision that was rolled back. */
  takenBack: 'muster.dev/taken-back',
  /** Annotation of a ControllerRevision: the hash of the sources that its last generation accepted. */
  sources: 'muster.dev/sources',
} as const;

/** The API group and version of Muster's resources. */
export const musterGroup = 'muster.dev';
export const musterVersion = 'v1alpha1';

/** True if the current generation is decided: its plan is saved in the status. That happens before any copy is written. */
export function isDecided({ metadata, status }: Propagation): boolean {
  const planned = status.conditions?.find(({ type }) => type === 'Planned');
  if (status.observedGeneration !== metadata.generation || planned?.observedGeneration !== metadata.generation) return false;
  return planned.status !== 'Unknown' && planned.reason !== 'Refused' && planned.reason !== 'PlanStale';
}
