import type { DecodedEvent } from '../../cluster/decoding/decode.ts';
import type { Fault } from '../../core/faults.ts';
import type { ResourceVersion } from '../../core/names.ts';

/** The minimum version of a list. `''`: the most recent state. `'0'`: any state. Otherwise: not older than this version. */
export type ListVersion = ResourceVersion | '' | '0';

/** One page of a list. */
export interface ListAttempt {
  readonly type: 'list';
  /** The version of the first request. A list that begins again requests the same version. */
  readonly at: ListVersion;
  /** `paged`: in pages of `pageLimit` items. `whole`: in one answer. */
  readonly paging: 'paged' | 'whole';
  /** The number of the page, from 1. */
  readonly page: number;
  /** The continue token. Set from page 2. */
  readonly token?: string;
  /** Number of failures of this page in a row. */
  readonly failures: number;
}

/** A WatchList: a watch that begins with all objects. */
interface StreamAttempt {
  readonly type: 'stream';
  readonly from: ResourceVersion | '';
}

/** A request that a reflector makes, or will make after a wait. */
export type RequestAttempt =
  | ListAttempt
  | StreamAttempt
  /** A watch from the remembered version. */
  | { readonly type: 'watch' };

/**
 * Why a reflector ended. `stopped`: by its owner. `refused`: the right was lost for good. `notServed`: the cluster does not serve the kind.
 */
type EndReason = 'stopped' | 'refused' | 'notServed';

/** The phase of a reflector. Times are monotonic milliseconds. */
export type ReflectorState =
  | { readonly phase: 'fresh' }
  | { readonly phase: 'listing'; readonly list: ListAttempt }
  /** A WatchList before its end bookmark. `receivedMs`: the time of its last event. */
  | { readonly phase: 'streaming'; readonly from: ResourceVersion | ''; readonly receivedMs: number }
  /** A watch. `openedMs`: the time at which the server answered 200. `receivedEvent`: true once an event came. */
  | { readonly phase: 'watching'; readonly openedMs?: number; readonly receivedEvent: boolean }
  /** The kind cannot be watched. `nextMs`: the time of the next list. */
  | { readonly phase: 'polling'; readonly nextMs: number }
  /** A wait before `retry`. `untilMs` is infinite while the reflector waits only for the breaker. */
  | { readonly phase: 'waiting'; readonly untilMs: number; readonly retry: RequestAttempt; readonly fault: Fault }
  | { readonly phase: 'ended'; readonly reason: EndReason; readonly fault?: Fault };

/** The knowledge that a reflector keeps from phase to phase. Comments and the table of rules call `version` "v". */
export interface ReflectorMemory {
  /** v: the version up to which the store is correct. Undefined before the first list, and if the server gives no versions. */
  readonly version?: ResourceVersion | undefined;
  /**
   * The resourceVersion that a list requests while there is no v. `'0'`: any version that the server has cached. `''`: the newest version.
   */
  readonly unversioned: '' | '0';
  /** True once a list was committed. */
  readonly listed: boolean;
  /** Number of failures in a row, for the backoff. */
  readonly failures: number;
  /** True if the first list, and a list after a failed WatchList, may be a WatchList (docs/internals/mirror.md 3.3). */
  readonly streaming: boolean;
  /** False if the kind must be polled. */
  readonly watchable: boolean;
  /** Number of WatchLists in a row that failed before their end bookmark. */
  readonly streamFailures: number;
  /**
   * Number of ERROR events in a row, without those that mean `THROTTLED`, `MALFORMED` or a version out of history. At `maxErrorEvents` the
   * reflector lists again, and the count returns to 0.
   */
  readonly errorEvents: number;
  /**
   * The `version` at the last unreadable event, or `none` if there was no version. A second unreadable event at the same version requests the
   * most recent list, which is past that event.
   */
  readonly unreadableAt?: ResourceVersion | 'none' | undefined;
  /** True if a request got a 401 and was sent again with fresh credentials. False again once the server accepts a request. */
  readonly retriedCredentials: boolean;
  /** The time since which the right to the mirrored objects is missing. Undefined: it is not missing. */
  readonly forbiddenSinceMs?: number | undefined;
  /** The last problem, until a stream is open or a list is complete. */
  readonly fault?: Fault | undefined;
}

/** The time, a random number and the breaker at the moment of an input. They are passed in, so that `stepReflector` is a pure function. */
export interface StepMoment {
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** A random number in [0, 1). */
  readonly random: number;
  /** Why the cluster's breaker is open. Undefined while it is closed. */
  readonly breaker?: Fault | undefined;
}

/** An event in the life of a reflector. Inputs of an aborted request are dropped before `stepReflector`. */
export type ReflectorInput =
  | { readonly type: 'started' }
  /** The server answered the watch with 200. */
  | { readonly type: 'opened' }
  /** Items of a list, not parsed yet. */
  | { readonly type: 'items'; readonly items: readonly Uint8Array[] }
  | { readonly type: 'pageEnded'; readonly version?: ResourceVersion; readonly continue?: string }
  | { readonly type: 'event'; readonly event: DecodedWatchEvent }
  /** Objects of a WatchList before its end bookmark. One input for several events, because a first list can have 100,000 of them. */
  | { readonly type: 'initialEvents'; readonly events: readonly WatchObjectEvent[] }
  /** A line of a watch, or an item of a list, could not be read: `MALFORMED`. */
  | { readonly type: 'unreadable'; readonly fault: Fault }
  /** The server ended the watch without an error. `fault` is reported only if the watch ended too early. */
  | { readonly type: 'closed'; readonly fault: Fault }
  | { readonly type: 'failed'; readonly fault: Fault }
  /** Our own code threw while it carried out an effect. */
  | { readonly type: 'threw'; readonly fault: Fault }
  /** A sleep is over. */
  | { readonly type: 'elapsed' }
  /** The breaker has closed, or the credentials may have changed. */
  | { readonly type: 'woken' }
  /** The WatchList was not requested, because WatchList does not work in this cluster. Another kind found that while this one waited. */
  | { readonly type: 'unstreamed' }
  | { readonly type: 'stopped'; readonly reason: 'stopped' | 'notServed' };

/** An anomaly that is counted for operators. */
export type WatchReport =
  | { readonly what: 'bookmarkIgnored' | 'unreadable' | 'errorEvent' | 'invariant'; readonly message: string }
  /** WatchList does not work: for this kind, or for the whole cluster until its version changes. */
  | { readonly what: 'streamingRefused'; readonly by: 'kind' | 'cluster' };

/** An action that `reflector.ts` carries out after a step. Effects are carried out in order. */
export type ReflectorEffect =
  | { readonly type: 'list'; readonly list: ListAttempt }
  | {
      readonly type: 'watch';
      readonly version: ResourceVersion | '';
      readonly initialEvents: boolean;
      readonly timeoutSeconds: number;
    }
  /** Ends the request in flight. Its later inputs are dropped. */
  | { readonly type: 'abort' }
  | { readonly type: 'stage'; readonly items: readonly Uint8Array[] }
  /** Stages initial events of a WatchList. */
  | { readonly type: 'stageEvents'; readonly events: readonly WatchObjectEvent[] }
  | { readonly type: 'commit'; readonly version: ResourceVersion | undefined }
  | { readonly type: 'discard' }
  | { readonly type: 'write'; readonly event: WatchObjectEvent; readonly version: ResourceVersion }
  | { readonly type: 'confirm'; readonly version: ResourceVersion }
  /** Replaces the previous sleep. */
  | { readonly type: 'sleep'; readonly ms: number }
  | { readonly type: 'rediscover' }
  | ({ readonly type: 'report' } & WatchReport);

/** A readable line of a watch. */
export type DecodedWatchEvent = Exclude<DecodedEvent, { readonly type: 'unreadable' }>;

/** A watch event with an object. */
export type WatchObjectEvent = Extract<DecodedEvent, { readonly type: 'applied' | 'deleted' }>;

/** The result of one input. */
export interface StepResult {
  readonly state: ReflectorState;
  readonly memory: ReflectorMemory;
  readonly effects: readonly ReflectorEffect[];
}

/** The input of every rule: state, memory and moment. */
export interface StepSituation<S extends ReflectorState = ReflectorState> {
  readonly state: S;
  readonly memory: ReflectorMemory;
  readonly moment: StepMoment;
}

/** The memory of a new reflector. */
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
