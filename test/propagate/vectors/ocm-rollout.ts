import { MusterError } from '../../../src/core/errors.ts';
import { parseDuration } from '../../../src/core/json/json-values.ts';
import { compareText } from '../../../src/core/text.ts';
import { nearestAfter, type RolloutLine, type SlotTimes, slotOf } from '../../../src/propagate/rollout/slots.ts';

/** A decision group of a placement. */
export interface GroupKey {
  readonly groupName: string;
  readonly groupIndex: number;
}

/** The clusters of one group. */
export interface ClusterGroup extends GroupKey {
  readonly clusters: readonly string[];
}

/** One cluster's rollout, with its group. */
export interface GroupedLine extends RolloutLine {
  readonly cluster: string;
  readonly group: GroupKey;
  /** Time of the next check of the cluster, in milliseconds since 1970. Default: none. */
  readonly recheckMs?: number | undefined;
}

/** An OCM RolloutStrategy: number of clusters at a time, deadline and allowed failures. */
export interface RolloutStrategy {
  readonly type: 'All' | 'Progressive' | 'ProgressivePerGroup';
  readonly minSuccessMs: number;
  /** Deadline in OCM's form, such as `10m` or `None`. */
  readonly progressDeadline: string;
  readonly maxFailures: number | string;
  readonly maxConcurrency: number | string;
  /** Groups that are rolled out first, each as a whole. */
  readonly mandatoryGroups: readonly Partial<GroupKey>[];
}

/** The next step of a rollout. */
interface NextRollout {
  /** Clusters that have a slot, in the order in which they got it. */
  readonly rollout: readonly GroupedLine[];
  readonly timedOut: readonly GroupedLine[];
  /** Existing clusters that no group has any more, in the given order. */
  readonly removed: readonly GroupedLine[];
  readonly isBreached: boolean;
  /** Milliseconds until the next check. Undefined if no deadline runs. */
  readonly recheckAfterMs?: number | undefined;
}

type Walked = Omit<NextRollout, 'removed'>;

/** The groups of one walk over clusters, with its limits. */
interface Walk {
  readonly groups: readonly ClusterGroup[];
  readonly known: readonly GroupedLine[];
  readonly pace: SlotTimes;
}

/**
 * Decides which clusters to roll out next, exactly as Open Cluster Management does (docs/internals/propagation.md 6). Like OCM, it walks
 * existing
 * clusters by name, so a cluster that still waits may take a slot before a later one that already runs. Our own waves are `nextWaves`.
 * Pure.
 *
 * @param request.existing The clusters with a rollout status, each once. Their order is kept.
 * @throws {MusterError} `BAD_INPUT` for an invalid deadline or size.
 */
export function nextRollout(request: {
  readonly strategy: RolloutStrategy;
  readonly groups: readonly ClusterGroup[];
  readonly existing: readonly GroupedLine[];
  readonly nowMs: number;
}): NextRollout {
  const { strategy, groups, existing, nowMs } = request;
  const placed = new Set(groups.flatMap(({ clusters }) => clusters));
  const known = existing.filter(({ cluster }) => placed.has(cluster));
  const removed = existing.filter(({ cluster }) => !placed.has(cluster));
  const pace = { soakMs: strategy.type === 'All' ? 0 : strategy.minSuccessMs, deadlineMs: parseTimeout(strategy.progressDeadline), nowMs };
  return { ...walkBy(strategy, { groups, known, pace }), removed };
}

function walkBy(strategy: RolloutStrategy, walk: Walk): Walked {
  const total = clustersOf(walk.groups).length;
  switch (strategy.type) {
    case 'All':
      return walkClusters(walk, total, total);
    case 'Progressive': {
      const maxFailures = rolloutSize(strategy.maxFailures, total, 0);
      const { mandatory, rest } = partition(strategy, walk);
      const first = walkGroups(mandatory, 0);
      if (first.rollout.length > 0 || first.timedOut.length > 0) return first;
      const left = clustersOf(rest.groups).length;
      return walkClusters(rest, rolloutSize(strategy.maxConcurrency, left, left), maxFailures);
    }
    case 'ProgressivePerGroup': {
      const { mandatory, rest } = partition(strategy, walk);
      const first = walkGroups(mandatory, 0);
      return first.rollout.length > 0 || first.timedOut.length > 0 ? first : walkGroups(rest, strategy.maxFailures);
    }
    default:
      return strategy.type satisfies never;
  }
}

/** Splits the groups into mandatory groups and the others. Without mandatory groups, the first walk has no clusters. */
function partition({ mandatoryGroups }: RolloutStrategy, walk: Walk): { readonly mandatory: Walk; readonly rest: Walk } {
  const keys = groupKeys(mandatoryGroups);
  const isMandatory = (group: ClusterGroup) =>
    keys.some(({ groupName, groupIndex }) => (groupName === '' ? group.groupIndex === groupIndex : group.groupName === groupName));
  const chosen = walk.groups.filter(isMandatory);
  return {
    mandatory: { ...walk, groups: chosen, known: chosen.length === 0 ? [] : walk.known },
    rest: { ...walk, groups: walk.groups.filter((group) => !isMandatory(group)) },
  };
}

function walkClusters({ groups, known, pace }: Walk, size: number, maxFailures: number): Walked {
  const rollout: GroupedLine[] = [];
  const timedOut: GroupedLine[] = [];
  let failures = 0;
  const end = (): Walked => ({
    rollout,
    timedOut,
    isBreached: failures > maxFailures,
    recheckAfterMs: recheckAfterOf(rollout, pace.nowMs),
  });
  for (const line of [...known].sort((a, b) => compareText(a.cluster, b.cluster))) {
    const placed = failures > maxFailures && line.phase === 'toApply' ? { line } : clusterStatus(line, pace);
    if (placed.list === 'rollout') rollout.push(placed.line);
    if (placed.list === 'timedOut') timedOut.push(placed.line);
    if (isFailure(placed.line)) failures += 1;
    if (rollout.length >= size) return end();
  }
  if (failures > maxFailures) return end();
  const names = new Set(known.map(({ cluster }) => cluster));
  for (const line of clustersOf(groups).sort((a, b) => compareText(a.cluster, b.cluster))) {
    if (names.has(line.cluster)) continue;
    rollout.push(line);
    if (rollout.length >= size) break;
  }
  return end();
}

function walkGroups({ groups, known, pace }: Walk, maxFailures: number | string): Walked {
  const begun = known.filter(({ phase }) => phase !== 'toApply').map((line) => clusterStatus(line, pace));
  const rollout = begun.filter(({ list }) => list === 'rollout').map(({ line }) => line);
  const timedOut = begun.filter(({ list }) => list === 'timedOut').map(({ line }) => line);
  const byName = new Map(begun.map(({ line }) => [line.cluster, line]));
  let failures = 0;
  let isBreached = false;
  for (const group of [...groups].sort((a, b) => a.groupIndex - b.groupIndex)) {
    const lines = clustersOf([group]).sort((a, b) => compareText(a.cluster, b.cluster));
    rollout.push(...lines.filter(({ cluster }) => !byName.has(cluster)));
    const failed = lines.filter(({ cluster }) => isFailure(byName.get(cluster))).length;
    isBreached = failed > rolloutSize(maxFailures, group.clusters.length, 0);
    failures += failed;
    if (rollout.length - failures > 0 || isBreached) break;
  }
  return { rollout, timedOut, isBreached, recheckAfterMs: recheckAfterOf(rollout, pace.nowMs) };
}

/** Sorts an existing cluster: it has a slot, has just timed out, or neither. */
export function clusterStatus(
  line: GroupedLine,
  pace: SlotTimes,
): { readonly list?: 'rollout' | 'timedOut' | undefined; readonly line: GroupedLine } {
  const slot = slotOf(line, pace);
  switch (slot.taken) {
    case 'yes':
      return { list: 'rollout', line: slot.recheckMs === undefined ? line : { ...line, recheckMs: slot.recheckMs } };
    case 'timedOut':
      return { list: 'timedOut', line: { ...line, phase: 'timedOut', recheckMs: slot.recheckMs } };
    case 'no':
      return { line };
    default:
      return slot satisfies never;
  }
}

function isFailure(line: RolloutLine | undefined): boolean {
  return line?.phase === 'timedOut' || line?.phase === 'failed';
}

/** Returns the milliseconds until the next future check of these clusters. Undefined if there is none. */
export function recheckAfterOf(lines: readonly GroupedLine[], nowMs: number): number | undefined {
  const nearest = nearestAfter(
    nowMs,
    lines.map(({ recheckMs }) => recheckMs),
  );
  return nearest === undefined ? undefined : nearest - nowMs;
}

/**
 * Returns a number of clusters: the number itself, or the percentage of the total, rounded up. Outside 1 to `total` it returns `fallback`.
 *
 * @throws {MusterError} `BAD_INPUT` for text that is not a percentage.
 */
export function rolloutSize(value: number | string, total: number, fallback: number): number {
  const { size, problem } = parseRolloutSize(value, total, fallback);
  if (problem !== undefined) throw new MusterError('BAD_INPUT', problem);
  return size;
}

/** Does the same without throwing: for text that is not a percentage, returns the fallback and the problem. */
export function parseRolloutSize(
  value: number | string,
  total: number,
  fallback: number,
): { readonly size: number; readonly problem?: string | undefined } {
  const percent = typeof value === 'string' ? /^([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)%$/.exec(value)?.[1] : undefined;
  if (typeof value === 'string' && percent === undefined) {
    return { size: fallback, problem: `expected a number or a percentage such as 25%, got ${JSON.stringify(value.slice(0, 80))}` };
  }
  const size = typeof value === 'number' ? value : Math.ceil((Number(percent) / 100) * total);
  return { size: size <= 0 || size > total ? fallback : size };
}

/**
 * Returns the milliseconds of a deadline. Undefined for `''` and `None`, which mean no deadline.
 *
 * @throws {MusterError} `BAD_INPUT` for text that does not begin with digits and h, m or s, or is not a duration.
 */
export function parseTimeout(text: string): number | undefined {
  if (text === '' || text === 'None') return undefined;
  const nanoseconds = /^\d+[hms]/.test(text) ? parseDuration(text) : undefined;
  if (nanoseconds !== undefined) return Number(nanoseconds) / 1e6;
  throw new MusterError('BAD_INPUT', `expected a duration such as 10m, or None, got ${JSON.stringify(text.slice(0, 80))}`);
}

/** Returns the keys of groups: by name (with index 0) if there is one, otherwise by index. */
export function groupKeys(groups: readonly Partial<GroupKey>[]): readonly GroupKey[] {
  return groups.map(({ groupName = '', groupIndex = 0 }) => (groupName === '' ? { groupName, groupIndex } : { groupName, groupIndex: 0 }));
}

function clustersOf(groups: readonly ClusterGroup[]): GroupedLine[] {
  return groups.flatMap(({ groupName, groupIndex, clusters }) =>
    clusters.map((cluster): GroupedLine => ({ cluster, group: { groupName, groupIndex }, phase: 'toApply' })),
  );
}
