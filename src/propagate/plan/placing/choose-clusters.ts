import { compareText } from '../../../core/text.ts';
import { pickGroups } from './pick-groups.ts';
import { sumBy } from './sum-by.ts';

/** A cluster that passed all filters. */
export interface EligibleCluster {
  readonly name: string;
  readonly tier: number;
  readonly score: number;
  /** The number of replicas that fit, including existing ones. Infinity: unlimited or unknown. */
  readonly available: number;
}

/** A minimum and a maximum number. A maximum of Infinity means no limit. */
export interface CountRange {
  readonly min: number;
  readonly max: number;
}

/** The chosen clusters in order, or the reason why none can be chosen. */
export type SpreadResult<T> =
  | { readonly result: 'chosen'; readonly clusters: readonly T[] }
  | { readonly result: 'refused'; readonly reason: 'SPREAD' | 'CAPACITY'; readonly problem: string };

/** The clusters with one value of the spread property, such as a region. `clusters` are sorted, best first. */
export interface ClusterGroup<T> {
  readonly name: string;
  readonly score: number;
  readonly clusters: readonly T[];
}

/** Compares clusters by tier (lowest first), score (highest first), room (most first) and name. A total order. */
export function compareEligible(a: EligibleCluster, b: EligibleCluster): number {
  return a.tier - b.tier || b.score - a.score || compareAmounts(b.available, a.available) || compareText(a.name, b.name);
}

/**
 * Chooses the first clusters of the list, as many as the range allows.
 *
 * With `replicas`, the chosen clusters must have room for all of them together. While their room is too small, chosen clusters are
 * exchanged for others with more room, the last chosen one first.
 */
export function chooseClusters<T extends EligibleCluster>(
  ordered: readonly T[],
  { min, max }: CountRange,
  replicas?: number,
): SpreadResult<T> {
  if (ordered.length < min) return refused(`expected at least ${min} clusters to spread over, ${ordered.length} fit`);
  const need = Math.min(ordered.length, max);
  const chosen = ordered.slice(0, need);
  if (replicas === undefined) return { result: 'chosen', clusters: chosen };
  const left = ordered.slice(need);
  for (let index = need - 1; index >= 0 && roomOf(chosen) < replicas; index -= 1) exchange(chosen, index, left);
  if (need > 0 && roomOf(chosen) >= replicas) return { result: 'chosen', clusters: chosen };
  const problem = `expected room for ${replicas} replicas in ${need} of the clusters, there is room for ${roomOf(chosen)}`;
  return { result: 'refused', reason: 'CAPACITY', problem };
}

/**
 * Chooses clusters of the best groups. Each of these groups gets its first cluster, even if that exceeds the maximum of clusters. Then the
 * remaining clusters follow in order, up to the maximum.
 */
export function chooseFromGroups<T extends EligibleCluster>(
  groups: readonly ClusterGroup<T>[],
  { group, cluster }: { readonly group: CountRange; readonly cluster: CountRange },
): SpreadResult<T> {
  if (groups.length < group.min) return refused(`expected at least ${group.min} groups to spread over, there are ${groups.length}`);
  const weighed = groups.map((entry) => ({ ...entry, value: entry.clusters.length, weight: entry.score }));
  const picked = pickGroups(weighed, { ...group, clusters: cluster.min }) ?? [];
  if (picked.length === 0)
    return refused(`expected ${cluster.min} clusters in ${group.min} to ${group.max} groups, there are not that many`);
  const firsts = picked.flatMap(({ clusters }) => clusters.slice(0, 1));
  const others = picked.flatMap(({ clusters }) => clusters.slice(1)).sort(compareEligible);
  return { result: 'chosen', clusters: [...firsts, ...others.slice(0, Math.max(0, cluster.max - firsts.length))] };
}

/** Prints a range: `2 to 3`, or `2 or more`. */
export function printRange({ min, max }: CountRange): string {
  return `${min} ${Number.isFinite(max) ? `to ${max}` : 'or more'}`;
}

function exchange<T extends EligibleCluster>(chosen: T[], index: number, left: T[]): void {
  const out = chosen[index];
  const most = left.reduce<T | undefined>((best, next) => (best === undefined || next.available > best.available ? next : best), undefined);
  if (out === undefined || most === undefined || most.available <= out.available) return;
  chosen[index] = most;
  left[left.indexOf(most)] = out;
}

function refused<T>(problem: string): SpreadResult<T> {
  return { result: 'refused', reason: 'SPREAD', problem };
}

function roomOf(clusters: readonly EligibleCluster[]): number {
  return sumBy(clusters, ({ available }) => available);
}

/** Compares two amounts. Handles two infinite amounts, whose difference is NaN. */
function compareAmounts(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
