import type { KubernetesObject } from '../../core/objects.ts';
import type { ApiRefusal } from '../kinds/api-status.ts';
import type { RequestedResource, SimVerb } from '../kinds/embedded-cluster.ts';
import type { SimObject } from '../kinds/sim-object.ts';
import type { KindStorage, StorageChange } from '../state/kind-storage.ts';
import type { SimState } from '../state/sim-state.ts';
import type { ContainerLines } from './container-lines.ts';
import type { RequestTarget, ResourceTarget } from './request-target.ts';
import type { ResponseOutlet } from './response-outlet.ts';

/** An action that needs a permission. */
export type DesiredAction = Omit<RequestedResource, 'version' | 'verb'> & { readonly verb: SimVerb | 'impersonate' };

/** The result of a write over the network. */
export interface CompletedWrite {
  /** `marked`: the object was deleted and waits for finalizers. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'deleted' | 'marked';
  /** The object after the write. For a deleted object, its last state. */
  readonly object: SimObject;
}

/** Hooks that change the behaviour of a server. Tests use them to make servers misbehave; the demo fleet has none. */
export interface SimHooks {
  /** Wraps each answer. Default: `answer` alone. */
  around?(context: AnswerContext, answer: (context: AnswerContext) => Promise<void>): Promise<void>;
  /** Returns true to forbid an action to a user, whatever the authorization of the server allows. Default: forbids nothing. */
  isForbidden?(user: string, action: DesiredAction, kind: string | undefined): boolean;
  /** Returns a refusal for an object that a create or update would store. Undefined accepts the object. Default: accepts all objects. */
  refuseWrite?(context: ResourceContext, next: KubernetesObject): ApiRefusal | undefined;
  /**
   * Called after each write over the network, including dry runs, before its answer. `lost`: the stream is reset instead of the answer.
   * Default: `answered`.
   */
  onWrite?(context: ResourceContext, done: CompletedWrite): Promise<'answered' | 'lost'>;
  /** Returns true for a group whose aggregated API is down. Default: false. */
  isUnavailable?(group: string): boolean;
  /** Log lines that tests wrote for containers. Default: none. */
  readonly lines?: ContainerLines;
}

/** One request as the server received it. */
export interface ServedRequest {
  readonly method: string;
  /** The path as sent: still encoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The headers as received, with lower-case names and without HTTP/2 pseudo headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'h2' | 'http1';
  /** Name of the caller: the impersonated user, else the owner of the token. Absent for an unknown token. */
  user?: string;
}

/** A request with everything that is needed to answer it. */
export interface AnswerContext {
  readonly server: SimServer;
  readonly target: RequestTarget;
  readonly request: ServedRequest;
  readonly query: URLSearchParams;
  readonly outlet: ResponseOutlet;
  /** Returns the whole body. Undefined if the body is larger than the server reads. May be called repeatedly. */
  readonly body: () => Promise<string | undefined>;
}

/** An `AnswerContext` whose target is a resource. */
export interface ResourceContext extends AnswerContext {
  readonly target: ResourceTarget;
}

/** An open watch, with the methods that the rest of the server uses. */
export interface ServedWatch {
  readonly target: ResourceTarget;
  readonly request: ServedRequest;
  readonly storage: KindStorage;
  /** True if the client accepts bookmarks. */
  readonly allowsBookmarks: boolean;
  /** Sends the change if the watch selects it. */
  send(change: StorageChange): void;
  bookmark(version: string, options: { readonly endsInitialEvents: boolean }): void;
  /** Sends bytes unchanged. */
  emit(bytes: Uint8Array | string): void;
  /** Sends an ERROR as the last event, and ends. */
  fail(refused: ApiRefusal): void;
  end(): void;
  /** Resets the HTTP stream. */
  reset(): void;
}

/** One API server without its network. */
export interface SimServer {
  readonly state: SimState;
  readonly hooks: SimHooks;
  readonly authorization: 'alwaysAllow' | 'rbac';
  readonly watches: Set<ServedWatch>;
  /** True if running containers generate log lines. */
  readonly generatesLogs: boolean;
  readonly bookmarkSeconds: number;
  /** The version that `/version` reports: `v1.36.3`. */
  gitVersion: string;
  token: string;
  /** `127.0.0.1:PORT`. Empty until the server listens. */
  host: string;
  /** Continue tokens of lists up to this revision have expired. */
  tokensExpiredAt: number;
}
