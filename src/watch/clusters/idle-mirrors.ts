import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { type HeapGauge, maxHeapForStreams } from '../../core/heap-gauge.ts';
import type { OwnedMirror } from '../mirror/mirror.ts';

const keptMs = 300_000;
const sweepMs = 30_000;

/** Mirrors without a lease, kept for a while in case they are needed again. */
export interface IdleMirrors {
  /**
   * Adds a mirror that has no lease any more. `evict` is called once the mirror has been idle for 5 minutes, or its memory is needed,
   * unless the mirror is removed before.
   */
  add(mirror: OwnedMirror, evict: () => void): void;
  /** Removes a mirror that has a lease again, or that has ended. It will not be evicted. */
  remove(mirror: OwnedMirror): void;
}

interface IdleOptions {
  readonly clock: Clock;
  /** Maximum bytes of all idle mirrors together. The mirror that was idle for longest is evicted first. */
  readonly maxBytes: number;
  /** If the heap is fuller than `maxHeapForStreams`, all idle mirrors are evicted at once. */
  readonly heap: HeapGauge;
}

/** Keeps idle mirrors for 5 minutes, within a limit of bytes (docs/internals/mirror.md 5). Stops sweeping when the signal aborts. */
export function createIdleMirrors({ clock, maxBytes, heap }: IdleOptions, signal: AbortSignal): IdleMirrors {
  const evictions = new WeakMap<OwnedMirror, () => void>();
  const idle = new LRUCache<OwnedMirror, { readonly mirror: OwnedMirror }>({
    maxSize: maxBytes,
    ttl: keptMs,
    perf: { now: () => clock.monotonic() },
    // Without this option, lru-cache remembers the time for a millisecond, with a timer of its own.
    ttlResolution: 0,
    // Uses `disposeAfter` and not `dispose`: an eviction ends the mirror, which then removes itself from this cache. A delete within a
    // delete breaks the list of lru-cache. The reason `delete` comes from `remove`, which is no eviction.
    disposeAfter: (_value, mirror, reason) => {
      if (reason !== 'delete') evictUnlessKept(mirror);
    },
  });

  /** Evicts the mirror, unless it was measured again, removed during another eviction, or evicted already. */
  function evictUnlessKept(mirror: OwnedMirror): void {
    if (idle.has(mirror)) return;
    const evict = evictions.get(mirror);
    evictions.delete(mirror);
    evict?.();
  }

  /** Updates the size of a mirror. lru-cache fixes a size at `set`, but idle mirrors keep growing. */
  function measure(mirror: OwnedMirror, keepTtl: { readonly noUpdateTTL: boolean }): void {
    // lru-cache keeps the old size for the same value, so each `set` gets a new value.
    idle.set(mirror, { mirror }, { size: Math.max(1, Math.ceil(mirror.store.bytes)), ...keepTtl });
  }

  async function sweeping(): Promise<void> {
    for (;;) {
      await clock.sleep(sweepMs, signal);
      if (signal.aborted) return;
      idle.purgeStale();
      // Begins with the oldest mirror, because a `set` makes it the youngest.
      for (const mirror of [...idle.rkeys()]) if (idle.has(mirror)) measure(mirror, { noUpdateTTL: true });
    }
  }

  /**
   * Evicts all idle mirrors if the heap is fuller than `maxHeapForStreams`. Each mirror is deleted alone: `clear` would also evict a mirror
   * that was taken into use during an earlier eviction.
   */
  function evictAllIfFull(): void {
    if (heap.used() < maxHeapForStreams) return;
    for (const mirror of [...idle.rkeys()]) if (idle.delete(mirror)) evictUnlessKept(mirror);
  }

  void sweeping();
  heap.onMeasured(evictAllIfFull, signal);
  return {
    add(mirror, evict) {
      evictions.set(mirror, evict);
      measure(mirror, { noUpdateTTL: false });
      // A mirror that is larger than the whole cache was not added. It is evicted at once.
      evictUnlessKept(mirror);
    },
    remove(mirror) {
      evictions.delete(mirror);
      idle.delete(mirror);
    },
  };
}
