import type { MemberCluster } from '../../../changes/members.ts';
import type { Fault } from '../../../core/faults.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import type { MirroredObject } from '../../../store/member-objects.ts';
import type { ClusterShare } from '../../model/inventory.ts';
import type { Note } from '../../model/notes.ts';
import type { RunningReplicas } from '../../model/placement.ts';
import type { FrozenSource, RenderedObject, TemplateOrigin } from '../../model/plan.ts';
import type { Eviction, PreservedIn } from '../../model/propagation.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import type { PlanRequest, ReplacedIntent } from './plan-request.ts';
import type { SourceObject } from './sources.ts';

/** All inputs of a plan. Equal snapshots give equal plans. A snapshot is never changed. */
export interface PlanSnapshot {
  readonly namespace: string;
  readonly name: string;
  readonly spec: PropagationSpec;
  readonly purpose: PlanRequest['purpose'];
  /** The objects of the template and their dependencies. Each key occurs once. */
  readonly templates: readonly TemplateObject[];
  /** Dependencies that do not exist where they should be read. Their existing copies stay. Default: none. */
  readonly missing?: readonly MissingDependency[];
  /** Notes from gathering the snapshot. If one is an error, `templates` is incomplete and no plan can be rendered. */
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
  /** Every cluster of the fleet, by name. */
  readonly clusters: readonly SnapshotCluster[];
  /** The shares of clusters that left the fleet, by name. */
  readonly sharesOutsideFleet: readonly ClusterShare[];
  readonly previous?: PreviousDecision;
  /** The clusters that are evicted (docs/internals/propagation.md 9). Default: none. */
  readonly evictions?: readonly Eviction[];
  /** The labels that copies keep from their predecessors in other clusters. Default: none. */
  readonly preserved?: readonly PreservedIn[];
  /** True if copies return to clusters that were evicted before. Then everything is planned from zero. Default: false. */
  readonly isReturn?: boolean;
  /** The intent that the plan replaces. Absent if there is none yet. */
  readonly replaced?: ReplacedIntent;
  /** The objects from which templates were read, including missing dependencies. A change of one of them makes the plan outdated. */
  readonly sources: readonly TemplateOrigin[];
  /** The content of the sources, if the rights of the requester serve one generation only. Default: changes are followed. */
  readonly contents?: readonly FrozenSource[];
  /** The earliest time of sync among the mirrors that were read, in Unix milliseconds. */
  readonly asOfMs: number;
  /** The time of the snapshot, in Unix milliseconds. */
  readonly nowMs: number;
}

/** One object to propagate, before any change for a cluster. */
export interface TemplateObject {
  /** The manifest with its target namespace, without the fields that a server fills in (`portableOf`). That of a Secret has no data. */
  readonly manifest: Manifest;
  /** The path in the input: `template[0]`. For a dependency: `dependencies`. */
  readonly path: string;
  /** The Secret from which the data are read, for Secrets only. `sourceVersion` is its resourceVersion at the time of the snapshot. */
  readonly secretOf?: RenderedObject['secretOf'];
  readonly sourceVersion?: string;
  /** The object from which the manifest was read. Absent if the intent itself contains the manifest. */
  readonly source?: SourceObject;
  /** For a dependency: the indices of the template's objects that use it. The dependency is placed wherever one of them is. */
  readonly usedBy?: readonly number[];
}

/** A dependency that does not exist, or does not exist any more. */
export interface MissingDependency {
  readonly key: ObjectKey;
  /** The indices of the template's objects that use the dependency. */
  readonly usedBy: readonly number[];
}

/** The facts about one cluster of the fleet. */
export interface SnapshotCluster {
  readonly cluster: MemberCluster;
  /**
   * Kinds of the template that the cluster does not serve, as `Deployment.apps/v1`. Also empty before discovery of the cluster is complete.
   */
  readonly missingKinds: readonly string[];
  /** Additional replicas that fit, by the workload's index in `templates`. A workload without an entry: unlimited or unknown. */
  readonly capacities: ReadonlyMap<number, number>;
  /** True if the requester may not see `capacities`. The planner uses them, but the plan must not show them. Default: false. */
  readonly isRoomHidden?: boolean;
  /**
   * The running replicas of each existing workload, by its index in `templates`. Absent if the replicas are not divided by the rules of
   * KubeFed.
   */
  readonly running?: ReadonlyMap<number, RunningReplicas>;
  /**
   * The objects of the inventory and, if the placement may choose the cluster, of the template, by `textOfKey`. Each is existing, absent or
   * unread in its mirror. Empty if no object was looked up.
   */
  readonly live: ReadonlyMap<string, MirroredObject>;
  /** The `textOfKey`s of objects that the mirror holds in another version than the template's. Their fields cannot be compared. */
  readonly otherVersions: ReadonlySet<string>;
  /** The `textOfKey`s of workloads whose count an autoscaler of the cluster owns. */
  readonly autoscaled: ReadonlySet<string>;
  readonly share?: ClusterShare;
}

/** The last decision about this intent. */
export interface PreviousDecision {
  /** The replicas of each chosen cluster, as they were divided. 0 if the template has no workload. */
  readonly replicas: ReadonlyMap<string, number>;
  /** The replicas of the clusters where an override replaced the count of the division. Absent if there is no such cluster. */
  readonly overridden?: ReadonlyMap<string, number>;
  readonly affinityGroup?: string;
  /** The time of the last division (RFC 3339). Absent if there was none yet. */
  readonly scheduledAt?: string;
  /** The largest number of existing copies since that decision. Absent for a new decision. */
  readonly mostObjects?: number;
  /** The spec of that decision. */
  readonly spec: PropagationSpec;
}

/**
 * Returns a copy of the snapshot with the live objects in `fresh`. In the given cluster, they replace the mirrored objects with the same
 * keys.
 */
export function withLiveObjects(snapshot: PlanSnapshot, cluster: string, fresh: ReadonlyMap<string, MirroredObject>): PlanSnapshot {
  const clusters = snapshot.clusters.map((entry) =>
    entry.cluster.name === cluster ? { ...entry, live: new Map([...entry.live, ...fresh]) } : entry,
  );
  return { ...snapshot, clusters };
}
