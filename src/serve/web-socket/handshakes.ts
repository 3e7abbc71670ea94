import type { Clock } from '../../core/clock.ts';
import { Deadlines } from '../../operations/deadlines.ts';
import { RequestRefusal } from '../../operations/refusal.ts';

interface Address {
  inside: number;
  readonly waiting: Set<() => void>;
}

/** Most sockets of one address that are open and not initialised. */
const maxInside = 20;

/** How long one more waits for a place: a crowd of 5,000 that reconnects is let in within seconds, as fast as it says who it is, 20 at a time. */
const patienceMs = 5_000;

/** Bounds the sockets that were opened and have not been initialised, by address. Holds nothing of an address that has none. */
export class HandshakeLimit {
  readonly #addresses = new Map<string, Address>();
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#deadlines = new Deadlines({ clock, limitMs: patienceMs }, signal);
  }

  /** Takes a place, now or within 5 s, in the order they asked; then lets `enter` know, which gives it back by disposing it. Calling the answer gives the wait up. */
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

/** Those who are sent away together are not to come back together. */
function tooMany(chance: number): RequestRefusal {
  return new RequestRefusal({
    status: 429,
    code: 'OVERLOADED',
    message: `expected at most ${maxInside} sockets of one address that have not sent connection_init`,
    headers: { 'retry-after': String(1 + Math.floor(chance * 10)) },
  });
}
