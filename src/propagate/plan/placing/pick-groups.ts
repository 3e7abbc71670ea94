import { compareText } from '../../../core/text.ts';
import { sumBy } from './sum-by.ts';

/** A group of clusters, such as a region. */
export interface WeightedGroup {
  readonly name: string;
  /** The number of clusters in the group, at least 1. */
  readonly value: number;
  /** The score of the group, ≥ 0. */
  readonly weight: number;
}

/** The bounds of a choice of groups. */
export interface GroupLimits {
  readonly min: number;
  /** The maximum number of groups. Infinity: no limit. */
  readonly max: number;
  /** The minimum number of clusters in all chosen groups together. */
  readonly clusters: number;
}

/**
 * Returns the best set of groups within the limits, sorted by weight (largest first), then by name. Undefined if there is no such set.
 * Empty if the limits need no group (docs/internals/propagation.md 3.2, "By group").
 *
 * The candidates are the sets that meet the limits and would not meet them without their last group. To find the last group, the groups of
 * a set are sorted by clusters (fewest first), then by weight (largest first), then by name.
 *
 * The best candidate has the largest total weight. Of equal weights, it has the most clusters. Of equal numbers, it comes first in the
 * order above. If some of its heaviest groups alone are also a candidate, the shortest list of them is returned instead.
 */
export function pickGroups<T extends WeightedGroup>(groups: readonly T[], limits: GroupLimits): readonly T[] | undefined {
  if (suffices(0, 0, limits)) return [];
  const ordered = [...groups].sort((a, b) => a.value - b.value || b.weight - a.weight || compareText(a.name, b.name));
  const best = bestCandidate(ordered, limits);
  if (best === undefined) return undefined;
  const heaviest = [...best].sort((a, b) => b.weight - a.weight || compareText(a.name, b.name));
  for (let length = 1; length < heaviest.length; length += 1) {
    const part = heaviest.slice(0, length);
    if (
      isCandidate(
        ordered.filter((group) => part.includes(group)),
        limits,
      )
    )
      return part;
  }
  return heaviest;
}

function suffices(length: number, value: number, { min, clusters }: GroupLimits): boolean {
  return length >= min && value >= clusters;
}

function isCandidate(ordered: readonly WeightedGroup[], limits: GroupLimits): boolean {
  const value = sumBy(ordered, (group) => group.value);
  const last = ordered.at(-1)?.value ?? 0;
  return suffices(ordered.length, value, limits) && !suffices(ordered.length - 1, value - last, limits);
}

/**
 * A dynamic-programming table. An entry stands for a partial set that has a certain number of groups and, in total, a certain number of
 * clusters. It contains the best result of adding some of the groups that were already processed, so that the set is complete.
 */
interface CompletionTable {
  /** The index of an entry is (groups × `width`) + clusters. Groups are below `lengths`, clusters below `width`. */
  readonly lengths: number;
  readonly width: number;
  /** The total weight of the groups that complete the set. −1: it cannot be completed. */
  readonly weights: Float64Array;
  /** The number of clusters in the completed set, including the partial set. */
  readonly values: Float64Array;
}

/**
 * Finds the best candidate, or undefined if there is none. Uses dynamic programming, because there may be too many candidates to try them
 * all. The groups are processed from the last one to the first. Takes at most groups² × clusters steps, and an eighth of that number in
 * bytes.
 */
function bestCandidate<T extends WeightedGroup>(ordered: readonly T[], limits: GroupLimits): readonly T[] | undefined {
  const width = sumBy(ordered, ({ value }) => value) + 1;
  // Each group has at least one cluster, so a set of `lengths` groups always has enough clusters.
  const lengths = Math.min(ordered.length, limits.max, Math.max(limits.min, limits.clusters));
  if (lengths < 1 || width <= limits.clusters) return undefined;
  const size = lengths * width;
  const ways: CompletionTable = { lengths, width, weights: new Float64Array(size).fill(-1), values: new Float64Array(size) };
  const taken: Uint8Array[] = [];
  for (const [back, group] of ordered.toReversed().entries()) {
    const marks = new Uint8Array(Math.ceil(size / 8));
    considerGroup(ways, { group, before: ordered.length - 1 - back, limits, marks });
    taken.unshift(marks);
  }
  return (ways.weights[0] ?? -1) < 0 ? undefined : readCandidate(ordered, taken, { width, limits });
}

interface GroupStep {
  readonly group: WeightedGroup;
  /** The number of groups before this one. */
  readonly before: number;
  readonly limits: GroupLimits;
  /** One bit per table entry. It is set if the best completion of that entry begins with this group. */
  readonly marks: Uint8Array;
}

/**
 * Updates every table entry for which adding the group is at least as good as leaving it out. Groups are processed from last to first, so
 * the first group in order wins a tie.
 */
function considerGroup({ lengths, width, weights, values }: CompletionTable, { group, before, limits, marks }: GroupStep): void {
  // Lengths are processed upwards, because each entry is computed from that of the next length, which must not include this group yet.
  for (let length = 0; length < lengths && length <= before; length += 1) {
    for (let value = length; value + group.value < width && !suffices(length, value, limits); value += 1) {
      const here = length * width + value;
      const next = here + width + group.value;
      const ends = suffices(length + 1, value + group.value, limits);
      const further = ends ? 0 : length + 1 < lengths ? (weights[next] ?? -1) : -1;
      if (further < 0) continue;
      const weight = group.weight + further;
      const end = ends ? value + group.value : (values[next] ?? 0);
      const ahead = weight - (weights[here] ?? -1) || end - (values[here] ?? 0);
      if (ahead < 0) continue;
      weights[here] = weight;
      values[here] = end;
      marks[here >> 3] = (marks[here >> 3] ?? 0) | (1 << (here & 7));
    }
  }
}

function readCandidate<T extends WeightedGroup>(
  ordered: readonly T[],
  taken: readonly Uint8Array[],
  { width, limits }: { readonly width: number; readonly limits: GroupLimits },
): readonly T[] {
  const picked: T[] = [];
  let value = 0;
  for (const [index, group] of ordered.entries()) {
    const here = picked.length * width + value;
    if (((taken[index]?.[here >> 3] ?? 0) & (1 << (here & 7))) === 0) continue;
    picked.push(group);
    value += group.value;
    if (suffices(picked.length, value, limits)) break;
  }
  return picked;
}
