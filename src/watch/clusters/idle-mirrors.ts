import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { type HeapGauge, maxHeapForStreams } from '../../core/heap-gauge.ts';
import type { OwnedMirror } from '../mirror/mirror.ts';

const keptMs = 300_000;
const sweepMs = 30_000;

/** Mirrors that nobody holds, kept for a while as somebody may come back. */
export interface IdleMirrors {
  /** From now on nobody holds it: `evict` is called when its time is over or its place is needed, unless it is taken before. */
  add(mirror: OwnedMirror, evict: () => void): void;
  /** Somebody holds it again, or it has ended: it will not be evicted. */
  remove(mirror: OwnedMirror): void;
}

interface IdleOptions {
  readonly clock: Clock;
  /** Of all of them together; the one idle longest goes first. */
  readonly maxBytes: number;
  /** From `maxHeapForStreams` on, all idle mirrors are evicted at once. */
  readonly heap: HeapGauge;
}

/** Keeps idle mirrors for 5 minutes, within a bound of bytes (docs/internals/mirror.md 5). Stops sweeping when the signal aborts. */
export function createIdleMirrors({ clock, maxBytes, heap }: IdleOptions, signal: AbortSignal): IdleMirrors {
  const evictions = new WeakMap<OwnedMirror, () => void>();
  const idle = new LRUCache<OwnedMirror, { readonly mirror: OwnedMirror }>({
    maxSize: maxBytes,
    ttl: keptMs,
    perf: { now: () => clock.monotonic() },
    // Otherwise lru-cache remembers the time for a millisecond, by a timer of its own.
    ttlResolution: 0,
    // Not `dispose`: an eviction ends the mirror, which takes it out of here once more, and a delete within its delete breaks the cache's list.
    // `take` deletes: that alone is no eviction.
    disposeAfter: (_value, mirror, reason) => {
      if (reason !== 'delete') letGo(mirror);
    },
  });

  /** Unless it has been measured anew, or taken while others went before it, or told already. */
  function letGo(mirror: OwnedMirror): void {
    if (idle.has(mirror)) return;
    const evict = evictions.get(mirror);
    evictions.delete(mirror);
    evict?.();
  }

  /** lru-cache fixes a size at `set`, but idle mirrors go on growing. */
  function measure(mirror: OwnedMirror, keepTtl: { readonly noUpdateTTL: boolean }): void {
    // Of a value that it has already, lru-cache keeps the old size.
    idle.set(mirror, { mirror }, { size: Math.max(1, Math.ceil(mirror.store.bytes)), ...keepTtl });
  }

  async function sweeping(): Promise<void> {
    for (;;) {
      await clock.sleep(sweepMs, signal);
      if (signal.aborted) return;
      idle.purgeStale();
      // From the oldest on, as a set makes the youngest.
      for (const mirror of [...idle.rkeys()]) if (idle.has(mirror)) measure(mirror, { noUpdateTTL: true });
    }
  }

  /** Evicts each mirror alone: `clear` would also evict a mirror that was taken into use during an earlier eviction. */
  function evictAllIfFull(): void {
    if (heap.used() < maxHeapForStreams) return;
    for (const mirror of [...idle.rkeys()]) if (idle.delete(mirror)) letGo(mirror);
  }

  void sweeping();
  heap.onMeasured(evictAllIfFull, signal);
  return {
    add(mirror, evict) {
      evictions.set(mirror, evict);
      measure(mirror, { noUpdateTTL: false });
      // What is larger than the whole cache never got in.
      letGo(mirror);
    },
    remove(mirror) {
      evictions.delete(mirror);
      idle.delete(mirror);
    },
  };
}
