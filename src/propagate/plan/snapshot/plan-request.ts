import type { Accounts, ActingIdentity, IdentityVisibility } from '../../../changes/acting-clients.ts';
import type { Members } from '../../../changes/members.ts';
import type { ObjectClient } from '../../../changes/object-client.ts';
import type { Clock } from '../../../core/clock.ts';
import type { GroupKind } from '../../../core/kinds.ts';
import type { Log } from '../../../core/log.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { ListRulesOf } from '../../../manifests/list-rules.ts';
import type { ClusterShare, ShareStore } from '../../model/inventory.ts';
import type { FrozenSource } from '../../model/plan.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import type { PropagationStatus } from '../../model/status-definition.ts';
import type { HubRecords } from './sources.ts';

/** The intent on the hub that a plan replaces. */
export interface ReplacedIntent {
  readonly uid: string;
  readonly generation: number;
}

/** A request for a plan. */
export interface PlanRequest {
  /** The namespace of the Propagation. */
  readonly namespace: string;
  readonly name: string;
  readonly spec: PropagationSpec;
  /**
   * `decide`: a query, a mutation, or a generation without a plan yet. Mistakes in the input become error notes. A plan with an error note
   * must not be carried out.
   *
   * `keep`: a generation that was decided before. A cluster that left, or an override that fails for one cluster, does not stop the other
   * clusters.
   */
  readonly purpose: 'decide' | 'keep';
  /** The state of the Propagation on the hub. Absent if it does not exist yet. */
  readonly existing?: ExistingPropagation;
  /**
   * The intent to replace, which becomes a part of the digest. Absent if there is no such intent yet, or the digest covers the content only.
   */
  readonly replaced?: ReplacedIntent;
  /** True if copies return to clusters that were evicted before. Default: false. */
  readonly isReturn?: boolean;
  /**
   * The sources as the generation accepted them. If one differs now, the plan has an error note and must not be carried out. Default: changes
   * are followed.
   */
  readonly frozen?: readonly FrozenSource[] | undefined;
  /** The inventory. Default: it is read from the hub if `existing` is set. */
  readonly shares?: readonly ClusterShare[];
  readonly signal: AbortSignal;
}

/** A spec that was decided before, and the inventory of the clusters to read. */
export type PlacedRequest = Omit<PlanRequest, 'purpose' | 'shares'> & { readonly shares: readonly ClusterShare[] };

export interface ExistingPropagation {
  readonly uid: string;
  /** The previous clusters, counts, affinity group and `scheduledAt`. A new division starts from them. */
  readonly status: PropagationStatus;
  /** The spec for which `status` was decided: that of the last revision. Default: the spec of the request. */
  readonly decided?: PropagationSpec;
}

/** Returns a client for the objects of a cluster that acts with this identity. Undefined if the cluster is not in the fleet. */
export type ClientOf = (cluster: ClusterName, identity: ActingIdentity) => ObjectClient | undefined;

/** The services that a planner uses. */
export interface PlannerPorts {
  readonly members: Members;
  /** The hub: its inventories, and the cluster in which the dependencies of manifests are found. Absent if there is no hub. */
  readonly hub?: HubRecords & { readonly shares: ShareStore };
  readonly clientOf: ClientOf;
  /**
   * Finds out what the requester of a spec may see. Objects that are hidden from the requester count as absent. Copies in the inventory
   * always count as existing. Default: every object is visible.
   */
  readonly visibility?: IdentityVisibility | undefined;
  /** The merge rules for lists, from `listRulesIn`. */
  readonly listRulesOf: ListRulesOf;
  /** The kinds whose values are never shown. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  /** With many accounts, the rights of a requester serve one generation only. Default: `one`. */
  readonly accounts?: Accounts;
  readonly clock: Clock;
  readonly log: Log;
}
