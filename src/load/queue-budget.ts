/** What one queue takes of a budget. Disposing it gives all of it back. */
export interface QueueShare extends Disposable {
  /** Says how many bytes the queue holds now. May evict queues, this one too, before it returns. */
  set(bytes: number): void;
}

/** What many queues may hold together. When it is more, the largest one is evicted, and so on until it is not. */
export interface QueueBudget {
  /** Held by all queues. */
  readonly bytes: number;
  /** @param evict Ends the queue: called at most once, after its share was given back. Must not throw. */
  open(evict: () => void): QueueShare;
}

const defaultMaxBytes = 256 << 20;

interface Entry {
  bytes: number;
  readonly evict: () => void;
}

/** @param maxBytes 256 MiB by default. */
export function createQueueBudget(maxBytes = defaultMaxBytes): QueueBudget {
  const entries = new Set<Entry>();
  let total = 0;

  const close = (entry: Entry): void => {
    if (entries.delete(entry)) total -= entry.bytes;
  };

  const shrink = (): void => {
    while (total > maxBytes) {
      const largest = largestOf(entries);
      if (largest === undefined) return;
      close(largest);
      largest.evict();
    }
  };

  return {
    get bytes() {
      return total;
    },
    open(evict) {
      const entry: Entry = { bytes: 0, evict };
      entries.add(entry);
      return {
        set(bytes) {
          if (!entries.has(entry)) return;
          total += bytes - entry.bytes;
          entry.bytes = bytes;
          if (total > maxBytes) shrink();
        },
        [Symbol.dispose]: () => close(entry),
      };
    },
  };
}

/** Looked for only where the budget is spent: a walk through a few thousand. */
function largestOf(entries: Iterable<Entry>): Entry | undefined {
  let largest: Entry | undefined;
  for (const entry of entries) if (largest === undefined || entry.bytes > largest.bytes) largest = entry;
  return largest;
}
