import { randomUUID } from 'node:crypto';
import { systemClock } from '../core/clock.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { administer } from './administer.ts';
import type { AnswerContext, ResourceContext } from './answer-context.ts';
import type { Refusal } from './api-status.ts';
import { builtInKinds } from './built-in-kinds.ts';
import { ClusterState, type StateOptions } from './cluster-state.ts';
import type { EmbeddedClusterOptions, RequestedResource, SimVerb } from './embedded-cluster.ts';
import type { ContainerLines } from './run-log.ts';
import type { StoredObject } from './stored-object.ts';
import type { OpenStream } from './watch-stream.ts';

/** What a user wants to do. */
export type DesiredAction = Omit<RequestedResource, 'version' | 'verb'> & { readonly verb: SimVerb | 'impersonate' };

/** The result of a write over the network. */
export interface WriteDone {
  /** `marked`: deleted, and waiting for finalizers. */
  readonly result: 'created' | 'changed' | 'unchanged' | 'deleted' | 'marked';
  /** The object after the write. Of a deleted object its last state. */
  readonly object: StoredObject;
}

/** Places where a server can be made to act in another way. The demo fleet uses none of them; tests make servers misbehave there. */
export interface SimHooks {
  /** Called instead of each answer. Default: `answer` alone. */
  around?(context: AnswerContext, answer: (context: AnswerContext) => Promise<void>): Promise<void>;
  /** True if the user may not do this. Default: a user who has the token may do everything. */
  isForbidden?(user: string, action: DesiredAction, kind: string | undefined): boolean;
  /** The reason why admission refuses the object that a create or update would keep. Default: none. */
  refuseWrite?(context: ResourceContext, next: KubernetesObject): Refusal | undefined;
  /** Called after each write over the network, dry runs too, before its answer. `lost`: the stream is reset instead. Default: `answered`. */
  onWrite?(context: ResourceContext, done: WriteDone): Promise<'answered' | 'lost'>;
  /** True for the group of an aggregated API that does not answer. Default: false. */
  isUnavailable?(group: string): boolean;
  /** Lines that containers were made to write. Default: none. */
  readonly lines?: ContainerLines;
}

/** One API server without its network. */
export interface SimServer {
  readonly state: ClusterState;
  readonly hooks: SimHooks;
  readonly watches: Set<OpenStream>;
  /** Containers write lines of their own. */
  readonly talkative: boolean;
  readonly bookmarkSeconds: number;
  /** The version that `/version` reports: `v1.36.3`. */
  gitVersion: string;
  token: string;
  /** `127.0.0.1:PORT`. Empty until the server listens. */
  host: string;
  /** Continue tokens of lists up to this revision have expired. */
  tokensExpiredAt: number;
}

export interface SimServerOptions extends Omit<EmbeddedClusterOptions, 'name'> {
  /** Changes kept per kind for watches to resume from. An older version answers 410. Default: 1,000. */
  readonly historyLength?: number;
  /** Seconds between bookmarks of a watch that allows them. Default: 60. */
  readonly bookmarkSeconds?: number;
  /** The bearer token. Default: a random one. */
  readonly token?: string;
  /** Default: none. */
  readonly hooks?: SimHooks;
  /** Default: a `ClusterState`. */
  readonly createState?: (options: StateOptions) => ClusterState;
}

const firstNamespaces = ['kube-system', 'default', 'kube-node-lease', 'kube-public'];

/** A server that holds the built-in kinds of its version and the namespaces that every cluster has. */
export function createSimServer(options: SimServerOptions): SimServer {
  const { version = '1.36.3', clock = systemClock, historyLength = 1_000, createState = (state) => new ClusterState(state) } = options;
  const { talkative = false, bookmarkSeconds = 60, token = randomUUID(), hooks = {} } = options;
  const state = createState({ clock, historyLength, kinds: builtInKinds(version) });
  const server: SimServer = {
    ...{ state, hooks, watches: new Set<OpenStream>(), talkative, bookmarkSeconds },
    ...{ gitVersion: gitVersionOf(version), token, host: '', tokensExpiredAt: -1 },
  };
  state.onChange((change) => {
    for (const stream of [...server.watches]) stream.tell(change);
  });
  const { put } = administer(server);
  for (const name of firstNamespaces) put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return server;
}

/** `v1.36.3` of `1.36.3`. */
export function gitVersionOf(version: string): string {
  return version.startsWith('v') ? version : `v${version}`;
}
