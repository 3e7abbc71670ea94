import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { Impersonation } from './endpoint.ts';

/** Whole objects, or their metadata only (`PartialObjectMetadata`): no spec, status or data crosses the network then. */
export type ObjectForm = 'object' | 'metadata';

/** Which list: a kind, in one namespace or in all, at a version. */
export interface ListPage {
  readonly resource: ServedResource;
  /** Absent: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string | undefined;
  readonly form: ObjectForm;
  /** Absent on a page with `continue`. `''` is the most recent, `'0'` any, a version: not older than it (`resourceVersionMatch` is set for it). */
  readonly version?: ResourceVersion | '' | '0' | undefined;
  /** Absent: the whole list in one answer. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

/** One page as it arrives. The last part is `pageEnded` or `failed`, each at most once; nothing is thrown. */
export type ListPart =
  /** The bytes of whole items in the server's order: each one JSON object. They belong to the receiver. */
  | { readonly type: 'items'; readonly items: readonly Uint8Array[] }
  /** `version` is absent only if the server sent none. `continue`: there are more pages. */
  | { readonly type: 'pageEnded'; readonly version?: ResourceVersion; readonly continue?: string; readonly remaining?: number }
  | { readonly type: 'failed'; readonly fault: Fault };

/** Which watch: a kind, in one namespace or in all, from a version on. */
export interface WatchStart {
  readonly resource: ServedResource;
  readonly namespace?: string | undefined;
  readonly form: ObjectForm;
  readonly version: ResourceVersion | '';
  /** WatchList (KEP-3157): the first state comes as ADDED events, then the bookmark `k8s.io/initial-events-end`. */
  readonly initialEvents: boolean;
  /** After how long the server is asked to end the stream. 5 s past it, counted since the last byte, we end it ourselves. */
  readonly timeoutSeconds: number;
}

/** One watch as it arrives. The last part is `closed` (a clean end, also after half a line, which is dropped) or `failed`. */
export type WatchPart =
  /** The server has answered 200. `heardMs()` is the monotonic time of the last sign of life of the connection beneath. */
  | { readonly type: 'opened'; heardMs(): number }
  /** The bytes of whole lines in the server's order: each one JSON watch event. They belong to the receiver. */
  | { readonly type: 'frames'; readonly frames: readonly Uint8Array[] }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly fault: Fault };

/** One live call. It is built here, never forwarded: segments are encoded, no header of a client passes. */
export interface LiveRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path segments, not yet encoded: `['api', 'v1', 'namespaces', 'default', 'pods', 'web']`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Of the body; `application/json` by default. */
  readonly contentType?: string;
  readonly accept?: string;
  /** The media types of a success; absent: the first of `accept`. */
  readonly expected?: readonly string[];
  readonly ifNoneMatch?: string;
  /**
   * For whom: sent as `Impersonate-*`, whole. Absent: as the endpoint's own identity. `FORBIDDEN` without a request for members of `system:masters`,
   * and where the endpoint itself acts for somebody; `INVALID` for what no header can carry.
   */
  readonly as?: Impersonation;
}

/** What came of it: a 2xx or 304 with its body, or a fault. Nothing is thrown but a bug. */
export type LiveAnswer =
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly body: Uint8Array;
      readonly etag?: string;
      /** The texts of `Warning` headers, in order. */
      readonly warnings?: readonly string[];
    }
  | { readonly type: 'failed'; readonly fault: Fault };

/** Which log: of one container, in the `text/plain` of `pods/log`. */
export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Go on with what is written later, until the container has ended. */
  readonly follow: boolean;
  /** Of the run before this one. */
  readonly previous: boolean;
  /** Each line begins with its RFC 3339 time and a space. */
  readonly timestamps: boolean;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  /** RFC 3339. */
  readonly sinceTime?: string | undefined;
  readonly limitBytes?: number | undefined;
}

/** One log as it arrives. The last part is `closed` or `failed`; nothing is thrown. */
export type LogPart =
  /** The server has answered 200. */
  | { readonly type: 'opened' }
  /**
   * The bytes of whole lines without their `\n`, in order. They belong to the receiver. `bytes` is what came for them, ends included; all parts
   * together make the whole answer. `isCut`: the answer ended within the last of these lines.
   */
  | { readonly type: 'lines'; readonly lines: readonly Uint8Array[]; readonly bytes: number; readonly isCut: boolean }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly fault: Fault };

/**
 * One API server as one identity sees it: the only door to the network.
 *
 * Bytes come out, no library's classes; every failure is classified into one fault, as the last part and never as an exception.
 * An abort ends the request upstream at once and the iteration without a further part.
 */
export interface ClusterApi {
  readonly cluster: ClusterName;
  list(page: ListPage, signal: AbortSignal): AsyncIterable<ListPart>;
  watch(start: WatchStart, signal: AbortSignal): AsyncIterable<WatchPart>;
  /**
   * Not following, it ends after 10 s with `TIMED_OUT`; following, only the first byte of the answer is waited for so long. A reader that does not
   * take the next part holds the server back. A line above 256 KiB comes in pieces of that size, each told as a line. `NOT_FOUND` also if the
   * container has no log: it waits to start (`retry` is `LATER`), or had no run before. One request, one stream: whoever wants to go on after it
   * broke asks again. Followed logs have room of their own, so that lists and watches get through.
   */
  logs(request: LogRequest, signal: AbortSignal): AsyncIterable<LogPart>;
  /** Ends by itself after 10 s with `TIMED_OUT`. A body above 3 MiB is `TOO_LARGE` without a request: no API server reads more. A 401 has been answered with one refresh of the credentials before it is told. */
  send(request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer>;
  /** Faults that hold as long as the connection is made the way it is: `INSECURE`. */
  readonly standingFaults: readonly Fault[];
}
