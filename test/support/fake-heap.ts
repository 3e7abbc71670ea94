import type { HeapGauge } from '../../src/core/heap-gauge.ts';

/** A heap gauge whose value the test sets. */
export interface FakeHeap extends HeapGauge {
  /** Sets the used share of the heap, from 0 to 1, and runs the callbacks at once. */
  set(share: number): void;
}

/** Creates a gauge of an empty heap. */
export function fakeHeap(): FakeHeap {
  const callbacks = new Set<() => void>();
  let used = 0;
  return {
    used: () => used,
    set(share) {
      used = share;
      for (const callback of callbacks) callback();
    },
    onMeasured: (callback) => void callbacks.add(callback),
  };
}
