import type { Caller } from '../../access/access.ts';

/** The maximum bytes of the live lists that operations hold at a time. */
interface LiveListBounds {
  /** For all callers together. */
  readonly bytes: number;
  /** For one caller. */
  readonly bytesPerCaller: number;
}

/** The bytes of all live lists that operations hold, over all callers and for each. */
export class LiveListBudget {
  readonly #bounds: LiveListBounds;
  readonly #taken = new Map<Caller['key'], number>();
  #total = 0;

  /** Default of `bounds`: 128 MiB, of which one caller has at most 64 MiB. */
  constructor(bounds: LiveListBounds = { bytes: 128 << 20, bytesPerCaller: 64 << 20 }) {
    this.#bounds = bounds;
  }

  /** Takes bytes for a caller. Returns false, and takes none, if a bound would be exceeded. */
  take({ key }: Caller, bytes: number): boolean {
    const ofCaller = (this.#taken.get(key) ?? 0) + bytes;
    if (ofCaller > this.#bounds.bytesPerCaller || this.#total + bytes > this.#bounds.bytes) return false;
    this.#taken.set(key, ofCaller);
    this.#total += bytes;
    return true;
  }

  /** Returns bytes that the caller took. */
  giveBack({ key }: Caller, bytes: number): void {
    const left = (this.#taken.get(key) ?? 0) - bytes;
    if (left > 0) this.#taken.set(key, left);
    else this.#taken.delete(key);
    this.#total -= bytes;
  }
}
