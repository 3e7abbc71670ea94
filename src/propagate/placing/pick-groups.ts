import { compareText } from '../../model/shapes.ts';
import { sumOf } from './sum-of.ts';

/** A region, or whatever clusters are grouped by. */
export interface Group {
  readonly name: string;
  /** Clusters in it. */
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
 * (propagation.md 3.2, "By group").
 *
 * The candidates may be beyond number, so they are not enumerated: of all beginnings with as many groups and clusters only the best is carried on.
 */
export function pickGroups<T extends Group>(groups: readonly T[], limits: GroupLimits): readonly T[] | undefined {
  const ordered = [...groups].sort((a, b) => a.value - b.value || b.weight - a.weight || compareText(a.name, b.name));
  if (suffices({ length: 0, value: 0 }, limits)) return [];
  const best = bestPath(ordered, limits);
  if (best === undefined) return undefined;
  const heaviest = groupsOn(best).sort((a, b) => b.weight - a.weight || compareText(a.name, b.name));
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

/** Groups in order, as a list from its end. */
interface Path<T> {
  readonly before: Path<T> | undefined;
  readonly group: T;
  readonly index: number;
  readonly length: number;
  readonly value: number;
  readonly weight: number;
}

function bestPath<T extends Group>(ordered: readonly T[], limits: GroupLimits): Path<T> | undefined {
  const open = new Map<string, Path<T>>();
  let best: Path<T> | undefined;
  for (const [index, group] of ordered.entries()) {
    const longer = [undefined, ...open.values()].map((before) => extended(before, group, index));
    for (const path of longer) {
      if (suffices(path, limits)) {
        if (path.length <= limits.max && (best === undefined || comparePaths(path, best) < 0)) best = path;
      } else if (path.length < limits.max) {
        const key = `${path.length} ${path.value}`;
        const other = open.get(key);
        if (other === undefined || comparePaths(path, other) < 0) open.set(key, path);
      }
    }
  }
  return best;
}

function extended<T extends Group>(before: Path<T> | undefined, group: T, index: number): Path<T> {
  const { length = 0, value = 0, weight = 0 } = before ?? {};
  return { before, group, index, length: length + 1, value: value + group.value, weight: weight + group.weight };
}

function suffices({ length, value }: { readonly length: number; readonly value: number }, { min, clusters }: GroupLimits): boolean {
  return length >= min && value >= clusters;
}

function isCandidate(ordered: readonly Group[], limits: GroupLimits): boolean {
  const value = sumOf(ordered, (group) => group.value);
  const last = ordered.at(-1)?.value ?? 0;
  return suffices({ length: ordered.length, value }, limits) && !suffices({ length: ordered.length - 1, value: value - last }, limits);
}

/** Below zero: the first is better. Of equal weight and value the one that a search in depth finds first. */
function comparePaths<T extends Group>(a: Path<T>, b: Path<T>): number {
  return b.weight - a.weight || b.value - a.value || compareIndices(indicesOn(a), indicesOn(b));
}

function compareIndices(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((index, position) => index !== b[position]);
  return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? Number.POSITIVE_INFINITY);
}

function indicesOn<T>(path: Path<T>): readonly number[] {
  return stepsOf(path).map(({ index }) => index);
}

function groupsOn<T>(path: Path<T>): T[] {
  return stepsOf(path).map(({ group }) => group);
}

function stepsOf<T>(path: Path<T>): Path<T>[] {
  const steps: Path<T>[] = [];
  for (let step: Path<T> | undefined = path; step !== undefined; step = step.before) steps.push(step);
  return steps.reverse();
}
