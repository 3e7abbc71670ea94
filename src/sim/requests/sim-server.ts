import type { KubernetesObject } from '../../core/objects.ts';
import type { ApiRefusal } from '../kinds/api-status.ts';
import type { RequestedResource, SimVerb } from '../kinds/embedded-cluster.ts';
import type { SimObject } from '../kinds/sim-object.ts';
import type { KindStorage, StorageChange } from '../state/kind-storage.ts';
import type { SimState } from '../state/sim-state.ts';
import type { ContainerLines } from './container-lines.ts';
import type { RequestTarget, ResourceTarget } from './request-target.ts';
import type { ResponseOutlet } from './response-outlet.ts';

/** What a user wants to do. */
export type DesiredAction = Omit<RequestedResource, 'version' | 'verb'> & { readonly verb: SimVerb | 'impersonate' };

/** The result of a write over the network. */
export interface CompletedWrite {
  /** `marked`: deleted, and waiting for finalizers. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'deleted' | 'marked';
  /** The object after the write. Of a deleted object its last state. */
  readonly object: SimObject;
}

/** Places where a server can be made to act in another way. The demo fleet uses none of them; tests make servers misbehave there. */
export interface SimHooks {
  /** Called instead of each answer. Default: `answer` alone. */
  around?(context: AnswerContext, answer: (context: AnswerContext) => Promise<void>): Promise<void>;
  /** True if the user may not do this. Default: a user who has the token may do everything. */
  isForbidden?(user: string, action: DesiredAction, kind: string | undefined): boolean;
  /** The reason why admission refuses the object that a create or update would keep. Default: none. */
  refuseWrite?(context: ResourceContext, next: KubernetesObject): ApiRefusal | undefined;
  /** Called after each write over the network, dry runs too, before its answer. `lost`: the stream is reset instead. Default: `answered`. */
  onWrite?(context: ResourceContext, done: CompletedWrite): Promise<'answered' | 'lost'>;
  /** True for the group of an aggregated API that does not answer. Default: false. */
  isUnavailable?(group: string): boolean;
  /** Lines that containers were made to write. Default: none. */
  readonly lines?: ContainerLines;
}

/** One request as the server received it. */
export interface ServedRequest {
  readonly method: string;
  /** As it was sent: still encoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** As received, names in lower case, without HTTP/2's pseudo headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'h2' | 'http1';
  /** The caller: the impersonated user, else the user of the token. Absent for an unknown token. */
  user?: string;
}

/** One request that is to be answered. */
export interface AnswerContext {
  readonly server: SimServer;
  readonly target: RequestTarget;
  readonly request: ServedRequest;
  readonly query: URLSearchParams;
  readonly outlet: ResponseOutlet;
  /** The whole body, or undefined if it is larger than a server reads. May be asked for again. */
  readonly body: () => Promise<string | undefined>;
}

/** The same for a resource. */
export interface ResourceContext extends AnswerContext {
  readonly target: ResourceTarget;
}

/** An open watch, as far as the rest of the server acts on it. */
export interface ServedWatch {
  readonly target: ResourceTarget;
  readonly request: ServedRequest;
  readonly storage: KindStorage;
  /** True if the client accepts bookmarks. */
  readonly allowsBookmarks: boolean;
  /** Sends the change if the watch selects it. */
  send(change: StorageChange): void;
  bookmark(version: string, options: { readonly endsInitialEvents: boolean }): void;
  /** Sends bytes as they are. */
  emit(bytes: Uint8Array | string): void;
  /** Sends an ERROR as the last event, and ends. */
  fail(refused: ApiRefusal): void;
  end(): void;
  /** Resets the HTTP stream without an end. */
  reset(): void;
}

/** One API server without its network. */
export interface SimServer {
  readonly state: SimState;
  readonly hooks: SimHooks;
  readonly watches: Set<ServedWatch>;
  /** Containers write lines of their own. */
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
