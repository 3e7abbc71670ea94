import { keyOfKind } from '../../core/kinds.ts';
import type { MirrorLease, MirrorReader, Mirrors } from '../../watch/mirrors.ts';

const streamWaitMs = 2_000;

/** The mirrors that the messages of one stream have led to, one lease of each: two messages may be further apart than an idle mirror lives. */
export class KeptMirrors implements Disposable {
  readonly #mirrors: Mirrors;
  /** By cluster and kind. */
  readonly #leases = new Map<string, MirrorLease>();
  #isOver = false;
  /** By `Clock.monotonic`. Absent: no message has led anywhere yet. */
  #waitsUntilMs: number | undefined;

  constructor(mirrors: Mirrors) {
    this.#mirrors = mirrors;
  }

  /**
   * How long what a message leads to may still be waited for, all messages together: 2 s from the first on, so that a stream that opens mirrors begins with
   * what they hold, and one that hangs holds it up once.
   */
  restMs(nowMs: number): number {
    this.#waitsUntilMs ??= nowMs + streamWaitMs;
    return Math.max(0, this.#waitsUntilMs - nowMs);
  }

  /** Holds the mirror until this is disposed of, in place of one of its kind that has ended. */
  keep(mirror: MirrorReader): void {
    if (this.#isOver) return;
    const { cluster, resource } = mirror;
    const key = `${cluster}/${keyOfKind(resource)}`;
    const known = this.#leases.get(key);
    if (known?.mirror === mirror) return;
    known?.[Symbol.dispose]();
    this.#leases.delete(key);
    const lease = this.#mirrors.acquire(cluster, resource);
    if (lease !== undefined) this.#leases.set(key, lease);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const lease of this.#leases.values()) lease[Symbol.dispose]();
    this.#leases.clear();
  }
}

/** Gives what a stream keeps, by the signal that aborts when the stream ends. */
export function createKeeping(mirrors: Mirrors): (signal: AbortSignal) => KeptMirrors {
  const ofStreams = new WeakMap<AbortSignal, KeptMirrors>();
  return (signal) => {
    const known = ofStreams.get(signal);
    if (known !== undefined) return known;
    const kept = new KeptMirrors(mirrors);
    ofStreams.set(signal, kept);
    if (signal.aborted) kept[Symbol.dispose]();
    else signal.addEventListener('abort', () => kept[Symbol.dispose](), { once: true });
    return kept;
  };
}
