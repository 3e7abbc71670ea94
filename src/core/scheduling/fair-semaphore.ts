/** The bounds of a `FairSemaphore`. */
export interface SemaphoreBounds {
  /** Maximum number of permits that are held at a time, at least 1. */
  readonly permits: number;
  /** Maximum number of permits that one user holds at a time. Default: all. */
  readonly permitsPerUser?: number | undefined;
  /** The user to whom `permitsPerUser` does not apply. Default: none. */
  readonly exemptUser?: string | undefined;
  /** Maximum number of requests that wait. Default: no limit. */
  readonly maxWaiting?: number | undefined;
  /** Maximum number of requests of one user that wait. Default: no limit. */
  readonly maxWaitingPerUser?: number | undefined;
}

/** A request for a permit. At most one of the functions is called, and only once. */
export interface PermitRequest {
  /** Called with the permit. The receiver disposes it to free it. A second disposal does nothing. */
  enter(permit: Disposable): void;
  /** Called if too many requests wait. */
  refuse(): void;
}

/** The result of work that needs a permit. `full`: too many requests wait. `aborted`: the signal aborted before the work began. */
export type SemaphoreResult<T> =
  | { readonly result: 'done'; readonly value: T }
  | { readonly result: 'full' }
  | { readonly result: 'aborted' };

/**
 * A semaphore whose permits are granted to users in turn. A free permit goes to the next user with a waiting request, and to the oldest request of that
 * user. So a user with many requests delays another user by at most one permit. If too many requests wait, the newest request of the user with the most
 * waiting requests is refused. Nothing is stored about a user without requests.
 */
export class FairSemaphore {
  readonly #bounds: Readonly<Record<'permits' | 'permitsPerUser' | 'maxWaiting' | 'maxWaitingPerUser', number>>;
  readonly #exemptUser: string | undefined;
  readonly #held = new Map<string, number>();
  /** The waiting requests by user. The first user is next. */
  readonly #waiting = new Map<string, Set<PermitRequest>>();
  #heldCount = 0;
  #waitingCount = 0;

  constructor({ permits, permitsPerUser = permits, exemptUser, maxWaiting = Infinity, maxWaitingPerUser = Infinity }: SemaphoreBounds) {
    this.#bounds = { permits, permitsPerUser, maxWaiting, maxWaitingPerUser };
    this.#exemptUser = exemptUser;
  }

  /** Number of requests that wait. */
  get waiting(): number {
    return this.#waitingCount;
  }

  /** Requests a permit. `enter` or `refuse` may be called before this method returns. Returns a function that gives up the wait. */
  request(user: string, request: PermitRequest): () => void {
    if (this.#heldCount < this.#bounds.permits && this.#hasRoom(user)) {
      request.enter(this.#permit(user));
      return () => undefined;
    }
    if (!this.#mayWait(user)) {
      request.refuse();
      return () => undefined;
    }
    const ofUser = this.#waiting.get(user) ?? new Set();
    this.#waiting.set(user, ofUser.add(request));
    this.#waitingCount++;
    return () => this.#remove(user, request);
  }

  /** Runs the work when it has a permit. Frees the permit when the work has ended, also after an abort. Rejects only if the work rejects. */
  async run<T>(user: string, work: () => Promise<T>, signal: AbortSignal): Promise<SemaphoreResult<T>> {
    const acquired = await this.acquire(user, signal);
    if (acquired.result !== 'done') return acquired;
    using _permit = acquired.value;
    return { result: 'done', value: await work() };
  }

  /** Waits for a permit. The caller disposes it to free it. */
  acquire(user: string, signal: AbortSignal): Promise<SemaphoreResult<Disposable>> {
    if (signal.aborted) return Promise.resolve({ result: 'aborted' });
    return new Promise((resolve) => {
      const settle = (result: SemaphoreResult<Disposable>) => {
        signal.removeEventListener('abort', leave);
        resolve(result);
      };
      const leave = () => {
        giveUp?.();
        settle({ result: 'aborted' });
      };
      signal.addEventListener('abort', leave);
      const giveUp: (() => void) | undefined = this.request(user, {
        enter: (value) => settle({ result: 'done', value }),
        refuse: () => settle({ result: 'full' }),
      });
    });
  }

  #hasRoom(user: string): boolean {
    return user === this.#exemptUser || (this.#held.get(user) ?? 0) < this.#bounds.permitsPerUser;
  }

  /** True if one more request of the user may wait. Makes room by refusing the newest request of a user with more waiting requests. */
  #mayWait(user: string): boolean {
    const mine = this.#waiting.get(user)?.size ?? 0;
    if (mine >= this.#bounds.maxWaitingPerUser) return false;
    if (this.#waitingCount < this.#bounds.maxWaiting) return true;
    let largest: readonly [string, ReadonlySet<PermitRequest>] | undefined;
    for (const one of this.#waiting) if (largest === undefined || one[1].size > largest[1].size) largest = one;
    const newest = largest === undefined || largest[1].size <= mine + 1 ? undefined : [...largest[1]].at(-1);
    if (largest === undefined || newest === undefined) return false;
    this.#remove(largest[0], newest);
    newest.refuse();
    return true;
  }

  #permit(user: string): Disposable {
    this.#heldCount++;
    this.#held.set(user, (this.#held.get(user) ?? 0) + 1);
    const permit = new DisposableStack();
    permit.defer(() => {
      this.#heldCount--;
      const left = (this.#held.get(user) ?? 1) - 1;
      if (left === 0) this.#held.delete(user);
      else this.#held.set(user, left);
      this.#enterNext();
    });
    return permit;
  }

  #enterNext(): void {
    for (const [user, ofUser] of this.#waiting) {
      if (!this.#hasRoom(user)) continue;
      const [next] = ofUser;
      if (next === undefined) continue;
      this.#remove(user, next);
      // The other requests of this user wait until all other users have had their turn.
      if (this.#waiting.delete(user)) this.#waiting.set(user, ofUser);
      next.enter(this.#permit(user));
      return;
    }
  }

  #remove(user: string, request: PermitRequest): void {
    const ofUser = this.#waiting.get(user);
    if (ofUser?.delete(request) !== true) return;
    this.#waitingCount--;
    if (ofUser.size === 0) this.#waiting.delete(user);
  }
}
