import type { Fault } from '../../core/faults.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { ClusterShare } from '../inventory.ts';
import type { MemberCluster } from '../members.ts';
import type { Note } from '../notes.ts';
import type { RenderedObject, TemplateOrigin } from '../plan.ts';
import type { Manifest, ObjectKey, PropagationSpec } from '../spec.ts';
import type { ReplacedIntent } from './plan-digest.ts';
import type { PlanRequest } from './planner.ts';
import type { SourceObject } from './sources.ts';

/** All that a plan is made from: equal snapshots give equal plans. Nobody changes what is in it. */
export interface Snapshot {
  readonly namespace: string;
  readonly name: string;
  readonly spec: PropagationSpec;
  readonly purpose: PlanRequest['purpose'];
  /** Of the template, and of what it depends on; no key twice. */
  readonly templates: readonly TemplateObject[];
  /** What objects of the template depend on, and what is not where it is to be read. Copies of it stay. Absent: nothing. */
  readonly missing?: readonly MissingDependency[];
  /** What was found out while it was gathered. With an error among them `templates` is not whole, and nothing can be rendered. */
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
  /** Every member, by name. */
  readonly clusters: readonly SnapshotCluster[];
  /** Of clusters that are no members any more, by name. */
  readonly left: readonly ClusterShare[];
  readonly previous?: PreviousDecision;
  /** Absent if there is no such intent yet. */
  readonly replaced?: ReplacedIntent;
  /** What the templates were read from, and what they need that is not there: a change there makes the plan old. */
  readonly sources: readonly TemplateOrigin[];
  /** Milliseconds of the epoch: as of when the oldest mirror that was read is true. */
  readonly asOfMs: number;
  /** Milliseconds of the epoch. */
  readonly nowMs: number;
}

/** One object to be propagated, before anything is changed for a cluster. */
export interface TemplateObject {
  /** Pruned, with the namespace that it goes to; a Secret without data. */
  readonly manifest: Manifest;
  /** Where it stands in the input: `template[0]`; what it depends on: `dependencies`. */
  readonly path: string;
  /** Of a Secret alone: where its data are to be read, and the version of it that was seen. */
  readonly secretOf?: RenderedObject['secretOf'];
  readonly sourceVersion?: string;
  /** Absent if the intent itself contains the manifest. */
  readonly source?: SourceObject;
  /** Of a dependency: the indices of the template's objects that use it. It goes where one of them goes. */
  readonly usedBy?: readonly number[];
}

/** A dependency that is not there (any more). */
export interface MissingDependency {
  readonly key: ObjectKey;
  /** The indices of the template's objects that use it. */
  readonly usedBy: readonly number[];
}

/** One member as the plan looks at it. */
export interface SnapshotCluster {
  readonly cluster: MemberCluster;
  /** Kinds of the template that it does not serve, as `Deployment.apps/v1`. Empty also while it has not said what it serves. */
  readonly missingKinds: readonly string[];
  /** Replicas of the workload at that index of `templates` that more would fit. Absent: unlimited or unknown. */
  readonly capacities: ReadonlyMap<number, number>;
  /** By `textOfKey`: of all that may be written or deleted there. Empty where nothing can be. */
  readonly live: ReadonlyMap<string, MirroredObject>;
  /** By `textOfKey`: what the mirror holds in another version than the template's, so that fields cannot be compared. */
  readonly otherVersions: ReadonlySet<string>;
  /** By `textOfKey`: workloads whose count an autoscaler owns there. */
  readonly autoscaled: ReadonlySet<string>;
  readonly share?: ClusterShare;
}

/** What was decided last. */
export interface PreviousDecision {
  /** Replicas by cluster that was chosen; 0 without a workload. */
  readonly replicas: ReadonlyMap<string, number>;
  readonly affinityGroup?: string;
  /** RFC 3339. */
  readonly scheduledAt?: string;
  /** The most objects that stood at once since. Absent where it is decided anew. */
  readonly mostObjects?: number;
  /** The spec it was decided for. */
  readonly spec: PropagationSpec;
}

/** The snapshot with other words about some objects of one cluster: what a live read said, as of now. */
export function withLive(snapshot: Snapshot, cluster: string, fresh: ReadonlyMap<string, MirroredObject>): Snapshot {
  const clusters = snapshot.clusters.map((entry) =>
    entry.cluster.name === cluster ? { ...entry, live: new Map([...entry.live, ...fresh]) } : entry,
  );
  return { ...snapshot, clusters };
}
