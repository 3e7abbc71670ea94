import type { FieldManagerConflict } from '../../changes/describe-fault.ts';
import type { Fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import type { Note } from './notes.ts';
import type { ChosenCluster, RejectedCluster, ReplicaShare } from './placement.ts';
import type { PreservedIn } from './propagation.ts';
import type { Override } from './spec.ts';
import type { PropagationStatus } from './status-definition.ts';

/** The action of a plan for one object. */
export type PlanAction = 'CREATE' | 'UPDATE' | 'ADOPT' | 'UNCHANGED' | 'DELETE' | 'RELEASE' | 'HOLD';

/**
 * Why the plan holds an object. A held object is not changed.
 *
 * - `Conflict`: the object exists, is not in the inventory, and `conflict` is Abort. It is reported as a `CONFLICT` fault.
 * - `CreateOnly`: the object exists, ours or not, and `conflict` is CreateOnly.
 * - `Suspended`: the cluster or the whole intent is suspended.
 * - `SourceMissing`: the object is the copy of a dependency that no longer exists in the cluster from which it is read.
 * - `Source`: the template is read from this object. The object counts as a placed copy.
 * - `Circle`: other Propagations make the source from this object.
 */
export type HoldReason = 'Conflict' | 'CreateOnly' | 'Suspended' | 'SourceMissing' | 'Source' | 'Circle';

/**
 * One object of a plan in one cluster, before its dry run: the wanted manifest, the existing object, and the action that follows from both.
 */
export interface RenderedObject {
  readonly key: ObjectKey;
  /**
   * The action. If a prune must be confirmed first (`RenderedPlan.pruneHeld`), this is still DELETE or RELEASE. The shown plan has HOLD
   * instead.
   */
  readonly action: PlanAction;
  /** The reason for HOLD. Absent for all other actions. */
  readonly held?: HoldReason;
  /**
   * The wanted manifest: the template with the replicas and overrides of the cluster. For a removal, only the key. In write mode Replace,
   * the write adds the fields that the cluster owns (`manifestForWrite`).
   *
   * It never contains the data of a Secret: see `secretOf`. It has no marks (label, source, generation, intent): the write adds them, so no
   * hash covers them.
   */
  readonly desired: Manifest;
  /**
   * Paths that `desired` leaves to other managers, such as the replica count of an autoscaler. The live values stay, even if Muster set
   * them before. A write must take care of that, because an apply removes fields that Muster owns and omits.
   */
  readonly leftPaths?: readonly (readonly string[])[] | undefined;
  /**
   * The overrides, to be applied once more at the write. Set with `exact.system` Kubefed and write mode Replace: KubeFed copies the fields
   * of the member cluster first, and then applies the overrides, so an override also wins over a value of the member. Undefined in all
   * other cases.
   */
  readonly overriding?: Overriding | undefined;
  /** The Secret from which the data are read at the moment of the write. Absent for other objects. */
  readonly secretOf?: SecretSource | undefined;
  /** SHA-256 of the canonical JSON (RFC 8785) of `desired`. For a Secret, the resourceVersion of its source is included. */
  readonly desiredHash: string;
  /** The existing object in the mirror. Absent if the mirror has none. */
  readonly live?: KubernetesObject;
  /** The uid of `live`. Absent if there is no existing object. */
  readonly liveUid?: string;
  /**
   * The hash of `live` without status, managedFields, resourceVersion and generation. Absent if there is no existing object, or `action` is
   * UNCHANGED.
   */
  readonly liveHash?: string;
  /** True if this plan itself creates the namespace or the kind of the object. A dry run is not possible then. */
  readonly predicted: boolean;
}

/** A manifest before its overrides, with its replicas, and the overrides of its cluster in order. */
export interface Overriding {
  readonly base: Manifest;
  readonly overrides: readonly Override[];
  /** True if the member cluster owns the number of replicas. */
  readonly retainsReplicas: boolean;
}

/** The Secret from which the data of a copy are read. */
interface SecretSource {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** The resourceVersion whose data may be sent. Default: the current data are sent. */
  readonly version?: string;
}

/** The objects for one chosen cluster. */
export interface RenderedCluster {
  readonly chosen: ChosenCluster;
  /** Index in `RenderedPlan.waves`. */
  readonly wave: number;
  /** The replicas of the cluster. Absent if the template has no workload, or if an autoscaler owns the count. */
  readonly share?: ReplicaShare;
  /**
   * Names of the overrides that changed an object; `overrides[2]` for an override without a name. `unmatched` has the overrides that
   * matched the cluster and changed no object.
   */
  readonly overrides: readonly string[];
  readonly unmatched: readonly string[];
  /**
   * The objects in write order (docs/internals/propagation.md 5.1). Deletions come last, in reverse write order. Empty if `fault` is set.
   */
  readonly objects: readonly RenderedObject[];
  /** Why no object can be rendered for this cluster: an override fails, or a mirror is unread. Absent if all objects are rendered. */
  readonly fault?: Fault;
}

/** The removals in a cluster that is no longer chosen but still holds copies. */
export interface LeavingCluster {
  readonly cluster: ClusterName;
  readonly objects: readonly RenderedObject[];
  /**
   * True if the copies move, because of an eviction or a return (docs/internals/propagation.md 9). Their deletion needs no confirmation.
   * Default: false.
   */
  readonly isMove?: boolean;
}

/** A cluster that a plan leaves because it is evicted, and the clusters that get more copies or replicas in its place. */
export interface ClusterMove {
  readonly cluster: ClusterName;
  readonly to: readonly ClusterName[];
}

/** An object in the fleet from which a template or dependency is read. */
export interface TemplateOrigin {
  readonly cluster: ClusterName;
  readonly key: ObjectKey;
}

/** A reference or dependency with a hash of its content (`status.sources`). */
export type FrozenSource = NonNullable<PropagationStatus['sources']>[number];

/** A plan without dry runs, made from one snapshot. Equal snapshots give byte-equal plans. */
export interface RenderedPlan {
  /** The digest of the plan: a hash of `content` and of the existing intent that the plan replaces (`planDigestOf`). */
  readonly digest: string;
  /**
   * SHA-256 of the content that docs/internals/propagation.md 4 lists. Unlike `digest`, it does not depend on the existing intent that the
   * plan replaces.
   */
  readonly content: string;
  /** True if no note has the severity ERROR. */
  readonly ok: boolean;
  /** The chosen clusters, by name. */
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
  readonly rejected: readonly RejectedCluster[];
  /** The clusters that this plan leaves because they are evicted (docs/internals/propagation.md 9). Empty if an earlier plan left them. */
  readonly moves: readonly ClusterMove[];
  /** The labels that copies keep from their predecessors in other clusters. */
  readonly preserved: readonly PreservedIn[];
  readonly affinityGroup?: string;
  /** The wanted replicas of all workloads together. Absent if the template has no workload, or if an autoscaler owns the count. */
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced: number;
  /**
   * Names of the waves with at least one cluster, in order. The wave `rest` has the unmatched clusters and is last. Without named waves
   * there is one wave, `all`.
   */
  readonly waves: readonly string[];
  /** Names of clusters outside the fleet that hold copies and may still match the placement. No copies are removed from them. */
  readonly away: readonly ClusterName[];
  /**
   * True if the replicas were divided without regard to earlier counts: for the first time, after a change of the rules, or because of
   * `replicas.rescheduleAt`.
   */
  readonly fromZero: boolean;
  /** The objects from which the templates were read. A change of one of them makes the plan outdated. */
  readonly sources: readonly TemplateOrigin[];
  /** The content of the sources. Undefined if it may change within a generation, or if the template could not be read. */
  readonly contents: readonly FrozenSource[] | undefined;
  /** Why the prune of this plan must be confirmed first (docs/internals/propagation.md 5.4). Absent if no confirmation is needed. */
  readonly pruneHeld?: string;
  readonly notes: readonly Note[];
}

/** One object of the shown plan, with the result of the API server's dry run of its write. */
export interface PlannedObject {
  readonly key: ObjectKey;
  readonly action: PlanAction;
  /** The rendered manifest. Values of Secrets and sensitive kinds are redacted. */
  readonly manifest: JsonObject;
  /**
   * A unified diff from the live object to the dry run's result, without the fields that a server fills in. Absent if there is no change, or
   * no dry run was possible.
   */
  readonly diff?: string;
  readonly predicted: boolean;
  readonly conflicts: readonly FieldManagerConflict[];
  readonly fault?: Fault;
}

export interface PlannedCluster {
  readonly cluster: ClusterName;
  /**
   * The rendered objects. Absent if the cluster was not chosen: `reason` and `detail` say why. For a cluster outside the fleet, `fault`
   * says why.
   */
  readonly rendered?: RenderedCluster;
  readonly reason?: string;
  readonly detail?: string;
  readonly objects: readonly PlannedObject[];
  readonly fault?: Fault;
}

/**
 * A plan as users see it, with the results of the dry runs. Has every cluster of the fleet and every other cluster with copies, sorted by
 * name.
 */
export interface PropagationPlan {
  readonly digest: string;
  readonly ok: boolean;
  /** The earliest time of sync among the mirrors that were read, in Unix milliseconds. */
  readonly asOfMs: number;
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced: number;
  readonly waves: readonly string[];
  readonly clusters: readonly PlannedCluster[];
  /** As `RenderedPlan.contents`. */
  readonly contents?: readonly FrozenSource[] | undefined;
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
}
