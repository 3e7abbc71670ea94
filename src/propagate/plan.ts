import type { Fault } from '../core/faults.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Note } from './notes.ts';
import type { ChosenCluster, RejectedCluster, Share } from './placement.ts';
import type { Manifest, ObjectKey } from './spec.ts';

/** What a plan would do to one object. */
export type PlanAction = 'CREATE' | 'UPDATE' | 'ADOPT' | 'UNCHANGED' | 'DELETE' | 'RELEASE' | 'HOLD';

/**
 * Why an object is left alone. `Conflict`: it exists, is not of the inventory, and `conflict` is Abort: a CONFLICT, told as such. `CreateOnly`: it is there,
 * ours or not. `Suspended`: the cluster, or all, is. `SourceMissing`: something of the template needs it, and where it is to be read it is not any more.
 * `Source`: the template is read from this very object, which counts as placed. `Circle`: the source is made from this object, by other Propagations.
 */
export type HoldReason = 'Conflict' | 'CreateOnly' | 'Suspended' | 'SourceMissing' | 'Source' | 'Circle';

/**
 * One object as it is to be in one cluster, from the pure stages alone: rendered against what the mirrors hold.
 */
export interface RenderedObject {
  readonly key: ObjectKey;
  /** A prune that must be confirmed first (`RenderedPlan.pruneHeld`) is still DELETE or RELEASE here, and HOLD where it is shown. */
  readonly action: PlanAction;
  /** Of HOLD alone. */
  readonly held?: HoldReason;
  /**
   * What is sent: only our fields (Apply), or the whole (Replace). Of a deletion: the key alone. Never the data of a Secret: see `secretOf`. Without our
   * marks (label, source, generation, intent): the write adds them, and no hash knows them.
   */
  readonly desired: Manifest;
  /**
   * Paths that are somebody else's to set, and that `desired` leaves out: the count that an autoscaler owns. What stands there stays, also where it was ours
   * before: an apply alone would drop it.
   */
  readonly leaves?: readonly (readonly string[])[] | undefined;
  /** Where the data of a Secret are to be read at the moment of the write. */
  readonly secretOf?: { readonly cluster: string; readonly namespace: string; readonly name: string } | undefined;
  /** SHA-256 of the canonical JSON (RFC 8785) of `desired`; of a Secret also the resourceVersion of its source. */
  readonly desiredHash: string;
  /** What stands there now, as far as the mirror says. */
  readonly live?: KubernetesObject;
  /** The uid and the hash of `live` without status, managedFields, resourceVersion and generation. Absent: nothing stands there. */
  readonly liveUid?: string;
  readonly liveHash?: string;
  /** It stands in a namespace, or is of a kind, that this plan itself creates: no dry run can tell. */
  readonly predicted: boolean;
}

/** One chosen cluster, rendered. */
export interface RenderedCluster {
  readonly chosen: ChosenCluster;
  /** Index in `waves`. */
  readonly wave: number;
  /** Absent without a workload. */
  readonly share?: Share;
  /** Names of the overrides applied, `overrides[2]` for one without a name; and of those that matched the cluster without effect. */
  readonly overrides: readonly string[];
  readonly unmatched: readonly string[];
  /** In the order of writes (docs/internals/propagation.md 5.1); what goes stands last, in the reverse order. Empty if `fault`. */
  readonly objects: readonly RenderedObject[];
  /** Why nothing can be rendered here: an override that fails, mirrors that are unread. */
  readonly fault?: Fault;
}

/** What goes from a cluster that is no longer chosen but still holds copies. */
export interface LeavingCluster {
  readonly cluster: ClusterName;
  readonly objects: readonly RenderedObject[];
}

/** An object somewhere in the fleet that a template is read from. */
export interface TemplateOrigin {
  readonly cluster: ClusterName;
  readonly key: ObjectKey;
}

/** What the pure stages give: equal snapshots give equal bytes. */
export interface RenderedPlan {
  /** `digestOf` the content, and of the intent that is replaced. */
  readonly digest: string;
  /** SHA-256 over what docs/internals/propagation.md 4 names: the intent that is replaced is not in it. */
  readonly content: string;
  /** No note of severity ERROR. */
  readonly ok: boolean;
  /** In the order of the names of clusters. */
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
  readonly rejected: readonly RejectedCluster[];
  readonly affinityGroup?: string;
  /** Replicas of the workload. Absent without one. */
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced: number;
  /** Names of waves with at least one cluster, in order; the last is `rest` for the unmatched. One unnamed wave is `all`. */
  readonly waves: readonly string[];
  /** Clusters that are no members now and hold copies, and that the placement may still have, by name: nothing goes from there. */
  readonly away: readonly ClusterName[];
  /** Counts were divided as if nothing was placed: at first, under other rules, or as it was asked for (`replicas.rescheduleAt`). */
  readonly fromZero: boolean;
  /** What it was made from: a change there makes it old. */
  readonly sources: readonly TemplateOrigin[];
  /** Set if the prune this plan implies must be confirmed first (docs/internals/propagation.md 5.4): why. */
  readonly pruneHeld?: string;
  readonly notes: readonly Note[];
}

export interface FieldConflict {
  readonly manager: string;
  readonly path: string;
}

/** What the API server itself says of one rendered object: a dry run of its write. */
export interface PlannedObject {
  readonly key: ObjectKey;
  readonly action: PlanAction;
  /** As rendered; the values of Secrets and sensitive kinds redacted. */
  readonly manifest: JsonObject;
  /** Unified, live against dry run, both pruned. Absent: nothing changes, or it could not be asked. */
  readonly diff?: string;
  readonly predicted: boolean;
  readonly conflicts: readonly FieldConflict[];
  readonly fault?: Fault;
}

export interface PlannedCluster {
  readonly cluster: ClusterName;
  /** Absent if it was not chosen: `reason` and `detail` say why. */
  readonly rendered?: RenderedCluster;
  readonly reason?: string;
  readonly detail?: string;
  readonly objects: readonly PlannedObject[];
  readonly fault?: Fault;
}

/** `planPropagation`: every cluster in sight, by name. */
export interface PropagationPlan {
  readonly digest: string;
  readonly ok: boolean;
  /** Milliseconds of the epoch: the oldest mirror it looked at. */
  readonly asOfMs: number;
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced: number;
  readonly waves: readonly string[];
  readonly clusters: readonly PlannedCluster[];
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
}

/** `spec` as data of the custom resource: what `printSpec` gives. */
export type SpecDocument = JsonObject & { readonly template: readonly Json[] };
