import { emptyHeapGauge, type HeapGauge, maxHeapForKinds } from '../../core/heap-gauge.ts';

/** Ends the admission of a list, so that waiting lists can start. A second call has no effect. */
export type ReleaseAdmission = () => void;

export interface ListSize {
  readonly cluster: string;
  /** Maximum bytes in flight at a time: one page, or the window of a stream. */
  readonly bytesInFlight: number;
  /** Estimated bytes of the items that are still to be received. */
  readonly bytesToCome: number;
  /** True for the first page of a list, or a WatchList, whose store is still empty. Such a list waits while the heap is nearly full. */
  readonly isNew: boolean;
}

export interface AdmissionLimits {
  readonly bytesInFlight: number;
  readonly listsPerCluster: number;
}

/** The limits of the whole fleet (docs/internals/mirror.md 5): 64 MiB in flight, and two lists per cluster. */
export const admissionLimits: AdmissionLimits = { bytesInFlight: 64 << 20, listsPerCluster: 2 };

interface WaitingList {
  readonly list: ListSize;
  readonly admit: () => void;
}

/** Limits the lists that run at the same time: their bytes in flight over all clusters, and their number per cluster. */
export class ListAdmission {
  readonly #limits: AdmissionLimits;
  readonly #heap: HeapGauge;
  readonly #perCluster = new Map<string, number>();
  /** The waiting lists, sorted by `bytesToCome`, the smallest first. Lists of equal size are in the order of arrival. */
  readonly #waiting: WaitingList[] = [];
  #bytesInFlight = 0;

  /**
   * Creates an admission without lists.
   *
   * @param signal Until the signal aborts, waiting lists are checked again after each measurement of the heap.
   */
  constructor(
    limits: AdmissionLimits = admissionLimits,
    heap: HeapGauge = emptyHeapGauge,
    signal: AbortSignal = new AbortController().signal,
  ) {
    this.#limits = limits;
    this.#heap = heap;
    heap.onMeasured(() => this.#admitWaiting(), signal);
  }

  /**
   * Waits until the list may start. Resolves with the function that ends the admission, at once if there is room. Resolves with undefined
   * if the signal aborts first.
   *
   * A list that is larger than the limit is admitted alone, because otherwise it would never be admitted.
   */
  enter(list: ListSize, signal: AbortSignal): Promise<ReleaseAdmission | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined);
      if (this.#hasRoom(list)) return resolve(this.#admit(list));
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(undefined);
      };
      const waiter: WaitingList = {
        list,
        admit: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(this.#admit(list));
        },
      };
      this.#enqueue(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #hasRoom({ cluster, bytesInFlight, isNew }: ListSize): boolean {
    if (isNew && this.#heap.used() >= maxHeapForKinds) return false;
    if ((this.#perCluster.get(cluster) ?? 0) >= this.#limits.listsPerCluster) return false;
    return this.#bytesInFlight === 0 || this.#bytesInFlight + bytesInFlight <= this.#limits.bytesInFlight;
  }

  #admit(list: ListSize): ReleaseAdmission {
    let released = false;
    this.#bytesInFlight += list.bytesInFlight;
    this.#perCluster.set(list.cluster, (this.#perCluster.get(list.cluster) ?? 0) + 1);
    return () => {
      if (released) return;
      released = true;
      this.#bytesInFlight -= list.bytesInFlight;
      const others = (this.#perCluster.get(list.cluster) ?? 1) - 1;
      if (others === 0) this.#perCluster.delete(list.cluster);
      else this.#perCluster.set(list.cluster, others);
      this.#admitWaiting();
    };
  }

  #admitWaiting(): void {
    // One pass is enough, because an admitted list leaves less room for those before it.
    for (let index = 0; index < this.#waiting.length; ) {
      const waiting = this.#waiting[index];
      if (waiting === undefined || !this.#hasRoom(waiting.list)) index++;
      else {
        this.#waiting.splice(index, 1);
        waiting.admit();
      }
    }
  }

  #enqueue(waiter: WaitingList): void {
    const after = this.#waiting.findIndex(({ list }) => list.bytesToCome > waiter.list.bytesToCome);
    if (after < 0) this.#waiting.push(waiter);
    else this.#waiting.splice(after, 0, waiter);
  }
}
