import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { HeapGauge } from '../../core/heap-gauge.ts';

/** An entry of type `gc`. Node's types do not have its `detail`. */
type CollectionEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

/**
 * Measures the heap of this process after each full garbage collection, until the signal aborts. V8 collects a fuller heap more often, so the figure is
 * fresh when it matters.
 */
export function measureProcessHeap(signal: AbortSignal): HeapGauge {
  const callbacks = new Set<() => void>();
  let used = 0;
  const observer = new PerformanceObserver((list) => {
    const isFull = list.getEntries().some((entry) => (entry as CollectionEntry).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    if (!isFull) return;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    used = used_heap_size / heap_size_limit;
    for (const callback of [...callbacks]) callback();
  });
  observer.observe({ entryTypes: ['gc'] });
  signal.addEventListener('abort', () => observer.disconnect(), { once: true });
  return {
    used: () => used,
    onMeasured(callback, ended) {
      callbacks.add(callback);
      ended.addEventListener('abort', () => callbacks.delete(callback), { once: true });
    },
  };
}
