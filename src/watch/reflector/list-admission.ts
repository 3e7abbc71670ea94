import { emptyHeapGauge, type HeapGauge, maxHeapForKinds } from '../../core/heap-gauge.ts';

/** Who may list now: bounds what first lists hold in flight, over the whole fleet. */
export interface ListAdmission {
  /**
   * Resolves when the list may start, at once if there is room. Small lists go first, equals in the order they came. Undefined if the signal
   * aborted first. Leaves are idempotent.
   */
  enter(list: ListSize, signal: AbortSignal): Promise<ReleaseAdmission | undefined>;
}

/** Gives the room back. */
export type ReleaseAdmission = () => void;

export interface ListSize {
  readonly cluster: string;
  /** What may be in flight of it at a time: a page, or a stream's window. */
  readonly bytesInFlight: number;
  /** All that is still to come, as far as it is known. */
  readonly bytesToCome: number;
  /** True for the first list of a kind or namespace of which nothing is held yet. It waits while the heap is nearly full. */
  readonly isNew: boolean;
}

export interface AdmissionLimits {
  readonly bytesInFlight: number;
  readonly listsPerCluster: number;
}

/** One semaphore for the fleet (docs/internals/mirror.md 5): 64 MiB in flight, two lists per cluster. */
export const admissionLimits: AdmissionLimits = { bytesInFlight: 64 << 20, listsPerCluster: 2 };

interface Waiter {
  readonly list: ListSize;
  readonly admit: () => void;
}

/** A list larger than the bound enters alone, as otherwise it never would. Waiting lists are looked at again after each measurement of the heap. */
export function createListAdmission(
  limits: AdmissionLimits = admissionLimits,
  heap: HeapGauge = emptyHeapGauge,
  ended: AbortSignal = new AbortController().signal,
): ListAdmission {
  const perCluster = new Map<string, number>();
  const waiting: Waiter[] = [];
  let bytesInFlight = 0;

  function hasRoom({ cluster, bytesInFlight: bytes, isNew }: ListSize): boolean {
    if (isNew && heap.used() >= maxHeapForKinds) return false;
    if ((perCluster.get(cluster) ?? 0) >= limits.listsPerCluster) return false;
    return bytesInFlight === 0 || bytesInFlight + bytes <= limits.bytesInFlight;
  }

  function take(list: ListSize): ReleaseAdmission {
    let left = false;
    bytesInFlight += list.bytesInFlight;
    perCluster.set(list.cluster, (perCluster.get(list.cluster) ?? 0) + 1);
    return () => {
      if (left) return;
      left = true;
      bytesInFlight -= list.bytesInFlight;
      const others = (perCluster.get(list.cluster) ?? 1) - 1;
      if (others === 0) perCluster.delete(list.cluster);
      else perCluster.set(list.cluster, others);
      admitNext();
    };
  }

  function admitNext(): void {
    for (let place = waiting.findIndex(({ list }) => hasRoom(list)); place >= 0; place = waiting.findIndex(({ list }) => hasRoom(list))) {
      const [next] = waiting.splice(place, 1);
      next?.admit();
    }
  }

  function place(waiter: Waiter): void {
    const after = waiting.findIndex(({ list }) => list.bytesToCome > waiter.list.bytesToCome);
    if (after < 0) waiting.push(waiter);
    else waiting.splice(after, 0, waiter);
  }

  heap.onMeasured(admitNext, ended);
  return {
    enter: (list, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        if (hasRoom(list)) return resolve(take(list));
        const giveUp = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          resolve(undefined);
        };
        const waiter: Waiter = {
          list,
          admit: () => {
            signal.removeEventListener('abort', giveUp);
            resolve(take(list));
          },
        };
        place(waiter);
        signal.addEventListener('abort', giveUp, { once: true });
      }),
  };
}
