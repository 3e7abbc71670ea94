import type { Caller } from '../../access/access.ts';

/** The maximum bytes of memory of all live lists that operations hold at a time. */
const maxBytes = 128 << 20;

/**
 * The bytes of memory of all live lists that operations hold. A caller may hold as many bytes as stay free: alone it gets half of them, and there are
 * always some for the next caller.
 */
export class LiveListBudget {
  readonly #bytes: number;
  readonly #taken = new Map<Caller['key'], number>();
  #total = 0;

  /** @param bytes The bytes for all callers together. Default: 128 MiB. */
  constructor(bytes = maxBytes) {
    this.#bytes = bytes;
  }

  /** Takes bytes for a caller. Returns false, and takes none, if the caller would then hold more than stays free. */
  take({ key }: Caller, bytes: number): boolean {
    const ofCaller = (this.#taken.get(key) ?? 0) + bytes;
    if (ofCaller > this.#bytes - this.#total - bytes) return false;
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
