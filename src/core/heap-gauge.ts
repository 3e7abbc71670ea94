/** How full the heap of the process is. Garbage does not count. */
export interface HeapGauge {
  /** The share of the heap's limit that was alive after the last full garbage collection: 0 to 1. 0 before the first one. */
  used(): number;
  /** Calls back after each full garbage collection, until the signal aborts. */
  onMeasured(callback: () => void, signal: AbortSignal): void;
}

/** From this share on, no new stream begins, and idle mirrors end: docs/promises.md, C6. */
export const maxHeapForStreams = 0.8;

/** From this share on, a kind or namespace is not listed for the first time. */
export const maxHeapForKinds = 0.9;

/** The gauge of an empty heap, for parts that run without a measured one. */
export const emptyHeapGauge: HeapGauge = { used: () => 0, onMeasured: () => undefined };
