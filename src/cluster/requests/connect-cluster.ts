import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterApi } from '../cluster-api.ts';
import { clusterFailure, faultOfFailure } from '../cluster-failure.ts';
import { createCredentials } from '../credentials/credentials.ts';
import type { Endpoint } from '../endpoint.ts';
import { createClusterConnections } from '../transport/connections.ts';
import { createExchange } from './exchange.ts';
import { streamListPage } from './list-stream.ts';
import { sendLiveRequest } from './live-request.ts';
import { streamLog } from './log-stream.ts';
import { streamWatch } from './watch-stream.ts';

export interface ConnectClusterOptions {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The lifetime of the cluster. When it aborts, all sockets are destroyed, open requests end without a further part, and credentials are
   * forgotten.
   */
  readonly signal: AbortSignal;
  /** Returns the endpoint with the current credentials. It is called for each request. Default: the endpoint that was connected to. */
  readonly currentEndpoint?: (() => Endpoint) | undefined;
}

/**
 * Creates the client of one API server, with the identity of the endpoint. It opens, reads and runs nothing before the first request.
 *
 * It uses HTTP/2 with PINGs, or HTTP/1.1 if the server has no HTTP/2. The deadlines are in docs/internals/mirror.md 2.
 */
export function connectCluster(
  endpoint: Endpoint,
  { clock, log, signal: life, currentEndpoint: current = () => endpoint }: ConnectClusterOptions,
): ClusterApi {
  const server = new URL(endpoint.server);
  const target = {
    server,
    ...(endpoint.tlsServerName === undefined ? {} : { tlsServerName: endpoint.tlsServerName }),
    ...(endpoint.proxyUrl === undefined ? {} : { proxyUrl: endpoint.proxyUrl }),
    addressRule: () => current().addressRule,
  };
  const exchange = createExchange({
    cluster: endpoint.name,
    prefix: server.pathname.replace(/\/+$/, ''),
    compression: endpoint.compression,
    clock,
    connections: createClusterConnections({ target, clock, log, cluster: endpoint.name }, life),
    credentials: createCredentials(current, clock, life),
    life,
  });
  return {
    cluster: endpoint.name,
    connectionFaults: connectionFaultsOf(endpoint),
    list: (page, signal) => streamListPage(exchange, page, signal),
    watch: (start, signal) => streamWatch(exchange, start, signal),
    logs: (request, signal) => streamLog(exchange, request, signal),
    send: (request, signal) => sendLiveRequest(exchange, request, signal),
  };
}

function connectionFaultsOf({ name, trust }: Endpoint): readonly Fault[] {
  if (trust.type !== 'unverified') return [];
  const message = 'the certificate of the API server is not verified (insecure-skip-tls-verify)';
  return [faultOfFailure(clusterFailure('INSECURE', message, 'NEVER'), { cluster: name })];
}
