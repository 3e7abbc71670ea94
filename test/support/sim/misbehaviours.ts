import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { KindName, SimVerb } from '../../../src/sim/kinds/embedded-cluster.ts';

/** A state for `restore`. */
export interface SimBackup {
  readonly version: string;
}

/** The protocols that a server accepts in ALPN. */
export type SimProtocols = 'h2' | 'http1' | 'both';

/** Selects requests. All given fields must match. Without fields it selects all requests, including `/version` and discovery. */
export interface SimScope {
  readonly group?: string;
  readonly kind?: string;
  /** The plural in the path. */
  readonly resource?: string;
  readonly verb?: SimVerb;
  /** The namespace in the path. `''` selects requests over all namespaces, or of a cluster-scoped kind. */
  readonly namespace?: string;
  /** The whole path: `/version`, `/apis`. */
  readonly path?: string;
}

export interface SimAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent unchanged, an object as JSON. Default for a status ≥ 400: the Status of a real server. */
  readonly body?: string | Uint8Array | object;
  /** Number of requests with this answer. Default: 1. `Infinity`: until it is disposed of. */
  readonly times?: number;
}

/** Forbids actions of users. One of the two fields for namespaces narrows it. Without them it applies to all namespaces. */
export interface SimProhibition {
  readonly group?: string;
  readonly kind?: string;
  readonly resource?: string;
  /** Default: every verb. */
  readonly verbs?: readonly (SimVerb | 'impersonate')[];
  /** The users it applies to: of the token (`admin`) or impersonated. Default: all users. */
  readonly users?: readonly string[];
  /** The only namespaces in which it applies. */
  readonly namespaces?: readonly string[];
  /** The namespaces in which it does not apply. Requests over all namespaces are refused, too. */
  readonly exceptNamespaces?: readonly string[];
}

/** The reason why admission refuses a write. */
export type WriteRefusal =
  /** 403 Forbidden, `exceeded quota`. */
  | { readonly type: 'quota'; readonly quota?: string }
  /** 422 Invalid, with this field as cause, such as `spec.replicas`. */
  | { readonly type: 'invalid'; readonly field: string; readonly message?: string }
  /** 500 InternalError: a required webhook did not answer in time. */
  | { readonly type: 'webhookTimeout'; readonly webhook?: string }
  /** 403 Forbidden: a webhook or an admission policy denied the write. */
  | { readonly type: 'denied'; readonly webhook?: string; readonly message?: string };

/** A fault of WatchList (`sendInitialEvents`). */
export type StreamingFault =
  /** 422, `sendInitialEvents is forbidden`, as in 1.33. */
  | { readonly type: 'refused' }
  /** The initial events arrive, but not the bookmark that ends them. */
  | { readonly type: 'endless' }
  /** The stream is reset after half of the initial events. `times`: how often. Default: 1. */
  | { readonly type: 'dying'; readonly times?: number }
  /** The bookmark arrives `delayMs` after the last initial event. Other events arrive in between. */
  | { readonly type: 'late'; readonly delayMs: number };

export interface StatusError {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

/** The changes that `churn` makes to the objects of a kind, one after the other. */
export interface Churn {
  /** Number of objects that get another annotation: the first ones in order. */
  readonly updates?: number;
  /** Number of objects to delete: the last ones in order. */
  readonly deletes?: number;
  /** Number of objects to create: copies of the first one under new names. */
  readonly creates?: number;
}

/**
 * The ways in which an API server can fail, one per method. They move no clock.
 *
 * A method that returns a `Disposable` lasts until that is disposed of. All others act once, at once. `scope` narrows a method to some
 * requests or open watches.
 */
export interface Misbehaviours {
  /** Sends this answer and does nothing else. Of several answers for a request, the oldest one that may still be used is sent. */
  answer(answer: SimAnswer, scope?: SimScope): Disposable;
  /** Delays all processing. */
  delay(ms: number, scope?: SimScope): Disposable;
  /** Sends bodies at one byte per second. Headers are sent at once. */
  drip(scope?: SimScope): Disposable;
  /** Neither reads nor writes any byte. All connections stay open, new ones too, but no PING and no TLS handshake is answered. */
  silence(): Disposable;
  /** Sends nothing on these streams, new and open ones, while the connection stays alive. The held bytes are sent at the end. */
  stall(scope?: SimScope): Disposable;
  /** Refuses new connections. Open ones stay. Together with `disconnect` the server is down. */
  refuse(): Disposable;
  /** Resets all connections, once. */
  disconnect(): void;
  /** Ends these open watches cleanly, once. Returns their number. */
  close(scope?: SimScope): number;
  /** Ends each watch cleanly as soon as it has opened. */
  closeAtOnce(scope?: SimScope): Disposable;
  /** Sends the headers of a watch together with its first event, as some proxies do. */
  holdHeaders(scope?: SimScope): Disposable;
  /** Sends GOAWAY on every HTTP/2 connection. Open streams continue, and new ones need another connection. */
  goAway(): void;
  /** Changes the protocols for new connections. */
  speak(protocols: SimProtocols, options?: { readonly maxConcurrentStreams?: number }): void;
  /**
   * Causes 410 Expired.
   *
   * - `status`: the next watch at a version is answered with 410.
   * - `event`: the next watch is answered with 200, followed by an ERROR event.
   * - `now`: open watches get an ERROR event and end.
   * - `list`: the next list at a version is answered with 410.
   */
  expire(as: 'status' | 'event' | 'now' | 'list', scope?: SimScope): void;
  /** Forgets all history. Every earlier version is too old for watches and exact lists, and continue tokens expire. */
  compact(): void;
  /** Makes all continue tokens so far expire: 410, with a token for an inconsistent rest, as on a real server. */
  expireContinue(): void;
  /**
   * Replaces the API server by another one whose cache is this many changes behind, and resets all connections. Until disposed of, lists
   * at `0` and watches show the older state. A request at a newer version gets 504 ResourceVersionTooLarge. Lists without a version are
   * current.
   */
  failOver(behind: number): Disposable;
  /** Restores etcd: objects and version return to those of the backup. Later changes are lost and all connections are reset. */
  restore(backup: SimBackup): void;
  /**
   * Sends ERROR to these open watches and ends them. With `times`, also to that many watches that open next. Returns the number of open
   * ones.
   */
  error(error: StatusError | number, scope?: SimScope & { readonly times?: number }): number;
  /**
   * Cuts the next event of these watches in the middle of its line, or of a multi-byte character, which the object must have. The stream
   * is then reset, or ended cleanly. `gzip`: cuts the next compressed list in its middle.
   */
  cut(where: 'line' | 'character' | 'gzip', scope?: SimScope & { readonly end?: 'reset' | 'clean' }): void;
  /** Sends bodies in chunks of one byte. */
  chunk(scope?: SimScope): Disposable;
  /** Sends text or bytes unchanged, or an event as a line, to these open watches. Returns their number. */
  emit(event: string | Uint8Array | { readonly type: string; readonly object: unknown }, scope?: SimScope): number;
  /** Answers with 403. SelfSubjectAccessReviews agree. */
  forbid(prohibition: SimProhibition): Disposable;
  /** Refuses creations and updates in admission, dry runs too. Deletions are not affected. `times`: how many are refused. Default: all. */
  refuseWrites(refusal: WriteRefusal, scope?: SimScope & { readonly times?: number }): Disposable;
  /** Replaces the token. Requests with the old one get 401. Open watches stay, as in a real cluster. */
  rotateToken(token?: string): string;
  streaming(fault: StreamingFault, scope?: SimScope): Disposable;
  /**
   * Sends a BOOKMARK to these watches if they allow it. `version` replaces the current version; `''` leaves it out. Returns their number.
   */
  bookmark(version?: string, scope?: SimScope): number;
  /** Deletes the object and creates it again with another uid, version and time. */
  recreate(kind: KindName, name: string, namespace?: string): KubernetesObject;
  /**
   * Replaces the server by another version and resets all connections. `convert` changes each object without a new resourceVersion, as a
   * new default does.
   */
  upgrade(version: string, convert?: (object: KubernetesObject) => KubernetesObject): void;
  /** Answers 503 for the group. In aggregated discovery the group is `Stale`; its own discovery document is 503. */
  breakGroup(group: string): Disposable;
  /** Answers 405 for watches, and leaves `watch` out of discovery. */
  unwatchable(scope: Pick<SimScope, 'group' | 'kind' | 'resource'>): Disposable;
  /** Answers with a redirect (302) to this address. */
  redirect(location: string, scope?: SimScope): Disposable;
  churn(kind: KindName, churn: Churn): void;
}
