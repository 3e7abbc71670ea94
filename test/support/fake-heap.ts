import type { HeapGauge } from '../../src/core/heap-gauge.ts';

/** A heap whose fullness the test sets. */
export interface FakeHeap extends HeapGauge {
  /** The next measurement, a share from 0 to 1. Callbacks run at once. */
  set(share: number): void;
}

/** Empty at first. */
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
