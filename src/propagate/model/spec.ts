import type { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import type { clusterSet } from './cluster-set-definition.ts';
import type { deletion, requester, rolloutFields, spec } from './spec-definition.ts';
import type { operations, override } from './override-definition.ts';
import type { placement, replicas } from './placement-definition.ts';

/**
 * `spec` of a Propagation (docs/internals/propagation.md 2.1), validated and with its defaults. Enum values are spelled as in the custom
 * resource (`ServerSideApply`). Durations are in milliseconds. The definitions in `spec/` and docs/propagation-fields.md describe the
 * fields.
 */
export type PropagationSpec = z.output<typeof spec>;

/** One object of a template, with `apiVersion`, `kind` and a name. `prune` removes the fields that a server fills in. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
}

export type TemplateSource =
  | { readonly type: 'manifest'; readonly manifest: Manifest }
  /**
   * A reference to an existing object. It is read with the identity of `runAs`, and Muster follows its changes. The only way to propagate a
   * Secret.
   */
  | { readonly type: 'ref'; readonly cluster: string; readonly key: ObjectKey; readonly uid?: string };

/** Identifies an object in any cluster. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

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
/** One operation of RFC 6902. An absent `value` counts as null for operations that need one. */
export type JsonPatchOperation = z.output<typeof operations>[number];

export interface RolloutSpec extends Omit<z.output<typeof rolloutFields>, 'soak' | 'deadline'> {
  readonly soakMs: number;
  /** The maximum duration of a rollout in milliseconds. Absent: unlimited. */
  readonly deadlineMs?: number;
}

export type ConflictMode = PropagationSpec['conflict'];
export type WriteMode = PropagationSpec['write'];
export type DeletionSpec = z.output<typeof deletion>;
/** How the objects that a deleted object owns are handled, as for kubectl's `--cascade`. */
export type Cascade = DeletionSpec['cascade'];
export type CompletionSpec = NonNullable<PropagationSpec['completion']>;

export type RunAs = { readonly type: 'requester' } | { readonly type: 'serviceAccount'; readonly namespace: string; readonly name: string };

/** An identity, with the time of its request (RFC 3339). */
export type Requester = z.output<typeof requester>;
