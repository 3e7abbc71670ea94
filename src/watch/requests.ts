import type { ListPage, ListPart, ObjectForm, WatchPart } from '../cluster/cluster-api.ts';
import type { Fault, FaultCode } from '../core/faults.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { Leave } from './admission.ts';
import type { Effect, Input, ListAttempt } from './state.ts';
import type { Surroundings } from './surroundings.ts';

/** Items of a page; servers cap nothing, so this bounds what is in flight. */
const pageLimit = 500;

/** What an item weighs as long as none has been seen. */
const guessedItemBytes = 6_144;

/** What the transport holds of a stream that is not read: its window. */
const streamWindowBytes = 1 << 20;

/** Items taken in between two looks at the time. */
const itemsAtOnce = 16;

/** The one request that a reflector has in flight. */
export interface Requests {
  /** Asks for a page as soon as it is admitted. */
  list(list: ListAttempt): void;
  /** Watches; a WatchList as soon as it is admitted. */
  watch(start: Extract<Effect, { readonly type: 'watch' }>): void;
  /** Ends it upstream: nothing more of it is heard. */
  abort(): void;
  /** What was to be admitted is in: its room is another's. */
  admitted(): void;
  /** When the list was begun that came last. */
  readonly startedMs: number;
  /** The last sign of life of the connection beneath the stream; undefined before it is open. */
  heardMs(): number | undefined;
}

export interface RequestsOptions {
  readonly surroundings: Surroundings;
  readonly resource: ServedResource;
  readonly form: ObjectForm;
  readonly namespace?: string;
  /** Objects that the store holds of this list, or that have been staged: what a list without pages is likely to weigh. */
  readonly stagedSize: () => number;
}

/** What a request tells. */
export interface RequestListener {
  hear(input: Input | { readonly type: 'frame'; readonly frame: Uint8Array }): void;
  fail(message: string, code: FaultCode): Fault;
}

interface Request {
  readonly ended: AbortController;
  leave?: Leave;
}

/** Makes one request at a time: the next one aborts the one before. Inputs come one after the other, never from within a call. */
export function createRequests(options: RequestsOptions, { hear, fail }: RequestListener, signal: AbortSignal): Requests {
  const { surroundings, resource, form, namespace } = options;
  const { api, admission, clock, pace, cluster } = surroundings;
  const scope = { resource, form, ...(namespace === undefined ? {} : { namespace }) };
  let current: Request | undefined;
  let startedMs = 0;
  let heard: (() => number) | undefined;
  let itemsSeen = 0;
  let bytesSeen = 0;
  let remaining: number | undefined;

  function begin(): Request {
    abort();
    heard = undefined;
    const request: Request = { ended: new AbortController() };
    current = request;
    return request;
  }

  function abort(): void {
    current?.ended.abort();
    current?.leave?.();
    current = undefined;
  }

  /** False if the request was aborted before its turn came. */
  async function admit(request: Request, size: { readonly bytesInFlight: number; readonly bytesToCome: number }): Promise<boolean> {
    const leave = await admission.enter({ cluster, ...size }, request.ended.signal);
    if (leave === undefined) return false;
    if (request.ended.signal.aborted) {
      leave();
      return false;
    }
    request.leave = leave;
    return true;
  }

  async function runList(list: ListAttempt, request: Request): Promise<void> {
    const page = pageOf(list);
    const meanBytes = itemsSeen === 0 ? guessedItemBytes : bytesSeen / itemsSeen;
    const inPage = page.limit ?? Math.max(pageLimit, options.stagedSize());
    const toCome = list.page === 1 ? inPage : (remaining ?? inPage);
    if (!(await admit(request, { bytesInFlight: inPage * meanBytes, bytesToCome: toCome * meanBytes }))) return;
    if (list.page === 1) startedMs = clock.monotonic();
    for await (const part of api.list(page, request.ended.signal)) {
      if (request.ended.signal.aborted) return;
      if (part.type === 'items') {
        if (!(await takeItems(part.items, request))) return;
      } else {
        endPage(part, request);
        return;
      }
    }
    if (!request.ended.signal.aborted) hear({ type: 'failed', fault: fail('the list ended without its end', 'SERVER_ERROR') });
  }

  /** False if the request was aborted meanwhile. */
  async function takeItems(items: readonly Uint8Array[], request: Request): Promise<boolean> {
    let slice = pace.begin();
    for (let from = 0; from < items.length; from += itemsAtOnce) {
      if (slice.spent()) {
        await pace.rest();
        slice = pace.begin();
      }
      if (request.ended.signal.aborted) return false;
      const some = items.slice(from, from + itemsAtOnce);
      for (const { byteLength } of some) bytesSeen += byteLength;
      itemsSeen += some.length;
      hear({ type: 'items', items: some });
    }
    return !request.ended.signal.aborted;
  }

  function endPage(part: Exclude<ListPart, { readonly type: 'items' }>, request: Request): void {
    request.leave?.();
    if (part.type === 'pageEnded') remaining = part.remaining;
    if (part.type === 'failed') hear(part);
    else
      hear({
        type: 'pageEnded',
        ...(part.version === undefined ? {} : { version: part.version }),
        ...(part.continue === undefined ? {} : { continue: part.continue }),
      });
  }

  function pageOf({ token, at, paging }: ListAttempt): ListPage {
    if (token !== undefined) return { ...scope, limit: pageLimit, continue: token };
    // A list "not older than" comes from the server's watch cache, which ignores a limit or refuses to serve it.
    const paged = paging === 'paged' && (at === '' || at === '0');
    return { ...scope, version: at, ...(paged ? { limit: pageLimit } : {}) };
  }

  async function runWatch(start: Extract<Effect, { readonly type: 'watch' }>, request: Request): Promise<void> {
    const { version, initialEvents, timeoutSeconds } = start;
    if (initialEvents) {
      const meanBytes = itemsSeen === 0 ? guessedItemBytes : bytesSeen / itemsSeen;
      const bytesToCome = Math.max(pageLimit, options.stagedSize()) * meanBytes;
      if (!(await admit(request, { bytesInFlight: streamWindowBytes, bytesToCome }))) return;
      startedMs = clock.monotonic();
    }
    for await (const part of api.watch({ ...scope, version, initialEvents, timeoutSeconds }, request.ended.signal)) {
      if (request.ended.signal.aborted) return;
      if (part.type === 'frames') await takeFrames(part.frames, request);
      else takeSign(part, request);
      if (request.ended.signal.aborted || part.type === 'closed' || part.type === 'failed') return;
    }
    if (!request.ended.signal.aborted) hear({ type: 'closed', fault: endedAtOnce() });
  }

  async function takeFrames(frames: readonly Uint8Array[], request: Request): Promise<void> {
    let slice = pace.begin();
    for (const frame of frames) {
      if (slice.spent()) {
        await pace.rest();
        slice = pace.begin();
      }
      if (request.ended.signal.aborted) return;
      hear({ type: 'frame', frame });
    }
  }

  function takeSign(part: Exclude<WatchPart, { readonly type: 'frames' }>, request: Request): void {
    switch (part.type) {
      case 'opened':
        heard = () => part.heardMs();
        hear({ type: 'opened' });
        break;
      case 'closed':
        request.leave?.();
        hear({ type: 'closed', fault: endedAtOnce() });
        break;
      case 'failed':
        request.leave?.();
        hear({ type: 'failed', fault: part.fault });
        break;
      default:
        throw part satisfies never;
    }
  }

  function endedAtOnce(): Fault {
    return fail('the server ended the watch before anything came on it', 'SERVER_ERROR');
  }

  signal.addEventListener('abort', abort, { once: true });
  return {
    list: (list) => void runList(list, begin()),
    watch: (start) => void runWatch(start, begin()),
    abort,
    admitted: () => current?.leave?.(),
    get startedMs() {
      return startedMs;
    },
    heardMs: () => heard?.(),
  };
}
