import { randomUUID } from 'node:crypto';
import { systemClock } from '../core/clock.ts';
import { administer } from './administer.ts';
import { builtInKinds } from './kinds/built-in-kinds.ts';
import type { EmbeddedClusterOptions } from './kinds/embedded-cluster.ts';
import type { ServedWatch, SimHooks, SimServer } from './requests/sim-server.ts';
import { SimState, type StateOptions } from './state/sim-state.ts';

export interface SimServerOptions extends Omit<EmbeddedClusterOptions, 'name'> {
  /** Maximum number of changes kept per kind, for watches to resume from. A watch from an older version gets 410. Default: 1,000. */
  readonly historyLength?: number;
  /** Seconds between bookmarks of a watch that allows them. Default: 60. */
  readonly bookmarkSeconds?: number;
  /** The bearer token. Default: a random one. */
  readonly token?: string;
  /** Default: none. */
  readonly hooks?: SimHooks;
  /** Creates the state of the server. Default: a `SimState`. */
  readonly createState?: (options: StateOptions) => SimState;
}

const initialNamespaces = ['kube-system', 'default', 'kube-node-lease', 'kube-public'];

/** Creates a server with the built-in kinds of its version and the namespaces that a new cluster has. */
export function createSimServer(options: SimServerOptions): SimServer {
  const { version = '1.36.3', clock = systemClock, historyLength = 1_000, createState = (state) => new SimState(state) } = options;
  const { generatesLogs = false, bookmarkSeconds = 60, token = randomUUID(), hooks = {}, authorization = 'alwaysAllow' } = options;
  const state = createState({ clock, historyLength, kinds: builtInKinds(version) });
  const server: SimServer = {
    ...{ state, hooks, authorization, watches: new Set<ServedWatch>(), generatesLogs, bookmarkSeconds },
    ...{ gitVersion: gitVersionOf(version), token, host: '', tokensExpiredAt: -1 },
  };
  state.onChange((change) => {
    for (const stream of [...server.watches]) stream.send(change);
  });
  const { put } = administer(server);
  for (const name of initialNamespaces) put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return server;
}

/** Returns `v1.36.3` for `1.36.3`. */
export function gitVersionOf(version: string): string {
  return version.startsWith('v') ? version : `v${version}`;
}
