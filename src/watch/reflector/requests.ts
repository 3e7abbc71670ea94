import type { ListPageRequest, ListPart, ObjectForm, WatchPart } from '../../cluster/cluster-api.ts';
import type { Fault, FaultCode } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ListSize, ReleaseAdmission } from './list-admission.ts';
import type { ReflectorContext } from './reflector-context.ts';
import type { ListAttempt, ReflectorEffect, ReflectorInput } from './reflector-state.ts';

/** Items of a page; servers cap nothing, so this bounds what is in flight. */
const pageLimit = 500;

/** What an item weighs as long as none has been seen. */
const guessedItemBytes = 6_144;

/** What the transport holds of a stream that is not read: its window. */
const streamWindowBytes = 1 << 20;

/** Items taken in between two looks at the time. */
const itemsAtOnce = 16;

/** The one request that a reflector has in flight. */
export interface ReflectorRequests {
  /** Asks for a page as soon as it is admitted. */
  list(list: ListAttempt): void;
  /** Watches; a WatchList as soon as it is admitted. */
  watch(start: WatchEffect): void;
  /** Ends it upstream: nothing more of it is heard. */
  abort(): void;
  /** What was to be admitted is in: its room is another's. */
  releaseAdmission(): void;
  /** When the list was begun that came last. */
  readonly startedMs: number;
  /** The last sign of life of the connection beneath the stream; undefined before it is open. */
  lastActivityMs(): number | undefined;
}

interface RequestsOptions {
  readonly surroundings: ReflectorContext;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  readonly namespace?: string;
  /** Whether a WatchList may be asked for now. */
  readonly streaming: () => boolean;
  /** Objects that the store holds: what a list without pages is likely to bring. */
  readonly heldSize: () => number;
}

/** A line of a watch, not yet parsed. */
export interface WatchFrame {
  readonly type: 'frame';
  readonly frame: Uint8Array;
}

/** What a request tells. */
interface RequestListener {
  onInput(input: ReflectorInput | WatchFrame): void;
  /** A fault of this cluster and kind. */
  faultOf(message: string, code: FaultCode): Fault;
}

/** Makes one request at a time: the next one aborts the one before. Inputs come one after the other, never from within a call. */
export function createReflectorRequests(options: RequestsOptions, listener: RequestListener, signal: AbortSignal): ReflectorRequests {
  const requests = new OneRequest(options, listener);
  signal.addEventListener('abort', () => requests.abort(), { once: true });
  return requests;
}

type WatchEffect = Extract<ReflectorEffect, { readonly type: 'watch' }>;

interface Request {
  readonly ended: AbortController;
  leave?: ReleaseAdmission | undefined;
}

class OneRequest implements ReflectorRequests {
  readonly #options: RequestsOptions;
  readonly #listener: RequestListener;
  readonly #scope: Pick<ListPageRequest, 'resource' | 'form' | 'namespace'>;
  #current: Request | undefined;
  #startedMs = 0;
  #heard: (() => number) | undefined;
  #itemsSeen = 0;
  #bytesSeen = 0;
  #remaining: number | undefined;

  constructor(options: RequestsOptions, listener: RequestListener) {
    this.#options = options;
    this.#listener = listener;
    const { resource, form, namespace } = options;
    this.#scope = { resource, form, namespace };
  }

  get startedMs(): number {
    return this.#startedMs;
  }

  list(list: ListAttempt): void {
    void this.#runList(list, this.#begin());
  }

  watch(start: WatchEffect): void {
    void this.#runWatch(start, this.#begin());
  }

  abort(): void {
    this.#current?.ended.abort();
    this.#current?.leave?.();
    this.#current = undefined;
  }

  releaseAdmission(): void {
    this.#current?.leave?.();
  }

  lastActivityMs(): number | undefined {
    return this.#heard?.();
  }

  #begin(): Request {
    this.abort();
    this.#heard = undefined;
    this.#current = { ended: new AbortController() };
    return this.#current;
  }

  /** False if the request was aborted before its turn came. */
  async #admit(request: Request, size: Omit<ListSize, 'cluster'>): Promise<boolean> {
    const { admission, cluster } = this.#options.surroundings;
    const leave = await admission.enter({ cluster, ...size }, request.ended.signal);
    request.leave = leave;
    if (request.ended.signal.aborted) leave?.();
    return !request.ended.signal.aborted;
  }

  async #runList(list: ListAttempt, request: Request): Promise<void> {
    const { api, clock } = this.#options.surroundings;
    const page = this.#pageOf(list);
    const inPage = page.limit ?? this.#likelySize();
    const toCome = list.page === 1 ? inPage : (this.#remaining ?? inPage);
    const meanBytes = this.#meanBytes();
    const isNew = list.page === 1 && this.#options.heldSize() === 0;
    if (!(await this.#admit(request, { bytesInFlight: inPage * meanBytes, bytesToCome: toCome * meanBytes, isNew }))) return;
    if (list.page === 1) this.#startedMs = clock.monotonic();
    for await (const part of api.list(page, request.ended.signal)) {
      if (request.ended.signal.aborted) return;
      if (part.type !== 'items') return this.#endPage(part, request);
      await this.#takeItems(part.items, request);
    }
    if (request.ended.signal.aborted) return;
    request.leave?.();
    this.#listener.onInput({ type: 'failed', fault: this.#listener.faultOf('the list ended without its end', 'SERVER_ERROR') });
  }

  async #takeItems(items: readonly Uint8Array[], request: Request): Promise<void> {
    const { pace } = this.#options.surroundings;
    let slice = pace.begin();
    for (let from = 0; from < items.length; from += itemsAtOnce) {
      if (slice.spent()) {
        await pace.rest();
        slice = pace.begin();
      }
      if (request.ended.signal.aborted) return;
      const some = items.slice(from, from + itemsAtOnce);
      for (const { byteLength } of some) this.#bytesSeen += byteLength;
      this.#itemsSeen += some.length;
      this.#listener.onInput({ type: 'items', items: some });
    }
  }

  #endPage(part: Exclude<ListPart, { readonly type: 'items' }>, request: Request): void {
    request.leave?.();
    if (part.type === 'pageEnded') this.#remaining = part.remaining;
    this.#listener.onInput(part);
  }

  #pageOf({ token, at, paging }: ListAttempt): ListPageRequest {
    if (token !== undefined) return { ...this.#scope, limit: pageLimit, continue: token };
    // A list "not older than" comes from the server's watch cache, which ignores a limit or refuses to serve it.
    const paged = paging === 'paged' && (at === '' || at === '0');
    return { ...this.#scope, version: at, ...(paged ? { limit: pageLimit } : {}) };
  }

  #meanBytes(): number {
    return this.#itemsSeen === 0 ? guessedItemBytes : this.#bytesSeen / this.#itemsSeen;
  }

  #likelySize(): number {
    return Math.max(pageLimit, this.#options.heldSize());
  }

  async #runWatch(start: WatchEffect, request: Request): Promise<void> {
    const { api, clock } = this.#options.surroundings;
    const { version, initialEvents, timeoutSeconds } = start;
    if (initialEvents) {
      const bytesToCome = this.#likelySize() * this.#meanBytes();
      if (!(await this.#admit(request, { bytesInFlight: streamWindowBytes, bytesToCome, isNew: this.#options.heldSize() === 0 }))) return;
      // Meanwhile another kind may have found out.
      if (!this.#options.streaming()) return this.#listener.onInput({ type: 'unstreamed' });
      this.#startedMs = clock.monotonic();
    }
    for await (const part of api.watch({ ...this.#scope, version, initialEvents, timeoutSeconds }, request.ended.signal)) {
      if (request.ended.signal.aborted) return;
      if (part.type === 'frames') await this.#takeFrames(part.frames, request);
      else if (this.#takeSign(part, request) === 'last') return;
    }
    if (!request.ended.signal.aborted) this.#takeSign({ type: 'closed' }, request);
  }

  async #takeFrames(frames: readonly Uint8Array[], request: Request): Promise<void> {
    const { pace } = this.#options.surroundings;
    let slice = pace.begin();
    for (const frame of frames) {
      if (slice.spent()) {
        await pace.rest();
        slice = pace.begin();
      }
      if (request.ended.signal.aborted) return;
      this.#listener.onInput({ type: 'frame', frame });
    }
  }

  #takeSign(part: Exclude<WatchPart, { readonly type: 'frames' }>, request: Request): 'first' | 'last' {
    if (part.type === 'opened') {
      this.#heard = () => part.lastReceivedMs();
      this.#listener.onInput({ type: 'opened' });
      return 'first';
    }
    request.leave?.();
    if (part.type === 'failed') this.#listener.onInput(part);
    else {
      const fault = this.#listener.faultOf('the server ended the watch before anything came on it', 'SERVER_ERROR');
      this.#listener.onInput({ type: 'closed', fault });
    }
    return 'last';
  }
}
