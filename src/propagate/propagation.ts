import type { Json, JsonObject } from '../core/json.ts';
import type { ResourceVersion } from '../core/names.ts';
import type { Health, InventoryEntry, RecordedFault } from './inventory.ts';
import type { ObjectKey, PropagationSpec } from './spec.ts';

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
export interface SpecProblem {
  readonly path: string;
  readonly message: string;
}

export type PropagationPhase =
  | 'Planning'
  | 'Rolling'
  | 'Paused'
  | 'Held'
  | 'RollingBack'
  | 'Settled'
  | 'Degraded'
  | 'Failed'
  | 'Suspended'
  | 'Deleting';

export type CopyPhase =
  | 'Waiting'
  | 'Applying'
  | 'Progressing'
  | 'Soaking'
  | 'Settled'
  | 'Failed'
  | 'Denied'
  | 'RollingBack'
  | 'Draining'
  | 'Deleting'
  | 'Unknown';

/** Why a cluster is in its phase (propagation.md 2.2). */
export type CopyReason =
  | 'Wave'
  | 'Suspended'
  | 'Conflict'
  | 'Denied'
  | 'Unreachable'
  | 'Invalid'
  | 'Immutable'
  | 'Quota'
  | 'ApiMissing'
  | 'NamespaceMissing'
  | 'Terminating'
  | 'TimedOut'
  | 'Unhealthy'
  | 'PruneHeld'
  | 'SurgeHeld'
  | 'ForeignFinalizer'
  | 'Contended'
  | 'Stale';

/** `status` of a Propagation (propagation.md 2.2). Times are RFC 3339. Everything is optional but what is said otherwise: a new resource has none. */
export interface PropagationStatus {
  readonly observedGeneration?: number;
  readonly revision?: number;
  readonly digest?: string;
  readonly scheduledAt?: string;
  readonly affinityGroup?: string;
  readonly phase?: PropagationPhase;
  readonly paused?: boolean;
  readonly progress?: RolloutProgress;
  /** The most objects that stood at once since this generation was decided, or since a prune of it was confirmed: what a prune is judged by. */
  readonly mostObjects?: number;
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced?: number;
  readonly ready?: number;
  /** Names of clusters. */
  readonly unknown?: readonly string[];
  /** By name; clusters that left too, while they hold objects. */
  readonly clusters?: readonly ClusterLine[];
  readonly conditions?: readonly StatusCondition[];
  readonly aggregate?: readonly AggregatedStatus[];
  readonly completion?: CompletionStatus;
  /** What waits to be confirmed before it goes, or was confirmed and is going. Absent: nothing does. */
  readonly prune?: HeldPrune;
  /** The digest that was asked for last, and the generation that it came with: no later one must be that plan. */
  readonly asked?: AskedPlan;
  /** The last plan's, or of what was refused: at most 101, of which the last then says how many more there are. */
  readonly notes?: readonly { readonly severity: string; readonly code: string; readonly message: string; readonly path?: string }[];
}

/** A prune that must be confirmed (propagation.md 5.4). */
export interface HeldPrune {
  /** Stands for exactly these objects, by cluster, key and uid, held since then: who confirms it confirms no other. */
  readonly digest: string;
  /** RFC 3339. */
  readonly since: string;
  /** How many would go. */
  readonly objects: number;
  /** By name; each digest stands for what would go there. */
  readonly clusters: readonly { readonly cluster: string; readonly digest: string }[];
}

/** A plan that somebody asked for by its digest. */
export interface AskedPlan {
  readonly digest: string;
  readonly generation: number;
}

export interface RolloutProgress {
  readonly wave: number;
  readonly waves: number;
  readonly clusters: number;
  readonly done: number;
  readonly failed: number;
  /** Since when it waits, or is in breach. */
  readonly since?: string;
  readonly nextCheckAt?: string;
}

/** One cluster's line in the status. Its objects stand in its ClusterShare. */
export interface ClusterLine {
  readonly cluster: string;
  readonly phase: CopyPhase;
  readonly reason?: CopyReason;
  readonly message?: string;
  readonly wave?: number;
  /** It joined a generation that had been decided, and comes after all waves of that. */
  readonly late?: boolean;
  readonly replicas?: number;
  readonly ready?: number;
  readonly health: Health;
  readonly since: string;
  readonly asOf?: string;
  readonly fault?: RecordedFault;
  /** The generation this cluster stands at. Absent until one was begun here. */
  readonly generation?: number;
  /** How far that generation's rollout came: what waves are decided by. Absent until it was begun. */
  readonly rollout?: RolloutMark;
}

/**
 * How far a rollout came in one cluster, whatever is known of it now: it stays while the cluster cannot be heard, and what once `Succeeded` stays so until
 * another generation begins. `since` (RFC 3339): when it came there.
 */
export interface RolloutMark {
  readonly phase: 'Progressing' | 'Succeeded' | 'Failed' | 'TimedOut';
  readonly since: string;
  /** Stands for what was wanted here (`wantedHashOf`): where something else is wanted by now, the mark counts no more. */
  readonly wanted?: string;
}

export interface StatusCondition {
  readonly type: 'Accepted' | 'Planned' | 'Applied' | 'Healthy' | 'Complete' | 'Progressing' | 'Fresh' | 'Led';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** Names the clusters at fault. */
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface AggregatedStatus {
  readonly key: ObjectKey;
  readonly status: JsonObject;
  /** All targets counted, none stale. */
  readonly observed: boolean;
  readonly health: Health;
  readonly conditions: readonly { readonly cluster: string; readonly condition: Json }[];
}

export interface CompletionStatus {
  readonly mode: 'Any' | 'All' | 'Count';
  readonly needed: number;
  readonly complete: number;
  readonly failed: number;
  readonly done: boolean;
}

/** What a share adds to a line, for who shows both. */
export interface ClusterObjects {
  readonly cluster: string;
  readonly entries: readonly InventoryEntry[];
}

/** A ControllerRevision on the hub: what a generation was (propagation.md 5.5). */
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
