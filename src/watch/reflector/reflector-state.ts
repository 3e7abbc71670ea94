import type { DecodedEvent } from '../../cluster/decoding/decode.ts';
import type { Fault } from '../../core/faults.ts';
import type { ResourceVersion } from '../../core/names.ts';

/** How old a list may be: `''` is the most recent, `'0'` any, a version: not older than it. */
export type ListAt = ResourceVersion | '' | '0';

/** One page of a list, and where in it we are. */
export interface ListAttempt {
  readonly type: 'list';
  /** The version first asked for: also that of a list begun again. */
  readonly at: ListAt;
  /** In pages of `pageLimit`, or all in one answer. */
  readonly paging: 'paged' | 'whole';
  /** From 1 on. */
  readonly page: number;
  /** From page 2 on. */
  readonly token?: string;
  /** How often in a row this page has failed. */
  readonly failures: number;
}

/** A WatchList: the list as a stream. */
interface StreamAttempt {
  readonly type: 'stream';
  readonly from: ResourceVersion | '';
}

/** A request that a reflector makes: what it waits to do is one. */
export type RequestAttempt =
  | ListAttempt
  | StreamAttempt
  /** From the version remembered. */
  | { readonly type: 'watch' };

/** Why a reflector ended: the owner said so, the right is missing for good, or the kind is not served. */
type EndReason = 'stopped' | 'refused' | 'notServed';

/** Where a reflector is. Times are monotonic milliseconds. */
export type ReflectorState =
  | { readonly phase: 'fresh' }
  | { readonly phase: 'listing'; readonly list: ListAttempt }
  /** A WatchList before its end bookmark. `heardMs`: when something of it last came. */
  | { readonly phase: 'streaming'; readonly from: ResourceVersion | ''; readonly heardMs: number }
  /** `openedMs`: since when the server has said 200. `heard`: something came on it. */
  | { readonly phase: 'watching'; readonly openedMs?: number; readonly heard: boolean }
  /** The kind cannot be watched: the next list is due then. */
  | { readonly phase: 'polling'; readonly nextMs: number }
  /** `untilMs` is infinite while only the breaker is waited for. */
  | { readonly phase: 'waiting'; readonly untilMs: number; readonly retry: RequestAttempt; readonly fault: Fault }
  | { readonly phase: 'ended'; readonly reason: EndReason; readonly fault?: Fault };

/** What outlasts a phase. */
export interface ReflectorMemory {
  /** v: up to where the store is true. */
  readonly version?: ResourceVersion | undefined;
  /** How old a list may be as long as there is no v. */
  readonly unversioned: '' | '0';
  /** A list has been committed. */
  readonly listed: boolean;
  /** Failures in a row, for the backoff. */
  readonly failures: number;
  /** The first list, and one after a lost WatchList, may be a WatchList (docs/internals/mirror.md 3.3). */
  readonly streaming: boolean;
  /** False: polled. */
  readonly watchable: boolean;
  /** WatchLists in a row that ended before their end. */
  readonly streamFailures: number;
  /** ERROR events in a row, that have no rule of their own. */
  readonly errorEvents: number;
  /** v when something could not be read: a second time at the same v asks for a list that is past it. */
  readonly unreadableAt?: ResourceVersion | 'none' | undefined;
  /** A 401 has been answered by trying once more. */
  readonly retriedCredentials: boolean;
  /** Since when the right to what is held has been missing. */
  readonly forbiddenSinceMs?: number | undefined;
  /** What went wrong last, until a stream stands again or a list is whole. */
  readonly fault?: Fault | undefined;
}

/** What comes with every input, so that `step` needs neither clock nor dice nor breaker. */
export interface StepMoment {
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** Why the cluster's breaker is open, if it is. */
  readonly breaker?: Fault | undefined;
}

/** What happens to a reflector. Those that come from a request are dropped before `step` if it was aborted. */
export type ReflectorInput =
  | { readonly type: 'started' }
  /** The server has answered the watch with 200. */
  | { readonly type: 'opened' }
  /** Items of a list, not yet parsed. */
  | { readonly type: 'items'; readonly items: readonly Uint8Array[] }
  | { readonly type: 'pageEnded'; readonly version?: ResourceVersion; readonly continue?: string }
  | { readonly type: 'event'; readonly event: DecodedWatchEvent }
  /** A line of a watch or an item of a list was not understood: `MALFORMED`. */
  | { readonly type: 'unreadable'; readonly fault: Fault }
  /** The watch came to a clean end. `fault`: what that is where it was not to end yet. */
  | { readonly type: 'closed'; readonly fault: Fault }
  | { readonly type: 'failed'; readonly fault: Fault }
  /** Code of ours threw while it carried out an effect. */
  | { readonly type: 'threw'; readonly fault: Fault }
  /** A sleep is over. */
  | { readonly type: 'elapsed' }
  /** The breaker has closed, or the credentials may be others now. */
  | { readonly type: 'woken' }
  /** WatchList has been found not to work in this cluster, before ours was asked for. */
  | { readonly type: 'unstreamed' }
  | { readonly type: 'stopped'; readonly reason: 'stopped' | 'notServed' };

/** Something an operator may want to count. */
export type WatchReport =
  | { readonly what: 'bookmarkIgnored' | 'unreadable' | 'errorEvent' | 'invariant'; readonly message: string }
  /** WatchList does not work here: for this kind, or for the whole cluster until its version changes. */
  | { readonly what: 'streamingRefused'; readonly by: 'kind' | 'cluster' };

/** What `reflector` turns into I/O, in this order. */
export type ReflectorEffect =
  | { readonly type: 'list'; readonly list: ListAttempt }
  | {
      readonly type: 'watch';
      readonly version: ResourceVersion | '';
      readonly initialEvents: boolean;
      readonly timeoutSeconds: number;
    }
  /** Ends the request in flight: nothing more of it is heard. */
  | { readonly type: 'abort' }
  | { readonly type: 'stage'; readonly items: readonly Uint8Array[] }
  /** One of the initial events of a WatchList. */
  | { readonly type: 'stageEvent'; readonly event: WatchObjectEvent }
  | { readonly type: 'commit'; readonly version: ResourceVersion | undefined }
  | { readonly type: 'discard' }
  | { readonly type: 'write'; readonly event: WatchObjectEvent; readonly version: ResourceVersion }
  | { readonly type: 'confirm'; readonly version: ResourceVersion }
  /** Takes the place of the sleep before it. */
  | { readonly type: 'sleep'; readonly ms: number }
  | { readonly type: 'rediscover' }
  | ({ readonly type: 'report' } & WatchReport);

/** A line of a watch that was understood. */
export type DecodedWatchEvent = Exclude<DecodedEvent, { readonly type: 'unreadable' }>;

/** An event that carries an object. */
export type WatchObjectEvent = Extract<DecodedEvent, { readonly type: 'applied' | 'deleted' }>;

/** What follows from one input. */
export interface StepResult {
  readonly state: ReflectorState;
  readonly memory: ReflectorMemory;
  readonly effects: readonly ReflectorEffect[];
}

/** A state with its memory and the moment: what every rule is given. */
export interface StepSituation<S extends ReflectorState = ReflectorState> {
  readonly state: S;
  readonly memory: ReflectorMemory;
  readonly moment: StepMoment;
}

/** The memory of a reflector that has seen nothing. */
export const blankMemory: ReflectorMemory = {
  unversioned: '0',
  listed: false,
  failures: 0,
  streaming: false,
  watchable: true,
  streamFailures: 0,
  errorEvents: 0,
  retriedCredentials: false,
};
