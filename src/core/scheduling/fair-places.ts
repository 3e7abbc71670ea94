/** Bounds of the places that several users share. */
export interface FairBounds {
  /** Maximum number of places that are taken at a time, at least 1. */
  readonly places: number;
  /** Maximum number of places that one user has at a time. Default: all. */
  readonly placesPerUser?: number | undefined;
  /** The user to whom `placesPerUser` does not apply. Default: none. */
  readonly boundless?: string | undefined;
  /** Maximum number of requests that wait. Default: no limit. */
  readonly waiting?: number | undefined;
  /** Maximum number of requests of one user that wait. Default: no limit. */
  readonly waitingPerUser?: number | undefined;
}

/** A request for a place. At most one of the functions is called, and only once. */
export interface PlaceRequest {
  /** Called with the place. The receiver disposes it to free it. A second disposal does nothing. */
  enter(place: Disposable): void;
  /** Called if too many requests wait. */
  refuse(): void;
}

/** The result of work that needs a place. `full`: too many requests wait. `aborted`: the signal aborted before the work began. */
export type FairResult<T> = { readonly result: 'done'; readonly value: T } | { readonly result: 'full' } | { readonly result: 'aborted' };

/**
 * Places that users share in turns. A free place goes to the next user with a waiting request, and to the oldest request of that user. So a user with
 * many requests delays another user by at most one place. If too many requests wait, the newest request of the user with the most waiting requests is
 * refused. Nothing is stored about a user without requests.
 */
export class FairPlaces {
  readonly #bounds: Readonly<Record<'places' | 'placesPerUser' | 'waiting' | 'waitingPerUser', number>>;
  readonly #boundless: string | undefined;
  readonly #taken = new Map<string, number>();
  /** The waiting requests by user. The first user is next. */
  readonly #waiting = new Map<string, Set<PlaceRequest>>();
  #takenCount = 0;
  #waitingCount = 0;

  constructor({ places, placesPerUser = places, boundless, waiting = Infinity, waitingPerUser = Infinity }: FairBounds) {
    this.#bounds = { places, placesPerUser, waiting, waitingPerUser };
    this.#boundless = boundless;
  }

  /** Number of requests that wait. */
  get waiting(): number {
    return this.#waitingCount;
  }

  /** Requests a place. `enter` or `refuse` may be called before this method returns. Returns a function that gives up the wait. */
  request(user: string, request: PlaceRequest): () => void {
    if (this.#takenCount < this.#bounds.places && this.#hasRoom(user)) {
      request.enter(this.#place(user));
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

  /** Runs the work when it has a place. Frees the place when the work has ended, also after an abort. Rejects only if the work rejects. */
  async run<T>(user: string, work: () => Promise<T>, signal: AbortSignal): Promise<FairResult<T>> {
    const taken = await this.take(user, signal);
    if (taken.result !== 'done') return taken;
    using _place = taken.value;
    return { result: 'done', value: await work() };
  }

  /** Waits for a place. The caller disposes it. */
  take(user: string, signal: AbortSignal): Promise<FairResult<Disposable>> {
    if (signal.aborted) return Promise.resolve({ result: 'aborted' });
    return new Promise((resolve) => {
      const settle = (result: FairResult<Disposable>) => {
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
    return user === this.#boundless || (this.#taken.get(user) ?? 0) < this.#bounds.placesPerUser;
  }

  /** True if one more request of the user may wait. Makes room by refusing the newest request of a user with more waiting requests. */
  #mayWait(user: string): boolean {
    const mine = this.#waiting.get(user)?.size ?? 0;
    if (mine >= this.#bounds.waitingPerUser) return false;
    if (this.#waitingCount < this.#bounds.waiting) return true;
    let largest: readonly [string, ReadonlySet<PlaceRequest>] | undefined;
    for (const one of this.#waiting) if (largest === undefined || one[1].size > largest[1].size) largest = one;
    const newest = largest === undefined || largest[1].size <= mine + 1 ? undefined : [...largest[1]].at(-1);
    if (largest === undefined || newest === undefined) return false;
    this.#remove(largest[0], newest);
    newest.refuse();
    return true;
  }

  #place(user: string): Disposable {
    this.#takenCount++;
    this.#taken.set(user, (this.#taken.get(user) ?? 0) + 1);
    const place = new DisposableStack();
    place.defer(() => {
      this.#takenCount--;
      const left = (this.#taken.get(user) ?? 1) - 1;
      if (left === 0) this.#taken.delete(user);
      else this.#taken.set(user, left);
      this.#enterNext();
    });
    return place;
  }

  #enterNext(): void {
    for (const [user, ofUser] of this.#waiting) {
      if (!this.#hasRoom(user)) continue;
      const [next] = ofUser;
      if (next === undefined) continue;
      this.#remove(user, next);
      // The other requests of this user wait until all other users have had their turn.
      if (this.#waiting.delete(user)) this.#waiting.set(user, ofUser);
      next.enter(this.#place(user));
      return;
    }
  }

  #remove(user: string, request: PlaceRequest): void {
    const ofUser = this.#waiting.get(user);
    if (ofUser?.delete(request) !== true) return;
    this.#waitingCount--;
    if (ofUser.size === 0) this.#waiting.delete(user);
  }
}
