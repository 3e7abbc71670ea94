import { compareText } from '../../../core/text.ts';
import { sumBy } from './sum-of.ts';

/** A region, or whatever clusters are grouped by. */
export interface WeightedGroup {
  readonly name: string;
  /** Clusters in it, at least one. */
  readonly value: number;
  /** Its score, ≥ 0. */
  readonly weight: number;
}

/** How many groups, and how many clusters they must have together. */
export interface GroupLimits {
  readonly min: number;
  /** Infinity: none. */
  readonly max: number;
  readonly clusters: number;
}

/**
 * The best set of groups within the limits, ordered by weight, the heaviest first, then by name. Undefined if there is none; empty if none are
 * asked for.
 *
 * Candidates are the sets in whose order (fewest clusters first, then weight, then name) no shorter beginning would do. Of them that of the largest
 * weight, then of most clusters, then the first in that order; and of it the shortest part, the heaviest first, that is a candidate too
 * (docs/internals/propagation.md 3.2, "By group").
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

/** For each beginning of a set, told by its groups and clusters, the best way on with the groups from some place on. */
interface CompletionTable {
  /** The index of a beginning is its groups × `width` and its clusters. It has fewer groups than `lengths`, fewer clusters than `width`. */
  readonly lengths: number;
  readonly width: number;
  /** What the way on weighs; −1: there is none. */
  readonly weights: Float64Array;
  /** Clusters at its end, those of the beginning among them. */
  readonly values: Float64Array;
}

/**
 * The best candidate, found without going through them all: they may be beyond number. The ways on from one place come from those of the place after
 * it, from the last one back. At most groups² × clusters steps, and an eighth of that in bytes.
 */
function bestCandidate<T extends WeightedGroup>(ordered: readonly T[], limits: GroupLimits): readonly T[] | undefined {
  const width = sumBy(ordered, ({ value }) => value) + 1;
  // Each group has a cluster: a beginning of so many groups would do.
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
  /** Groups before it in order. */
  readonly before: number;
  readonly limits: GroupLimits;
  /** A bit for each beginning: set where the group is taken. */
  readonly marks: Uint8Array;
}

/** Takes the group wherever that is as good as passing it by: so of equals the first in order wins. */
function considerGroup({ lengths, width, weights, values }: CompletionTable, { group, before, limits, marks }: GroupStep): void {
  // Upwards, as at the next length still stands the way on from the next place.
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
