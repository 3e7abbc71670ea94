import type { MemberCluster } from '../../../changes/members.ts';
import { type KubeFedPlanRequest, type KubeFedPreference, planKubeFed } from '../../kubefed/plan-kubefed.ts';
import type { ReplicaDivision, ReplicaShare } from '../../model/placement.ts';
import { isDividedAsKubeFed, type PropagationSpec, type ReplicasSpec } from '../../model/spec.ts';
import { matchesSet } from '../placing/cluster-set.ts';
import type { DivisionTarget } from '../placing/divide-replicas.ts';
import { divisionNotes } from '../placing/division-notes.ts';
import { boundsOf, defaultBounds } from '../placing/replica-bounds.ts';
import { sumBy } from '../placing/sum-by.ts';
import { holdsCopies } from '../snapshot/cluster-locations.ts';
import type { SnapshotCluster } from '../snapshot/snapshot.ts';
import { type KubeFedPolicies, kubeFedPoliciesOf } from './kubefed-policies.ts';

/**
 * True if a chosen cluster has a copy although it gets no replicas. KubeFed and Federation v1 create such copies. The exception are Jobs
 * with Federation v1: it creates no such copy, but keeps existing ones. By all other rules, such a copy is removed.
 */
export function keepsEmptyCopy(spec: Pick<PropagationSpec, 'exact' | 'replicas'>, { share, hasJob }: ClusterWithoutReplicas): boolean {
  if (!isDividedAsKubeFed(spec)) return false;
  return spec.exact?.system === 'Kubefed' || !hasJob || (share !== undefined && holdsCopies(share));
}

/**
 * True if the namespace is not federated in a chosen cluster. KubeFed plans replicas for such a cluster, and writes no copy there, so its
 * replicas are lost.
 */
export function losesReplicas(spec: Pick<PropagationSpec, 'exact' | 'replicas'>, cluster: MemberCluster): boolean {
  if (!isDividedAsKubeFed(spec)) return false;
  const { namespaceClusters } = kubeFedPoliciesOf(spec.exact);
  return namespaceClusters !== undefined && !matchesSet(namespaceClusters, cluster);
}

/** A chosen cluster that gets no replicas. */
interface ClusterWithoutReplicas {
  /** The copies in the cluster. Undefined: none is known. */
  readonly share: SnapshotCluster['share'] | undefined;
  /** True if the workload is a Job. */
  readonly hasJob: boolean;
}

/** The input of `divideAsKubeFed`. */
interface KubeFedDivisionInput {
  /** The number of replicas, or the parallelism of a Job. Whole, ≥ 0. */
  readonly count: number;
  /** The completions of a Job. Absent for other workloads, and for Jobs without completions. */
  readonly completions?: number | undefined;
  readonly replicas: Pick<ReplicasSpec, 'mode' | 'strategy' | 'rules' | 'rebalance'>;
  readonly chosen: readonly DivisionTarget[];
  readonly policies: KubeFedPolicies;
  /** `namespace/name` of the workload in the source system. It decides between clusters of equal weight. */
  readonly key: string;
  /** True if a reschedule was requested. Then all replicas are divided anew. */
  readonly fresh: boolean;
}

/**
 * Divides replicas as KubeFed and Federation v1 do (docs/internals/propagation.md 3.4). Each cluster gets `plan` + `overflow` of their
 * planner, so a full cluster is asked for more replicas than fit. Minimums come before weights, and maximums can leave replicas unplaced.
 *
 * The planner gets the numbers of running replicas. If a division of the previous numbers would change nothing, and no cluster is full, the
 * previous numbers stay. So a rolling update moves no replicas.
 *
 * The replicas of a cluster in which the namespace is not federated stay unplaced.
 *
 * A cluster without a matching rule gets none. Without any rules, all clusters have equal weights. The completions of a Job are divided by
 * the same rules as its parallelism.
 */
export function divideAsKubeFed(input: KubeFedDivisionInput): ReplicaDivision {
  const { count, completions, replicas, chosen } = input;
  const federated = new Set(federatedIn(input).map(({ cluster }) => cluster.name));
  const counts = input.fresh ? writtenCounts(requestOf(input, count)) : countsFromRunning(input);
  const completed = completions === undefined ? undefined : writtenCounts(requestOf(input, completions));
  const shares = chosen.map((target) => {
    const { name } = target.cluster;
    return shareOf(input, target, { to: federated.has(name) ? Math.max(0, counts[name] ?? 0) : 0, completed });
  });
  const unplaced = Math.max(0, count - sumBy(shares, ({ to }) => to));
  return { shares, unplaced, notes: divisionNotes({ replicas, shares, unplaced, count }) };
}

type Counts = Readonly<Record<string, number>>;

/** Returns the chosen clusters in which the namespace is federated. */
function federatedIn({ chosen, policies: { namespaceClusters } }: KubeFedDivisionInput): readonly DivisionTarget[] {
  return namespaceClusters === undefined ? chosen : chosen.filter(({ cluster }) => matchesSet(namespaceClusters, cluster));
}

function countsFromRunning(input: KubeFedDivisionInput): Counts {
  const { chosen } = input;
  const request = requestOf(input, input.count);
  const estimatedCapacity = countsOf(chosen, ({ running }) => running?.capacity);
  const previous = countsOf(chosen, (target) => target.previous);
  const next = writtenCounts({ ...request, currentReplicas: previous });
  const isSame = federatedIn(input).every(({ cluster: { name } }) => next[name] === previous[name]);
  if (Object.keys(estimatedCapacity).length === 0 && isSame) return previous;
  // A copy that is missing or unread counts as running, so that missing information moves no replicas.
  const currentReplicas = countsOf(chosen, (target) => target.running?.current ?? target.previous);
  return writtenCounts({ ...request, currentReplicas, estimatedCapacity });
}

function writtenCounts(request: KubeFedPlanRequest): Counts {
  const { plan, overflow } = planKubeFed(request);
  return Object.fromEntries(Object.entries(plan).map(([cluster, count]) => [cluster, count + (overflow[cluster] ?? 0)]));
}

/**
 * Returns the request without the current replicas and the capacities of the clusters: a division from zero. `countsFromRunning` adds both.
 */
function requestOf(input: KubeFedDivisionInput, totalReplicas: number): KubeFedPlanRequest {
  const { replicas, chosen, key } = input;
  return {
    totalReplicas,
    preferences: Object.fromEntries(
      chosen.flatMap((target) => {
        const preference = preferenceOf(input, target);
        return preference === undefined ? [] : [[target.cluster.name, preference]];
      }),
    ),
    clusters: chosen.map(({ cluster }) => cluster.name),
    key,
    rebalance: replicas.rebalance,
  };
}

function countsOf(targets: readonly DivisionTarget[], countIn: (target: DivisionTarget) => number | undefined): Counts {
  return Object.fromEntries(
    targets.flatMap((target) => {
      const count = countIn(target);
      return count === undefined ? [] : [[target.cluster.name, count]];
    }),
  );
}

/**
 * Returns the preference of a cluster. Undefined if rules exist and none of them matches: the cluster then gets no replicas. A cluster that is
 * undecided keeps exactly its previous replicas.
 */
function preferenceOf(
  { replicas: { rules }, policies: { preferences } }: Pick<KubeFedDivisionInput, 'replicas' | 'policies'>,
  { cluster, previous, isUndecided }: DivisionTarget,
): KubeFedPreference | undefined {
  if (isUndecided === true) return { weight: 0, minReplicas: previous, maxReplicas: previous };
  if (preferences !== undefined) return Object.hasOwn(preferences, cluster.name) ? preferences[cluster.name] : preferences['*'];
  const bounds = rules.length === 0 ? defaultBounds : boundsOf(rules, cluster);
  if (bounds === undefined) return undefined;
  const { weight, min, max } = bounds;
  return { weight, minReplicas: min, maxReplicas: Number.isFinite(max) ? max : undefined };
}

function shareOf(
  input: KubeFedDivisionInput,
  target: DivisionTarget,
  { to, completed }: { readonly to: number; readonly completed: Counts | undefined },
): ReplicaShare {
  const { cluster, previous, running } = target;
  const preference = preferenceOf(input, target);
  const [weight, minReplicas, maxReplicas] = [preference?.weight ?? 0, preference?.minReplicas ?? 0, preference?.maxReplicas ?? undefined];
  return {
    cluster: cluster.name,
    from: previous,
    to,
    kept: Math.min(previous, to),
    strategy: 'Weighted',
    weight,
    ...(minReplicas > 0 ? { min: minReplicas } : {}),
    ...(maxReplicas === undefined ? {} : { max: maxReplicas }),
    ...(running?.capacity === undefined ? {} : { capacity: running.capacity }),
    ...(completed === undefined ? {} : { completions: completed[cluster.name] ?? 0 }),
  };
}
