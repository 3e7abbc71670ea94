import { RequestRefusal } from './refusal.ts';

/** Bounds the operations in flight in the process, over all transports. */
export class OperationAdmission {
  readonly #max: number;
  #inFlight = 0;
  #closed = false;
  #whenIdle: (() => void) | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Takes a slot. Disposing the result frees the slot. A second disposal does nothing.
   *
   * @throws {RequestRefusal} 429 with Retry-After if all slots are taken. 503 after `close`.
   */
  takeSlot(): Disposable {
    if (this.#closed)
      throw new RequestRefusal({
        status: 503,
        code: 'SHUTTING_DOWN',
        message: 'the gateway is ending',
        headers: { 'retry-after': '1', connection: 'close' },
      });
    if (this.#inFlight >= this.#max)
      throw new RequestRefusal({
        status: 429,
        code: 'OVERLOADED',
        message: `expected at most ${this.#max} operations in flight`,
        headers: { 'retry-after': '1' },
      });
    this.#inFlight++;
    const place = new DisposableStack();
    place.defer(() => {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#whenIdle?.();
    });
    return place;
  }

  /** Refuses new operations. Resolves when the last slot is free. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }
}
