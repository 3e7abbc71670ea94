/** Measures how full the heap of the process is. Garbage does not count. */
export interface HeapGauge {
  /** Returns the fraction of the heap limit, 0 to 1, that was in use after the last full garbage collection. 0 before the first one. */
  used(): number;
  /** Calls back after each full garbage collection, until the signal aborts. */
  onMeasured(callback: () => void, signal: AbortSignal): void;
}

/** Fraction of the heap limit above which no new stream starts and idle mirrors end (docs/promises.md, C6). */
export const maxHeapForStreams = 0.8;

/** Fraction of the heap limit above which a kind or namespace is not listed for the first time. */
export const maxHeapForKinds = 0.9;

/** A gauge that always reports an empty heap, for code that runs without measurements. */
export const emptyHeapGauge: HeapGauge = { used: () => 0, onMeasured: () => undefined };
