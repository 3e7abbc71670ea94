import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import { breakage, faultOf } from '../classify.ts';
import type { ClusterApi } from '../cluster-api.ts';
import { createCredentials } from '../credentials/credentials.ts';
import type { Endpoint } from '../endpoint.ts';
import { createConnections } from '../transport/connections.ts';
import { createExchange } from './exchange.ts';
import { listPage } from './list-stream.ts';
import { liveCall } from './live-call.ts';
import { logStream } from './log-stream.ts';
import { watchStream } from './watch-stream.ts';

export interface ClusterOptions {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The lifetime of the cluster. When it aborts, all sockets are destroyed, open requests end without a further part, and credentials are
   * forgotten.
   */
  readonly signal: AbortSignal;
  /** Returns the endpoint with the current credentials. It is called for each request. Default: the endpoint that was connected to. */
  readonly current?: (() => Endpoint) | undefined;
}

/**
 * Creates the client of one API server, with the identity of the endpoint. It opens, reads and runs nothing before the first request.
 *
 * It uses HTTP/2 with PINGs, or HTTP/1.1 if the server has no HTTP/2. The deadlines are in docs/internals/mirror.md 2.
 */
export function connectCluster(endpoint: Endpoint, { clock, log, signal: life, current = () => endpoint }: ClusterOptions): ClusterApi {
  const server = new URL(endpoint.server);
  const target = {
    server,
    ...(endpoint.tlsServerName === undefined ? {} : { tlsServerName: endpoint.tlsServerName }),
    ...(endpoint.proxyUrl === undefined ? {} : { proxyUrl: endpoint.proxyUrl }),
  };
  const exchange = createExchange({
    cluster: endpoint.name,
    prefix: server.pathname.replace(/\/+$/, ''),
    compression: endpoint.compression,
    clock,
    connections: createConnections({ target, clock, log, cluster: endpoint.name }, life),
    credentials: createCredentials(current, clock, life),
    life,
  });
  return {
    cluster: endpoint.name,
    standingFaults: standingFaultsOf(endpoint),
    list: (page, signal) => listPage(exchange, page, signal),
    watch: (start, signal) => watchStream(exchange, start, signal),
    logs: (request, signal) => logStream(exchange, request, signal),
    send: (request, signal) => liveCall(exchange, request, signal),
  };
}

function standingFaultsOf({ name, trust }: Endpoint): readonly Fault[] {
  if (trust.type !== 'unverified') return [];
  const message = 'the certificate of the API server is not verified (insecure-skip-tls-verify)';
  return [faultOf(breakage('INSECURE', message, 'NEVER'), { cluster: name })];
}
