import type { Clock } from '../../core/clock.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { StoreChange } from '../feed/changes.ts';
import type { StoreEvent } from '../mirror-store.ts';
import { compareVersions } from '../versions.ts';

/** The last changes of a mirror: at most 4,096, of 4 MiB, 10 minutes old. */
export interface StoreHistory {
  /** Nothing before this version is remembered; undefined: nothing at all is. */
  restart(version: ResourceVersion | undefined): void;
  /**
   * These changes led to this version, together.
   *
   * @param how `listed` if a complete list brought them. The mirror has then not seen the versions in between.
   */
  add(changes: readonly StoreChange[], version: ResourceVersion | undefined, how: StepOrigin): void;
  /** The version was reached without a change. */
  advance(version: ResourceVersion): void;
  /**
   * The events after the version. Undefined if they are not remembered, or if the mirror never was at that version because a list jumped over it. A
   * replica that was at that version may have sent objects that this mirror has never held.
   */
  since(version: ResourceVersion): readonly StoreEvent[] | undefined;
}

const maxChanges = 4_096;
const maxBytes = 4 * 1024 * 1024;
const maxAgeMs = 10 * 60_000;

/** Events of a watch leave no gap behind the version before; a list does. */
type StepOrigin = 'streamed' | 'listed';

interface HistoryStep {
  readonly how: StepOrigin;
  readonly changes: readonly StoreChange[];
  readonly version: ResourceVersion;
  readonly weight: number;
  readonly bytes: number;
  readonly atMs: number;
}

/** An empty history. */
export function createStoreHistory(clock: Clock): StoreHistory {
  let floor: ResourceVersion | undefined;
  let steps: HistoryStep[] = [];
  /** Steps before it are forgotten: the array is cut now and then, not at each change. */
  let first = 0;
  let changes = 0;
  let bytes = 0;

  const begin = (version: ResourceVersion | undefined): void => {
    floor = version;
    steps = [];
    first = 0;
    changes = 0;
    bytes = 0;
  };

  const prune = (): void => {
    const oldestMs = clock.monotonic() - maxAgeMs;
    for (let step = steps[first]; step !== undefined; step = steps[first]) {
      if (changes <= maxChanges && bytes <= maxBytes && step.atMs >= oldestMs) break;
      floor = step.version;
      changes -= step.weight;
      bytes -= step.bytes;
      first += 1;
    }
    if (first < 64 || first * 2 < steps.length) return;
    steps = steps.slice(first);
    first = 0;
  };

  const append = (added: readonly StoreChange[], version: ResourceVersion, how: StepOrigin): void => {
    const latest = steps.length > first ? steps.at(-1)?.version : floor;
    // Versions that go back have no order a resume could rely on.
    if (latest === undefined || (compareVersions(version, latest) ?? 0) < 0 || added.length > maxChanges) {
      begin(version);
      return;
    }
    const weight = Math.max(1, added.length);
    const heavy = added.reduce((sum, change) => sum + change.bytes, 0);
    steps.push({ how, changes: added, version, weight, bytes: heavy, atMs: clock.monotonic() });
    changes += weight;
    bytes += heavy;
    prune();
  };

  return {
    restart: begin,
    add: (added, version, how) => (version === undefined ? begin(undefined) : append(added, version, how)),
    advance(version) {
      const last = steps.length > first ? steps.at(-1) : undefined;
      // Bookmarks of a quiet mirror are one step, where their versions can be compared.
      if (last?.how === 'streamed' && last.changes.length === 0 && (compareVersions(version, last.version) ?? -1) >= 0) {
        steps[steps.length - 1] = { ...last, version, atMs: clock.monotonic() };
      } else append([], version, 'streamed');
    },
    since(version) {
      prune();
      if (floor === undefined) return undefined;
      const after = stepsAfter(version, { floor, steps: steps.slice(first) });
      return after?.flatMap((step) => step.changes.map(({ event }) => event));
    },
  };
}

function stepsAfter(
  version: ResourceVersion,
  { floor, steps }: { readonly floor: ResourceVersion; readonly steps: readonly HistoryStep[] },
): readonly HistoryStep[] | undefined {
  if (version === floor) return steps;
  // The first, as a list may have brought changes at a version that was already reached: told twice is better than never.
  const exact = steps.findIndex((step) => step.version === version);
  if (exact >= 0) return steps.slice(exact + 1);
  const fromFloor = compareVersions(version, floor);
  const fromLatest = compareVersions(version, steps.at(-1)?.version ?? floor);
  if (fromFloor === undefined || fromLatest === undefined || fromFloor < 0 || fromLatest > 0) return undefined;
  const next = steps.findIndex((step) => (compareVersions(step.version, version) ?? 1) > 0);
  return next < 0 || steps[next]?.how === 'listed' ? undefined : steps.slice(next);
}
