import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { KindName, SimVerb } from '../../../src/sim/kinds/embedded-cluster.ts';
import type { SimBackup } from './sim-cluster.ts';

/** What a server agrees to in ALPN. */
export type SimProtocols = 'h2' | 'http1' | 'both';

/** Which requests are meant: those for which all that is said here holds. Nothing said: all, `/version` and discovery included. */
export interface SimScope {
  readonly group?: string;
  readonly kind?: string;
  /** The plural of the path. */
  readonly resource?: string;
  readonly verb?: SimVerb;
  /** The namespace in the path; `''` is a request over all namespaces, or of a cluster-scoped kind. */
  readonly namespace?: string;
  /** The whole path: `/version`, `/apis`. */
  readonly path?: string;
}

export interface SimAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; an object as JSON. Absent for a status ≥ 400: the Status a real server would send. */
  readonly body?: string | Uint8Array | object;
  /** How many requests are answered so: 1 by default; `Infinity` until disposed. */
  readonly times?: number;
}

/** Who may not do what. Namespaces are narrowed by one of the two; neither: nowhere. */
export interface SimProhibition {
  readonly group?: string;
  readonly kind?: string;
  readonly resource?: string;
  /** Absent: every verb. */
  readonly verbs?: readonly (SimVerb | 'impersonate')[];
  /** Only for these users: those of the token (`admin`) or impersonated. Absent: for everybody. */
  readonly users?: readonly string[];
  /** Only in these. */
  readonly namespaces?: readonly string[];
  /** Everywhere but in these: a request over all namespaces is refused too. */
  readonly exceptNamespaces?: readonly string[];
}

/** Why a write is refused in admission. */
export type WriteRefusal =
  /** 403 Forbidden, `exceeded quota`. */
  | { readonly type: 'quota'; readonly quota?: string }
  /** 422 Invalid, with that cause: `spec.replicas`. */
  | { readonly type: 'invalid'; readonly field: string; readonly message?: string }
  /** 500 InternalError: a webhook that must be asked did not answer in time. */
  | { readonly type: 'webhookTimeout'; readonly webhook?: string }
  /** 403 Forbidden: a webhook, or an admission policy, denied it. */
  | { readonly type: 'denied'; readonly webhook?: string; readonly message?: string };

/** What is wrong with WatchList (`sendInitialEvents`). */
export type StreamingFault =
  /** 422, `sendInitialEvents is forbidden`, as in 1.33. */
  | { readonly type: 'refused' }
  /** The initial events come, the bookmark that ends them never does. */
  | { readonly type: 'endless' }
  /** Reset after half of the initial events. `times`: how often, 1 by default. */
  | { readonly type: 'dying'; readonly times?: number }
  /** The bookmark comes that much after the last initial event; events in between do come. */
  | { readonly type: 'late'; readonly delayMs: number };

export interface StatusError {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

/** What `churn` does to the objects of a kind, one after the other, each a change of its own. */
export interface Churn {
  /** Objects that get another annotation: the first ones in order. */
  readonly updates?: number;
  /** Objects that go: the last ones in order. */
  readonly deletes?: number;
  /** Objects that come: copies of the first under new names. */
  readonly creates?: number;
}

/**
 * What can go wrong with an API server, each thing a method. They move no clock, and know nothing of who asks.
 * A `Disposable` lasts until it is disposed of; the rest happens once, now. `scope` narrows to some requests or open watches.
 */
export interface Misbehaviours {
  /** Answers like this instead of doing anything. Several in force: the first one given that has answers left. */
  answer(answer: SimAnswer, scope?: SimScope): Disposable;
  /** Waits before it does anything. */
  delay(ms: number, scope?: SimScope): Disposable;
  /** Sends bodies at one byte per second, headers at once. */
  drip(scope?: SimScope): Disposable;
  /** Neither reads nor writes a byte any more: all connections stand open, new ones too; no PING is answered, no handshake ends. */
  silence(): Disposable;
  /** Sends nothing on these streams, new and open ones; the connection beneath is alive. What was due is sent at the end. */
  stall(scope?: SimScope): Disposable;
  /** Refuses new connections. Open ones stay; with `disconnect` it is a server that is down. */
  refuse(): Disposable;
  /** Resets all connections, once. */
  disconnect(): void;
  /** Ends these open watches cleanly, once. How many. */
  close(scope?: SimScope): number;
  /** Ends each watch cleanly as soon as it has opened. */
  closeAtOnce(scope?: SimScope): Disposable;
  /** Sends the headers of a watch with its first event, as some proxies do. */
  holdHeaders(scope?: SimScope): Disposable;
  /** GOAWAY on every HTTP/2 connection: open streams go on, new ones need another connection. */
  goAway(): void;
  /** From the next connection on. */
  speak(protocols: SimProtocols, options?: { readonly maxConcurrentStreams?: number }): void;
  /**
   * 410 Expired. `status`: the next opening of a watch at a version is answered so. `event`: it is answered 200, then ERROR. `now`: ERROR in
   * those that are open, and their end. `list`: the next list at a version is answered so.
   */
  expire(as: 'status' | 'event' | 'now' | 'list', scope?: SimScope): void;
  /** Forgets all history: every version seen so far is too old for watches and exact lists, and continue tokens die. */
  compact(): void;
  /** Lets the continue tokens handed out so far expire: 410, with a token for an inconsistent rest, as a real server has it. */
  expireContinue(): void;
  /**
   * Another API server of the same cluster takes over whose cache is that many changes behind, and the connections to the first are reset.
   * Until disposed: lists at `0` and watches show the older state; at a version ahead of it 504 ResourceVersionTooLarge; most recent ones are right.
   */
  failOver(behind: number): Disposable;
  /** etcd is restored: objects and version are those of the backup, what came after never was, and all connections are reset. */
  restore(backup: SimBackup): void;
  /** ERROR in these open watches, and their end; with `times`, in the next so many that open. How many were open. */
  error(error: StatusError | number, scope?: SimScope & { readonly times?: number }): number;
  /**
   * The next event of these watches is cut in the middle of its line, or of a character of several bytes (the object must have one), and the
   * stream reset, or ended cleanly. `gzip`: the next such list that is sent compressed is cut in its middle.
   */
  cut(where: 'line' | 'character' | 'gzip', scope?: SimScope & { readonly end?: 'reset' | 'clean' }): void;
  /** Sends bodies in chunks of one byte. */
  chunk(scope?: SimScope): Disposable;
  /** Sends text or bytes as they are, or an event as a line, into these open watches. How many. */
  emit(event: string | Uint8Array | { readonly type: string; readonly object: unknown }, scope?: SimScope): number;
  /** 403, and SelfSubjectAccessReviews that say so. */
  forbid(prohibition: SimProhibition): Disposable;
  /**
   * Refuses creations and updates as admission does: the request was understood, the caller may, nothing is kept. Dry runs are refused too.
   * `times`: how many, all by default. Deletions are not asked.
   */
  refuseWrites(refusal: WriteRefusal, scope?: SimScope & { readonly times?: number }): Disposable;
  /** A new token: who comes with the old one gets 401. Open watches stay, as they do in a real cluster. */
  rotateToken(token?: string): string;
  streaming(fault: StreamingFault, scope?: SimScope): Disposable;
  /** A BOOKMARK now into these watches, of those that allow it. `version`: that one instead of the current; `''`: none at all. How many. */
  bookmark(version?: string, scope?: SimScope): number;
  /** Deletes the object and creates it again, as it was but for uid, version and time. */
  recreate(kind: KindName, name: string, namespace?: string): KubernetesObject;
  /**
   * The server is replaced by one of another version: connections are reset. `convert` is what it makes of each object it holds, at the
   * same resourceVersion: a new default.
   */
  upgrade(version: string, convert?: (object: KubernetesObject) => KubernetesObject): void;
  /** 503 for everything in the group. In discovery it is `Stale` (aggregated), or 503 (its own document). */
  breakGroup(group: string): Disposable;
  /** 405 for watches, and no `watch` in discovery. */
  unwatchable(scope: Pick<SimScope, 'group' | 'kind' | 'resource'>): Disposable;
  /** 302 to that address. */
  redirect(location: string, scope?: SimScope): Disposable;
  churn(kind: KindName, churn: Churn): void;
}
