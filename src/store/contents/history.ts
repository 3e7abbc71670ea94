import type { Clock } from '../../core/clock.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { StoreChange } from '../feed/changes.ts';
import type { StoreEvent } from '../mirror-store.ts';
import { compareVersions } from '../versions.ts';

const maxChanges = 4_096;
const maxBytes = 4 * 1024 * 1024;
const maxAgeMs = 10 * 60_000;

/** The source of changes. `streamed`: watch events, which skip no version. `listed`: a complete list, which may skip versions. */
type StepOrigin = 'streamed' | 'listed';

interface HistoryStep {
  readonly origin: StepOrigin;
  readonly changes: readonly StoreChange[];
  readonly version: ResourceVersion;
  readonly weight: number;
  readonly bytes: number;
  readonly atMs: number;
}

/** The last changes of a mirror: at most 4,096 changes, 4 MiB, and 10 minutes old. */
export class StoreHistory {
  readonly #clock: Clock;
  #floor: ResourceVersion | undefined;
  #steps: HistoryStep[] = [];
  /**
   * Index of the oldest step that is still remembered. The array is shortened from time to time, because doing so at each change costs too
   * much.
   */
  #first = 0;
  #changes = 0;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Forgets all changes. The history then begins at this version. Undefined: no reader can resume until the next change. */
  restart(version: ResourceVersion | undefined): void {
    this.#floor = version;
    this.#steps = [];
    this.#first = 0;
    this.#changes = 0;
    this.#bytes = 0;
  }

  /**
   * Adds changes that together led to this version. Without a version, forgets all changes, because no reader could resume.
   *
   * @param origin `listed` if a complete list brought them. The mirror has then not seen the versions in between.
   */
  add(changes: readonly StoreChange[], version: ResourceVersion | undefined, origin: StepOrigin): void {
    if (version === undefined) this.restart(undefined);
    else this.#append(changes, version, origin);
  }

  /** Records that the mirror reached a version without a change. */
  advance(version: ResourceVersion): void {
    const last = this.#steps.length > this.#first ? this.#steps.at(-1) : undefined;
    // The bookmarks of a mirror without changes share one step if their versions can be compared.
    if (last?.origin === 'streamed' && last.changes.length === 0 && (compareVersions(version, last.version) ?? -1) >= 0) {
      this.#steps[this.#steps.length - 1] = { ...last, version, atMs: this.#clock.monotonic() };
    } else this.#append([], version, 'streamed');
  }

  /**
   * Returns the events after a version. Returns undefined if those events are not remembered.
   *
   * Also returns undefined for a version that a list of this mirror skipped. A reader at that version comes from another replica of the
   * gateway, and may know objects that this mirror never had.
   */
  since(version: ResourceVersion): readonly StoreEvent[] | undefined {
    this.#prune();
    if (this.#floor === undefined) return undefined;
    const after = stepsAfter(version, { floor: this.#floor, steps: this.#steps.slice(this.#first) });
    return after?.flatMap((step) => step.changes.map(({ event }) => event));
  }

  #append(changes: readonly StoreChange[], version: ResourceVersion, origin: StepOrigin): void {
    const latest = this.#steps.length > this.#first ? this.#steps.at(-1)?.version : this.#floor;
    // A version below the latest one is of another history, so no reader can resume across it.
    if (latest === undefined || (compareVersions(version, latest) ?? 0) < 0 || changes.length > maxChanges) {
      this.restart(version);
      return;
    }
    const weight = Math.max(1, changes.length);
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    this.#steps.push({ origin, changes, version, weight, bytes, atMs: this.#clock.monotonic() });
    this.#changes += weight;
    this.#bytes += bytes;
    this.#prune();
  }

  #prune(): void {
    const oldestMs = this.#clock.monotonic() - maxAgeMs;
    for (let step = this.#steps[this.#first]; step !== undefined; step = this.#steps[this.#first]) {
      if (this.#changes <= maxChanges && this.#bytes <= maxBytes && step.atMs >= oldestMs) break;
      this.#floor = step.version;
      this.#changes -= step.weight;
      this.#bytes -= step.bytes;
      this.#first += 1;
    }
    if (this.#first < 64 || this.#first * 2 < this.#steps.length) return;
    this.#steps = this.#steps.slice(this.#first);
    this.#first = 0;
  }
}

function stepsAfter(
  version: ResourceVersion,
  { floor, steps }: { readonly floor: ResourceVersion; readonly steps: readonly HistoryStep[] },
): readonly HistoryStep[] | undefined {
  if (version === floor) return steps;
  // Several steps may have this version, because a list may add changes at a version that was already reached. Returns the steps after the
  // first one. The reader may then receive changes that it knows already, which is harmless.
  const exact = steps.findIndex((step) => step.version === version);
  if (exact >= 0) return steps.slice(exact + 1);
  const fromFloor = compareVersions(version, floor);
  const fromLatest = compareVersions(version, steps.at(-1)?.version ?? floor);
  if (fromFloor === undefined || fromLatest === undefined || fromFloor < 0 || fromLatest > 0) return undefined;
  const next = steps.findIndex((step) => (compareVersions(step.version, version) ?? 1) > 0);
  return next < 0 || steps[next]?.origin === 'listed' ? undefined : steps.slice(next);
}
