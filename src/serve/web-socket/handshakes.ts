import type { Clock } from '../../core/clock.ts';
import { FairSemaphore, type SemaphoreBounds } from '../../core/scheduling/fair-semaphore.ts';
import { type Deadline, Deadlines } from '../../operations/deadlines.ts';
import { RequestRefusal } from '../../operations/refusal.ts';

/** Maximum number of sockets of one client that are open and not acknowledged. */
const maxOpen = 20;

/** Maximum number of such sockets of all clients. */
const maxOpenInAll = 1_000;

/** Maximum number of upgrades that wait, of all clients. */
const maxWaiting = 5_000;

/** Maximum time to wait for a slot. When 5,000 clients reconnect at once, they get in within seconds, 20 at a time. */
const maxWaitMs = 5_000;

/**
 * Bounds the sockets that were opened and have not been acknowledged. Clients take turns: a client is a network, or a caller whom the headers
 * of the upgrade have shown. Keeps nothing about a client without such sockets.
 */
export class HandshakeLimit {
  readonly #semaphore: FairSemaphore;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;

  /** `maxWaitingPerUser` is the maximum number of upgrades of one client that wait. Default: that of all clients. */
  constructor({ clock, maxWaitingPerUser }: Pick<SemaphoreBounds, 'maxWaitingPerUser'> & { readonly clock: Clock }, signal: AbortSignal) {
    this.#semaphore = new FairSemaphore({ permits: maxOpenInAll, permitsPerUser: maxOpen, maxWaiting, maxWaitingPerUser });
    this.#clock = clock;
    this.#deadlines = new Deadlines({ clock, limitMs: maxWaitMs }, signal);
  }

  /**
   * Takes a slot, now or within 5 s, in the order of the requests of the client. Then calls `enter` with the slot. The caller disposes the
   * slot to free it. If no slot is free after 5 s, or if too many upgrades wait, calls `refuse` with a 429.
   *
   * @returns A function that gives up the wait, so that neither is called.
   */
  requestSlot(client: string, { enter, refuse }: { enter(slot: Disposable): void; refuse(why: RequestRefusal): void }): () => void {
    let deadline: Deadline | undefined;
    let isWaiting = true;
    const settle = () => {
      isWaiting = false;
      deadline?.end();
    };
    const refuseNow = () => {
      settle();
      refuse(tooMany(this.#clock.random()));
    };
    const leave = this.#semaphore.request(client, {
      enter(slot) {
        settle();
        enter(slot);
      },
      refuse: refuseNow,
    });
    const giveUp = () => {
      settle();
      leave();
    };
    if (isWaiting)
      deadline = this.#deadlines.start(() => {
        leave();
        refuseNow();
      });
    return giveUp;
  }
}

/** Makes the refusal with a random Retry-After of 1 to 10 s, so that refused clients do not all come back at once. */
function tooMany(chance: number): RequestRefusal {
  return new RequestRefusal({
    status: 429,
    code: 'OVERLOADED',
    message: `expected at most ${maxOpen} sockets of one client that have not sent connection_init`,
    headers: { 'retry-after': String(1 + Math.floor(chance * 10)) },
  });
}
