import type { ListPageRequest, ListPart, ObjectForm, WatchPart } from '../../cluster/cluster-api.ts';
import type { Fault, FaultCode } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ListSize, ReleaseAdmission } from './list-admission.ts';
import type { ReflectorContext } from './reflector-context.ts';
import type { ListAttempt, ReflectorEffect, ReflectorInput } from './reflector-state.ts';

/** Items per page. Servers do not limit pages, so this bounds the bytes in flight. */
const pageLimit = 500;

/** Assumed bytes of an item before the first one was received. */
const guessedItemBytes = 6_144;

/** Bytes that the transport buffers of a stream that is not read: its window. */
const streamWindowBytes = 1 << 20;

/** Number and bytes of items, or of lines of a watch, between two checks of the time. */
const itemsAtOnce = 16;
const bytesAtOnce = 64 << 10;

/** The request in flight of one reflector. There is at most one. */
export interface ReflectorRequests {
  /** Requests a page of a list as soon as it is admitted. */
  list(list: ListAttempt): void;
  /** Starts a watch. A WatchList starts as soon as it is admitted. */
  watch(start: WatchEffect): void;
  /** Ends the request. Its later results are dropped. */
  abort(): void;
  /** Ends the admission of the list. Call it after the list was committed, so that waiting lists can start. */
  releaseAdmission(): void;
  /** Monotonic time at which the last list or WatchList began. */
  readonly startedMs: number;
  /** Monotonic time of the last activity on the connection of the stream. Undefined before the stream is open. */
  lastActivityMs(): number | undefined;
}

interface RequestsOptions {
  readonly context: ReflectorContext;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  readonly namespace?: string;
  /** Returns true if a WatchList may be requested now. */
  readonly streaming: () => boolean;
  /** Returns the number of objects in the store: the expected size of a list without pages. */
  readonly heldSize: () => number;
}

/** Lines of a watch, not parsed yet. */
export interface WatchFrames {
  readonly frames: readonly Uint8Array[];
  /** True once the watch was aborted. The remaining lines must then be dropped. */
  isOver(): boolean;
}

/** Receives the results of requests. */
interface RequestListener {
  onInput(input: ReflectorInput): void;
  onFrames(frames: WatchFrames): void;
  /** Makes a fault of this cluster and kind. */
  faultOf(message: string, code: FaultCode): Fault;
}

/**
 * Creates the requests of a reflector. A new request aborts the previous one. Inputs come one after the other, never during a call of these
 * methods.
 *
 * The lines of a watch come from `ClusterApi.watch` (`src/cluster/requests/watch-stream.ts`). They continue in `reflector.ts` by `onFrames`.
 */
export function createReflectorRequests(options: RequestsOptions, listener: RequestListener, signal: AbortSignal): ReflectorRequests {
  const requests = new SingleRequest(options, listener);
  signal.addEventListener('abort', () => requests.abort(), { once: true });
  return requests;
}

type WatchEffect = Extract<ReflectorEffect, { readonly type: 'watch' }>;

interface Request {
  readonly ended: AbortController;
  release?: ReleaseAdmission | undefined;
}

class SingleRequest implements ReflectorRequests {
  readonly #options: RequestsOptions;
  readonly #listener: RequestListener;
  readonly #scope: Pick<ListPageRequest, 'resource' | 'form' | 'namespace'>;
  #current: Request | undefined;
  #startedMs = 0;
  #lastReceivedMs: (() => number) | undefined;
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
    this.#current?.release?.();
    this.#current = undefined;
  }

  releaseAdmission(): void {
    this.#current?.release?.();
    if (this.#current !== undefined) this.#current.release = undefined;
  }

  lastActivityMs(): number | undefined {
    return this.#lastReceivedMs?.();
  }

  #begin(): Request {
    this.abort();
    this.#lastReceivedMs = undefined;
    this.#current = { ended: new AbortController() };
    return this.#current;
  }

  /** Waits until the limits of the fleet and of the cluster admit the list. Returns false if the request was aborted before that. */
  async #admit(request: Request, size: Omit<ListSize, 'cluster'>): Promise<boolean> {
    const { admission, cluster } = this.#options.context;
    const release = await admission.enter({ cluster, ...size }, request.ended.signal);
    request.release = release;
    if (request.ended.signal.aborted) release?.();
    return !request.ended.signal.aborted;
  }

  async #runList(list: ListAttempt, request: Request): Promise<void> {
    const { api, clock } = this.#options.context;
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
      await this.#passItems(part.items, request);
    }
    if (request.ended.signal.aborted) return;
    request.release?.();
    this.#listener.onInput({ type: 'failed', fault: this.#listener.faultOf('the list ended before the end of its page', 'SERVER_ERROR') });
  }

  async #passItems(items: readonly Uint8Array[], request: Request): Promise<void> {
    const { pace } = this.#options.context;
    let slice = pace.begin('list');
    for (const group of groupsOf(items, itemsAtOnce)) {
      if (slice.spent()) {
        await pace.rest();
        slice = pace.begin('list');
      }
      if (request.ended.signal.aborted) return;
      for (const { byteLength } of group) this.#bytesSeen += byteLength;
      this.#itemsSeen += group.length;
      this.#listener.onInput({ type: 'items', items: group });
    }
  }

  #endPage(part: Exclude<ListPart, { readonly type: 'items' }>, request: Request): void {
    request.release?.();
    if (part.type === 'pageEnded') this.#remaining = part.remaining;
    this.#listener.onInput(part);
  }

  #pageOf({ token, at, paging }: ListAttempt): ListPageRequest {
    if (token !== undefined) return { ...this.#scope, limit: pageLimit, continue: token };
    // A list "not older than" a version comes from the server's watch cache, which ignores a limit or refuses it.
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
    const { api, clock } = this.#options.context;
    const { version, initialEvents, timeoutSeconds } = start;
    if (initialEvents) {
      const bytesToCome = this.#likelySize() * this.#meanBytes();
      if (!(await this.#admit(request, { bytesInFlight: streamWindowBytes, bytesToCome, isNew: this.#options.heldSize() === 0 }))) return;
      // Another kind may have found meanwhile that WatchList does not work.
      if (!this.#options.streaming()) return this.#listener.onInput({ type: 'unstreamed' });
      this.#startedMs = clock.monotonic();
    }
    for await (const part of api.watch({ ...this.#scope, version, initialEvents, timeoutSeconds }, request.ended.signal)) {
      if (request.ended.signal.aborted) return;
      if (part.type === 'frames') await this.#passFrames(part.frames, request);
      else if (this.#handlePart(part, request) === 'last') return;
    }
    if (!request.ended.signal.aborted) this.#handlePart({ type: 'closed' }, request);
  }

  async #passFrames(frames: readonly Uint8Array[], request: Request): Promise<void> {
    const { pace } = this.#options.context;
    // A watch that has no admission any more has received its initial list.
    const begin = () => pace.begin(request.release === undefined ? 'events' : 'list');
    const isOver = () => request.ended.signal.aborted;
    let slice = begin();
    // Single events are checked one by one: 200 clusters may send some in one turn.
    for (const group of groupsOf(frames, request.release === undefined ? 1 : itemsAtOnce)) {
      if (slice.spent()) {
        await pace.rest();
        slice = begin();
      }
      if (isOver()) return;
      this.#listener.onFrames({ frames: group, isOver });
    }
  }

  #handlePart(part: Exclude<WatchPart, { readonly type: 'frames' }>, request: Request): 'first' | 'last' {
    if (part.type === 'opened') {
      this.#lastReceivedMs = () => part.lastReceivedMs();
      this.#listener.onInput({ type: 'opened' });
      return 'first';
    }
    request.release?.();
    if (part.type === 'failed') this.#listener.onInput(part);
    else {
      const fault = this.#listener.faultOf('the server ended the watch before it sent anything', 'SERVER_ERROR');
      this.#listener.onInput({ type: 'closed', fault });
    }
    return 'last';
  }
}

/** Splits items, or lines, into groups that are decoded without a check of the time. An item of more than 64 KiB is a group of its own. */
function* groupsOf(items: readonly Uint8Array[], atOnce: number): Generator<readonly Uint8Array[]> {
  let [from, bytes] = [0, 0];
  for (const [index, { byteLength }] of items.entries()) {
    if (index > from && (index - from === atOnce || bytes + byteLength > bytesAtOnce)) {
      yield items.slice(from, index);
      [from, bytes] = [index, 0];
    }
    bytes += byteLength;
  }
  if (from < items.length) yield items.slice(from);
}
