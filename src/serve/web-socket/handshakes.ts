import type { Clock } from '../../core/clock.ts';
import { Deadlines } from '../../operations/deadlines.ts';
import { RequestRefusal } from '../../operations/refusal.ts';

interface Address {
  inside: number;
  readonly waiting: Set<() => void>;
}

/** Maximum number of sockets of one address that are open and not initialised. */
const maxInside = 20;

/** Maximum time to wait for a slot. When 5,000 clients reconnect at once, they get in within seconds, 20 at a time. */
const patienceMs = 5_000;

/**
 * Bounds the sockets of one address that were opened and have not been initialised. Keeps nothing about an address without such sockets.
 */
export class HandshakeLimit {
  readonly #addresses = new Map<string, Address>();
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#deadlines = new Deadlines({ clock, limitMs: patienceMs }, signal);
  }

  /**
   * Takes a slot, now or within 5 s, in the order of the requests. Then calls `enter` with the slot. The caller disposes the slot to free
   * it. If no slot is free after 5 s, calls `refuse` with a 429.
   *
   * @returns A function that gives up the wait, so that neither is called.
   */
  requestSlot(ip: string, { enter, refuse }: { enter(place: Disposable): void; refuse(why: RequestRefusal): void }): () => void {
    const address = this.#addresses.get(ip) ?? { inside: 0, waiting: new Set() };
    this.#addresses.set(ip, address);
    if (address.inside < maxInside) {
      enter(this.#place(ip, address));
      return () => undefined;
    }
    const deadline = this.#deadlines.start(() => {
      giveUp();
      refuse(tooMany(this.#clock.random()));
    });
    const admit = () => {
      giveUp();
      enter(this.#place(ip, address));
    };
    const giveUp = () => {
      deadline.end();
      address.waiting.delete(admit);
    };
    address.waiting.add(admit);
    return giveUp;
  }

  #place(ip: string, address: Address): Disposable {
    address.inside++;
    const place = new DisposableStack();
    place.defer(() => {
      address.inside--;
      const [next] = address.waiting;
      if (next !== undefined) next();
      else if (address.inside === 0) this.#addresses.delete(ip);
    });
    return place;
  }
}

/** Makes the refusal with a random Retry-After of 1 to 10 s, so that refused clients do not all come back at once. */
function tooMany(chance: number): RequestRefusal {
  return new RequestRefusal({
    status: 429,
    code: 'OVERLOADED',
    message: `expected at most ${maxInside} sockets of one address that have not sent connection_init`,
    headers: { 'retry-after': String(1 + Math.floor(chance * 10)) },
  });
}
