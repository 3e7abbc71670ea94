import type { JsonObject } from '../core/json.ts';
import type { LabelSelector } from '../core/selectors.ts';

/**
 * What somebody wants propagated, checked and with its defaults: `spec` of a Propagation (propagation.md 2.1). Enum values are those of the custom
 * resource (`ServerSideApply`). Absent lists are empty unless absence means something; durations are milliseconds, absent: never.
 */
export interface PropagationSpec {
  /** 1 to 20. */
  readonly template: readonly TemplateSource[];
  readonly dependencies: boolean;
  readonly placement: Placement;
  readonly replicas: ReplicasSpec;
  readonly overrides: readonly Override[];
  readonly rollout: RolloutSpec;
  readonly conflict: ConflictMode;
  readonly write: WriteMode;
  readonly deletion: DeletionSpec;
  readonly completion?: CompletionSpec;
  readonly suspend: SuspendSpec;
  readonly runAs: RunAs;
  /** Who asked: set by the gateway alone. */
  readonly requester?: Requester;
  readonly strict: boolean;
}

/** One object as it stands in a template: named, with its `apiVersion` and `kind`, without what a server fills in only after `prune`. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
}

export type TemplateSource =
  | { readonly type: 'manifest'; readonly manifest: Manifest }
  /** Read as `runAs` and followed. The only way of a Secret. */
  | { readonly type: 'ref'; readonly cluster: string; readonly key: ObjectKey; readonly uid?: string };

/** Which object, in whatever cluster. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Present parts are ANDed; absent ones match everything. */
export interface ClusterSet {
  /** Absent: any. Empty: none. */
  readonly clusters?: readonly string[];
  readonly selector?: LabelSelector;
  readonly fields?: readonly ClusterFieldRequirement[];
  readonly exclude?: readonly string[];
}

export interface ClusterFieldRequirement {
  readonly field: 'provider' | 'region' | 'zone';
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

export interface Placement extends ClusterSet {
  readonly tolerations: readonly Toleration[];
  /** In order, instead of the placement's own set. Empty: the placement's own. */
  readonly affinityGroups: readonly AffinityGroup[];
  readonly spread: readonly Spread[];
}

/** core/v1 Toleration. */
export interface Toleration {
  readonly key?: string;
  readonly operator: 'Equal' | 'Exists';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

export interface AffinityGroup {
  readonly name: string;
  readonly set: ClusterSet;
  readonly overflow: readonly { readonly name: string; readonly set: ClusterSet }[];
}

export interface Spread {
  readonly by: 'cluster' | 'region' | 'zone' | 'provider' | 'label';
  /** The key, by `label` alone. */
  readonly label?: string;
  readonly min: number;
  /** Absent: none. */
  readonly max?: number;
}

export interface ReplicasSpec {
  /** `External`: an autoscaler owns the count, it is never sent. */
  readonly mode: 'Duplicated' | 'Divided' | 'External';
  readonly strategy: 'Weighted' | 'Available' | 'Aggregated';
  /** Absent: the template's. */
  readonly total?: number;
  readonly rules: readonly ReplicaRule[];
  readonly rebalance: boolean;
  /** RFC 3339. */
  readonly rescheduleAt?: string;
}

export interface ReplicaRule {
  readonly set: ClusterSet;
  readonly weight: number;
  readonly min: number;
  /** Absent: none. */
  readonly max?: number;
}

/** What is changed where, in one entry always in the order of these fields (propagation.md 3.5). */
export interface Override {
  readonly name?: string;
  readonly set: ClusterSet;
  readonly objects: ObjectMatch;
  readonly image: readonly ImageOverride[];
  readonly command: readonly ListOverride[];
  readonly args: readonly ListOverride[];
  readonly env: readonly EnvOverride[];
  readonly labels: readonly MapOverride[];
  readonly annotations: readonly MapOverride[];
  readonly fields: readonly FieldOverride[];
  readonly jsonPatch: readonly JsonPatchOperation[];
  readonly merge?: JsonObject;
}

/** Present parts are ANDed. */
export interface ObjectMatch {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: LabelSelector;
}

export type OverrideOperator = 'Add' | 'Replace' | 'Remove';

export interface ImageOverride {
  readonly component: 'registry' | 'repository' | 'tag' | 'digest';
  readonly operator: OverrideOperator;
  readonly value?: string;
  readonly scope: 'All' | 'Main' | 'Init';
  /** Absent: all in scope. */
  readonly containers?: readonly string[];
  /** A JSON pointer to any string of any kind, instead of containers. */
  readonly path?: string;
}

export interface ListOverride {
  readonly container: string;
  readonly operator: OverrideOperator;
  readonly values: readonly string[];
}

export interface EnvOverride {
  /** Absent: every container, init too. */
  readonly container?: string;
  readonly operator: OverrideOperator;
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: JsonObject;
}

export interface MapOverride {
  readonly operator: OverrideOperator;
  readonly values: Readonly<Record<string, string>>;
}

/** A document in a string. */
export interface FieldOverride {
  readonly path: string;
  readonly format: 'json' | 'yaml';
  readonly patch: readonly JsonPatchOperation[];
}

/** RFC 6902. `value` absent where the operation takes one is null. */
export interface JsonPatchOperation extends JsonObject {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
}

export interface RolloutSpec {
  /** The first match wins; the unmatched come last. */
  readonly waves: readonly { readonly name: string; readonly set: ClusterSet }[];
  /** A number ≥ 1, or a percentage such as `25%`, rounded up. Absent: all. */
  readonly maxConcurrency?: number | string;
  readonly maxFailures: number | string;
  readonly soakMs: number;
  readonly deadlineMs?: number;
  readonly onFailure: 'Pause' | 'Rollback' | 'Continue';
}

export type ConflictMode = 'Abort' | 'Adopt' | 'Overwrite' | 'CreateOnly' | 'ServerSideApply';
export type WriteMode = 'Apply' | 'Replace';
/** As kubectl's `--cascade`: what becomes of what the object owns. */
export type Cascade = 'Background' | 'Foreground' | 'Orphan';

export interface DeletionSpec {
  readonly policy: 'Delete' | 'Orphan';
  readonly cascade: Cascade;
}

export interface CompletionSpec {
  readonly mode: 'Any' | 'All' | 'Count';
  /** With `Count` only, ≥ 1. */
  readonly count?: number;
}

export interface SuspendSpec {
  readonly scheduling: boolean;
  readonly all: boolean;
  readonly clusters: readonly string[];
}

export type RunAs = { readonly type: 'requester' } | { readonly type: 'serviceAccount'; readonly namespace: string; readonly name: string };

/** An identity, frozen with its time (RFC 3339). */
export interface Requester {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  readonly at: string;
}
