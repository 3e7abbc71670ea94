import { clusterName } from '../../../../src/core/names.ts';
import type { KarmadaPlacement } from '../../../../src/propagate/karmada/karmada-placement.ts';
import { type ReplicaScheduling, replicasSpecOf } from '../../../../src/propagate/karmada/replica-scheduling.ts';
import { divideAsKarmada } from '../../../../src/propagate/plan/exact/divide-as-karmada.ts';
import { fewestSeatsThenName } from '../../../../src/propagate/plan/placing/apportion.ts';
import { addSeats, apportionOffers, type CapacityOffer, usedFirst } from '../../../../src/propagate/plan/placing/divide-by-capacity.ts';
import type { DivisionTarget } from '../../../../src/propagate/plan/placing/divide-replicas.ts';
import { sumBy } from '../../../../src/propagate/plan/placing/sum-by.ts';
import { type KarmadaCluster, memberClusterOf, type TargetCluster } from './karmada-cluster.ts';

/** A cluster that Karmada's scheduler selected. Candidates are in the order of the scheduler. */
export interface KarmadaCandidate extends KarmadaCluster {
  readonly name: string;
  /** The number of additional replicas that fit, from an estimator. */
  readonly allocatableReplicas?: number;
  /** `allocatableReplicas` plus the replicas that are there already. */
  readonly availableReplicas?: number;
  readonly overflowOrder?: number;
}

/**
 * The input of Karmada's AssignReplicas. `replicaScheduling` is the strategy. Default: the strategy of `placement`. Without both, each
 * cluster gets all replicas.
 */
interface Assignment {
  readonly candidates: readonly KarmadaCandidate[];
  readonly replicas?: number;
  readonly previous?: readonly TargetCluster[] | null;
  readonly replicaScheduling?: ReplicaScheduling | null;
  readonly placement?: KarmadaPlacement | null;
  readonly resourceUID?: string;
  readonly observedAffinityName?: string;
  readonly fresh?: boolean;
}

/**
 * The replicas of each cluster, or why none can be assigned. `unschedulable` is set if the candidates lack capacity. As in Karmada, it is
 * left out if the affinity in use has overflow affinities.
 */
type Assigned =
  | { readonly clusters: readonly TargetCluster[] }
  | { readonly error: true; readonly errorText: string; readonly unschedulable?: true };

/** Divides the replicas among the candidates, as Karmada's AssignReplicas does. An empty list of candidates is an error. */
export function assignReplicas(assignment: Assignment): Assigned {
  if (assignment.candidates.length === 0) return { error: true, errorText: 'there is no cluster to schedule to' };
  return assignByStrategy(assignment);
}

/**
 * Assigns replicas by one strategy. If the replicas do not all fit, the result is an error, as in Karmada, although Muster's own division
 * would place those that fit.
 */
export function assignByStrategy(assignment: Assignment): Assigned {
  const { candidates, replicas: count = 0, placement, resourceUID = '', fresh = false } = assignment;
  const replicas = replicasSpecOf(assignment.replicaScheduling ?? placement?.replicaScheduling);
  if (replicas === undefined) return { error: true, errorText: 'expected a known strategy' };
  const chosen = candidates.map((candidate) => targetOf(candidate, assignment));
  const isOverflowing = overflows(placement, assignment.observedAffinityName);
  const { shares, problem } = divideAsKarmada({ count, replicas, chosen, fresh, uid: resourceUID, overflows: isOverflowing });
  if (problem !== undefined) {
    const exhausted = { error: true, errorText: problem } as const;
    return isOverflowing ? exhausted : { ...exhausted, unschedulable: true };
  }
  return { clusters: shares.map(({ cluster, to }) => ({ name: cluster, replicas: to })) };
}

/**
 * Karmada's dynamicDivideReplicas: divides `targetReplicas` between the available clusters, in proportion to the replicas for which each has
 * room, and adds them to the replicas of the scheduled clusters. Aggregated uses only as many clusters as needed: first those that have
 * replicas already, then the others, each in the given order. Returns an error if all together have too little room.
 */
export function dynamicDivide({
  strategy,
  targetReplicas,
  availableClusters,
  scheduledClusters,
}: {
  readonly strategy: string;
  readonly targetReplicas: number;
  readonly availableClusters: readonly TargetCluster[];
  readonly scheduledClusters?: readonly TargetCluster[] | null;
}): Assigned {
  const held = (scheduledClusters ?? []).map(({ name, replicas = 0 }) => ({ name, previous: replicas }));
  const offers = availableClusters.map(({ name, replicas = 0 }): CapacityOffer => ({ name, weight: replicas, cap: replicas }));
  const available = sumBy(offers, ({ cap }) => cap);
  if (available < targetReplicas) return { error: true, unschedulable: true, errorText: `only ${available} replicas fit` };
  const { seats } = apportionOffers(targetReplicas, usedFirst(offers, held), {
    strategy: strategy === 'Aggregated' ? 'Aggregated' : 'Available',
    tieBreak: fewestSeatsThenName,
  });
  return { clusters: [...addSeats(held, seats)].map(([name, replicas]) => ({ name, replicas })) };
}

function targetOf(candidate: KarmadaCandidate, { previous, placement, observedAffinityName }: Assignment): DivisionTarget {
  const { name, allocatableReplicas = 0, overflowOrder = 0 } = candidate;
  const held = (previous ?? []).find((target) => target.name === name)?.replicas ?? 0;
  const available = candidate.availableReplicas ?? allocatableReplicas + held;
  const tier = overflows(placement, observedAffinityName) ? overflowOrder : 0;
  return {
    chosen: { cluster: clusterName(name), tier, score: 0, available },
    cluster: memberClusterOf(candidate),
    previous: held,
    capacity: allocatableReplicas,
  };
}

function overflows(placement: KarmadaPlacement | null | undefined, observed = ''): boolean {
  if (placement?.clusterAffinity !== undefined && placement.clusterAffinity !== null) return false;
  const term = (placement?.clusterAffinities ?? []).find(({ affinityName = '' }) => observed !== '' && affinityName === observed);
  return term?.overflowAffinities !== undefined && term.overflowAffinities !== null;
}
