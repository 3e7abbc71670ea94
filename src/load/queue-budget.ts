/** The bytes that one queue takes from a budget. Disposing it returns all of them. */
export interface QueueShare extends Disposable {
  /** Sets the number of bytes that the queue holds now. May evict queues, including this one, before it returns. */
  set(bytes: number): void;
}

/** A limit on the bytes that many queues hold together. While they hold more, the largest queue is evicted. */
export interface QueueBudget {
  /** The bytes that all queues hold. */
  readonly bytes: number;
  /**
   * Adds an empty queue to the budget.
   *
   * @param evict Ends the queue. It is called at most once, after the bytes of the queue were returned. It must not throw.
   */
  open(evict: () => void): QueueShare;
}

const defaultMaxBytes = 256 << 20;

interface Entry {
  bytes: number;
  readonly evict: () => void;
}

/** Creates a budget without queues. Default of `maxBytes`: 256 MiB. */
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

/**
 * Finds the entry with the largest queue. Undefined without entries. There may be a few thousand entries, so it runs only when the budget
 * is exceeded.
 */
function largestOf(entries: Iterable<Entry>): Entry | undefined {
  let largest: Entry | undefined;
  for (const entry of entries) if (largest === undefined || entry.bytes > largest.bytes) largest = entry;
  return largest;
}
