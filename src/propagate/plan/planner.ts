import type { Clock } from '../../core/clock.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ClusterShare, ShareStore } from '../model/inventory.ts';
import type { ListRulesOf } from '../../manifests/list-rules.ts';
import type { Members } from '../../changes/members.ts';
import type { ObjectClient } from '../../changes/object-client.ts';
import type { PropagationPlan, RenderedObject, RenderedPlan } from '../model/plan.ts';
import type { PropagationStatus } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import type { ReplacedIntent } from './plan-digest.ts';
import type { HubRecords } from './snapshot/sources.ts';

/** The identity with whose rights a Propagation reads and writes. */
type Actor = Pick<PropagationSpec, 'runAs' | 'requester'>;

/** Returns a client for the objects of a cluster with that identity. Undefined if the cluster is not in the fleet. */
export type ClientOf = (cluster: ClusterName, actor: Actor) => ObjectClient | undefined;

/** A request for a plan. */
export interface PlanRequest {
  /** The namespace of the Propagation. */
  readonly namespace: string;
  readonly name: string;
  readonly spec: PropagationSpec;
  /**
   * `decide`: a query, a mutation, or a generation without a plan yet. Mistakes are error notes, and the plan must not be carried out.
   *
   * `keep`: a generation that was decided before. A cluster that left, or an override that fails for one cluster, does not stop the other
   * clusters.
   */
  readonly purpose: 'decide' | 'keep';
  /** The state of the Propagation on the hub. Absent: it does not exist yet. */
  readonly existing?: ExistingPropagation;
  /** The intent to replace, as a part of the digest. Absent if there is no such intent yet, or if the digest covers the content only. */
  readonly replaced?: ReplacedIntent;
  /** The inventory. Absent: it is read from the hub if `existing` is set. */
  readonly shares?: readonly ClusterShare[];
  readonly signal: AbortSignal;
}

/** A spec that was decided before, and the inventory of the clusters to read. */
export type PlacedRequest = Omit<PlanRequest, 'purpose' | 'shares'> & { readonly shares: readonly ClusterShare[] };

export interface ExistingPropagation {
  readonly uid: string;
  /** The previous clusters, counts, affinity group and `scheduledAt`. A new division starts from them. */
  readonly status: PropagationStatus;
  /** The spec of the last revision, to which that status belongs. Absent: the spec has not changed. */
  readonly decided?: PropagationSpec;
}

/**
 * Plans a Propagation: what it would do in each cluster. Writes nothing.
 *
 * All methods compute digests in the same way: from the mirrors, plus live reads where a dry run showed that a mirror was outdated. An
 * abort rejects with the signal's reason.
 */
export interface Planner {
  /**
   * Renders a plan from the mirrors, without dry runs. Only referenced templates are read live. Waits at most 10 s for mirrors that were
   * never read before.
   */
  render(request: PlanRequest): Promise<RenderedPlan>;
  /**
   * Renders the copies that this spec placed, matched by the hashes in the inventory. They restore deleted or changed copies before the
   * next generation reaches the cluster.
   */
  renderPlaced(request: PlacedRequest): Promise<ReadonlyMap<ClusterName, readonly RenderedObject[]>>;
  /** Renders a plan with one dry run per copy to write. It includes the preflight if a breach is rolled back (`rollout.onFailure`). */
  plan(request: PlanRequest): Promise<PropagationPlan>;
  /**
   * Plans like `plan`, and checks in each cluster whether the identity may do everything (docs/internals/propagation.md 5.5). A missing
   * right is a note `PREFLIGHT_FAILED`.
   */
  preflight(request: PlanRequest): Promise<PropagationPlan>;
}

/** The services that a planner uses. */
export interface PlannerPorts {
  readonly members: Members;
  /** The hub: its inventories, and the cluster in which the dependencies of manifests are found. Absent: there is no hub. */
  readonly hub?: HubRecords & { readonly shares: ShareStore };
  readonly clientOf: ClientOf;
  /** The merge rules for lists: `listRulesIn` the model. */
  readonly listRulesOf: ListRulesOf;
  /** The kinds whose values are never shown. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  readonly clock: Clock;
  readonly log: Log;
}
