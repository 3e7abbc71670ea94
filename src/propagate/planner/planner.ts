import type { Clock } from '../../core/clock.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ClusterShare, ShareStore } from '../inventory.ts';
import type { ListRulesOf } from '../list-rules.ts';
import type { Members } from '../members.ts';
import type { ObjectClient } from '../object-client.ts';
import type { PropagationPlan, RenderedObject, RenderedPlan } from '../plan.ts';
import type { PropagationStatus } from '../propagation.ts';
import type { PropagationSpec } from '../spec.ts';
import type { ReplacedIntent } from './plan-digest.ts';
import type { HubRecords } from './sources.ts';

/** Whose rights a Propagation is read and written with. */
type Actor = Pick<PropagationSpec, 'runAs' | 'requester'>;

/** The objects of a cluster as that actor may reach them. Undefined if the cluster is no member. */
export type ClientOf = (cluster: ClusterName, actor: Actor) => ObjectClient | undefined;

/** What is to be planned. */
export interface PlanRequest {
  /** Of the Propagation. */
  readonly namespace: string;
  readonly name: string;
  readonly spec: PropagationSpec;
  /**
   * `decide`: a query, a mutation, or a generation not planned yet: what is wrong is an error note, and nothing may be done. `keep`: a generation
   * decided before: a cluster that left, or for which an override fails, stops no other.
   */
  readonly purpose: 'decide' | 'keep';
  /** Absent: there is no such Propagation yet. */
  readonly existing?: ExistingPropagation;
  /** The intent to replace, as a part of the digest. Absent if there is no such intent yet, or if the digest covers the content only. */
  readonly replaced?: ReplacedIntent;
  /** The inventory. Absent: read from the hub, if there is an `existing`. */
  readonly shares?: readonly ClusterShare[];
  readonly signal: AbortSignal;
}

/** A spec that was decided before, and the inventory of the clusters to look at. */
export type PlacedRequest = Omit<PlanRequest, 'purpose' | 'shares'> & { readonly shares: readonly ClusterShare[] };

export interface ExistingPropagation {
  readonly uid: string;
  /** Its clusters, counts, affinity group and `scheduledAt` are what steady planning begins with. */
  readonly status: PropagationStatus;
  /** The spec which that status was decided for: that of the last revision. Absent: the same as now. */
  readonly decided?: PropagationSpec;
}

/**
 * Says what a Propagation would do where. Writes nothing. The digests of all three are made alike: over what the mirrors say, and what a live read
 * added where a dry run found a mirror behind.
 *
 * An abort rejects with the signal's reason.
 */
export interface Planner {
  /** From the mirrors alone, but for the live reads of what a template refers to: no dry run. Waits at most 10 s for mirrors never read before. */
  render(request: PlanRequest): Promise<RenderedPlan>;
  /** The copies that this spec placed, by the hashes in the inventory: to restore what is deleted or changed before the next generation begins there. */
  renderPlaced(request: PlacedRequest): Promise<ReadonlyMap<ClusterName, readonly RenderedObject[]>>;
  /** With one dry run for each copy that would be written, and the preflight if a breach is to be rolled back (`rollout.onFailure`). */
  plan(request: PlanRequest): Promise<PropagationPlan>;
  /** As `plan`, and asks each cluster whether the actor may do it all (docs/internals/propagation.md 5.5): what it may not is a note `PREFLIGHT_FAILED`. */
  preflight(request: PlanRequest): Promise<PropagationPlan>;
}

/** What a planner works with. */
export interface PlannerPorts {
  readonly members: Members;
  /** Where inventories stand, and the cluster which dependencies of written templates are found in. Absent: there is no hub. */
  readonly hub?: HubRecords & { readonly shares: ShareStore };
  readonly clientOf: ClientOf;
  /** How lists merge: `listRulesIn` the model. */
  readonly listRulesOf: ListRulesOf;
  /** The kinds of which no value is shown. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  readonly clock: Clock;
  readonly log: Log;
}
