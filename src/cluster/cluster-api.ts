import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { ActingFor } from './endpoint.ts';

/**
 * `object`: whole objects. `metadata`: only their metadata (`PartialObjectMetadata`), so that no spec, status or data crosses the
 * network.
 */
export type ObjectForm = 'object' | 'metadata';

/** The request for one page of a list. */
export interface ListPageRequest extends ActingFor {
  readonly resource: ServedResource;
  /** Default: all namespaces. Also undefined for a cluster-scoped kind. */
  readonly namespace?: string | undefined;
  readonly form: ObjectForm;
  /**
   * The minimum version of the list. `''`: the most recent state. `'0'`: any state, from the server's cache. Otherwise the list is not
   * older than this version. Undefined on a page with `continue`.
   */
  readonly version?: ResourceVersion | '' | '0' | undefined;
  /** Maximum number of items of the page. Default: the whole list in one answer. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

/** One page as it arrives. The last part is either `pageEnded` or `failed`; an aborted request has no last part. Never throws. */
export type ListPart =
  /** The bytes of whole items, in the server's order. Each is one JSON object. The receiver may keep the memory. */
  | { readonly type: 'items'; readonly items: readonly Uint8Array[] }
  /**
   * The page is complete. `version` is undefined only if the server sent none. With `continue` there are more pages. `remaining` counts
   * the items after this page.
   */
  | { readonly type: 'pageEnded'; readonly version?: ResourceVersion; readonly continue?: string; readonly remaining?: number }
  | { readonly type: 'failed'; readonly fault: Fault };

/** The request for one watch of a kind, from a version on. */
export interface WatchRequest extends ActingFor {
  readonly resource: ServedResource;
  readonly namespace?: string | undefined;
  readonly form: ObjectForm;
  readonly version: ResourceVersion | '';
  /**
   * True: a WatchList (KEP-3157). The server first sends all objects as ADDED events and then a bookmark with `k8s.io/initial-events-end`.
   * False: the server sends the changes after `version`.
   */
  readonly initialEvents: boolean;
  /** Seconds after which the server is asked to end the stream. If no byte arrives for this time plus 5 s, the gateway ends the stream. */
  readonly timeoutSeconds: number;
}

/**
 * One watch as it arrives. `closed` and `failed` are final. `closed`: the server ended the answer normally. An unfinished line at the end
 * is dropped.
 */
export type WatchPart =
  /** The server has answered 200. `lastReceivedMs()` is the monotonic time at which the connection last received something. */
  | { readonly type: 'opened'; lastReceivedMs(): number }
  /** The bytes of whole lines, in the server's order. Each is one JSON watch event. The receiver may keep the memory. */
  | { readonly type: 'frames'; readonly frames: readonly Uint8Array[] }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly fault: Fault };

/**
 * One request with one answer. The gateway builds each request itself and never forwards a request of a client: path segments are
 * encoded, and no header of a client is sent.
 */
export interface LiveRequest extends ActingFor {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path segments, not yet encoded: `['api', 'v1', 'namespaces', 'default', 'pods', 'web']`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** The content type of the body. Default: `application/json`. */
  readonly contentType?: string;
  readonly accept?: string;
  /** The media types that count as a success. Default: the first one of `accept`. */
  readonly expected?: readonly string[];
  readonly ifNoneMatch?: string;
}

/** The answer to a live request: a 2xx or 304 with its body, or a fault. Only bugs are thrown. */
export type LiveAnswer =
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly body: Uint8Array;
      readonly etag?: string;
      /** The texts of the `Warning` headers, in order. Absent without such headers. */
      readonly warnings?: readonly string[];
    }
  | { readonly type: 'failed'; readonly fault: Fault };

/** The request for the log of one container, as `text/plain` from `pods/log`. */
export interface LogRequest extends ActingFor {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** True: the stream continues with new lines until the container ends. False: the stream ends after the lines that exist now. */
  readonly follow: boolean;
  /** True: the log of the previous run of the container. False: the log of the current run. */
  readonly previous: boolean;
  /** True: each line begins with its RFC 3339 time and a space. */
  readonly timestamps: boolean;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  /** Only lines since this RFC 3339 time. Undefined: no limit. */
  readonly sinceTime?: string | undefined;
  readonly limitBytes?: number | undefined;
}

/** One log as it arrives. `closed` and `failed` are final. Never throws. */
export type LogPart =
  /** The server has answered 200. */
  | { readonly type: 'opened' }
  /**
   * The bytes of whole lines without their `\n`, in order. The receiver may keep the memory. `bytes` counts the bytes of the answer that
   * these lines came from, with the line ends. The bytes of all parts add up to the whole answer. `isCut` is true if the answer ended
   * within the last of these lines.
   */
  | { readonly type: 'lines'; readonly lines: readonly Uint8Array[]; readonly bytes: number; readonly isCut: boolean }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly fault: Fault };

/**
 * One API server, used as one identity. All requests to clusters go through this interface. Created by `requests/connect-cluster.ts`.
 *
 * It returns bytes and no classes of a library. Every failure becomes one fault, which is the last part of a stream and never an
 * exception. An abort ends the request upstream at once, and the iteration ends without a further part.
 */
export interface ClusterApi {
  readonly cluster: ClusterName;
  list(page: ListPageRequest, signal: AbortSignal): AsyncIterable<ListPart>;
  watch(start: WatchRequest, signal: AbortSignal): AsyncIterable<WatchPart>;
  /**
   * Streams the log of one container, with one request.
   *
   * Without `follow`, the stream fails with `TIMED_OUT` if it has not ended within 10 s. With `follow`, it fails so if the answer has not
   * begun within 10 s. If the reader does not take the next part, the server stops sending. A line above 256 KiB comes as several lines of
   * that size.
   *
   * `NOT_FOUND` also means that the container has no log: it is waiting to start (`retry` is `LATER`), or it had no previous run. A broken
   * stream does not resume; the caller requests the log again. Followed logs have connections of their own, so that they do not block lists
   * and watches.
   */
  logs(request: LogRequest, signal: AbortSignal): AsyncIterable<LogPart>;
  /**
   * Sends one request and returns the whole answer. Fails with `TIMED_OUT` after 10 s.
   *
   * A body above 3 MiB is `TOO_LARGE` without a request, because no API server reads more. After a 401 the credentials are refreshed once
   * and the request is sent again.
   */
  send(request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer>;
  /** Faults that hold for as long as the connection has this configuration: `INSECURE`. */
  readonly connectionFaults: readonly Fault[];
}
