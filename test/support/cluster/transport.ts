import type { ClusterApi, ListPageRequest, ListPart, WatchPart, WatchRequest } from '../../../src/cluster/cluster-api.ts';
import type { Endpoint } from '../../../src/cluster/endpoint.ts';
import { connectCluster } from '../../../src/cluster/requests/connect-cluster.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import type { Fault } from '../../../src/core/faults.ts';
import type { ServedResource } from '../../../src/core/kinds.ts';
import { silentLog } from '../../../src/core/log.ts';
import { clusterName } from '../../../src/core/names.ts';

/** Makes a served resource. Fields that the test does not name have plain values. */
export function resourceOf(kind: string, resource: string, more: Partial<ServedResource> = {}): ServedResource {
  const version = more.version ?? 'v1';
  return {
    ...{ group: '', kind, resource, version, versions: [version], singular: kind.toLowerCase(), namespaced: true },
    ...{ verbs: ['get', 'list', 'watch'], shortNames: [], categories: [] },
    ...more,
  };
}

export const podResource = resourceOf('Pod', 'pods');
export const configMapResource = resourceOf('ConfigMap', 'configmaps');

/** The fields of a server that are needed to connect to it. */
export interface ServerAddress {
  readonly url: string;
  readonly caPem: string;
  readonly token?: string;
}

export function endpointFor({ url, caPem, token }: ServerAddress, more: Partial<Endpoint> = {}): Endpoint {
  return {
    name: clusterName('south'),
    server: url,
    trust: { type: 'authority', certificates: { type: 'data', data: Buffer.from(caPem) } },
    credentials: token === undefined ? { type: 'none' } : { type: 'token', token },
    compression: 'off',
    ...more,
  };
}

/** A connected cluster that ends with the test. */
export interface Connected extends Disposable {
  readonly api: ClusterApi;
  /** The lifetime of the cluster. */
  readonly life: AbortController;
}

export function connect(endpoint: Endpoint, clock: Clock = systemClock): Connected {
  const life = new AbortController();
  const api = connectCluster(endpoint, { clock, log: silentLog, signal: life.signal });
  return { api, life, [Symbol.dispose]: () => life.abort() };
}

/** A signal that never aborts. */
export const never = new AbortController().signal;

/**
 * The collected parts of a list or watch, with items and frames as text. Collecting ends with the last part, or when `enough` returns
 * true.
 */
export interface Gathered {
  readonly texts: string[];
  readonly parts: (ListPart | WatchPart)[];
  readonly last: ListPart | WatchPart | undefined;
}

export async function gather(
  parts: AsyncIterable<ListPart | WatchPart>,
  enough: (gathered: Gathered) => boolean = () => false,
): Promise<Gathered> {
  const gathered = { texts: [] as string[], parts: [] as (ListPart | WatchPart)[], last: undefined as ListPart | WatchPart | undefined };
  for await (const part of parts) {
    gathered.parts.push(part);
    gathered.last = part;
    if (part.type === 'items') gathered.texts.push(...part.items.map((item) => Buffer.from(item).toString('utf8')));
    if (part.type === 'frames') gathered.texts.push(...part.frames.map((frame) => Buffer.from(frame).toString('utf8')));
    if (enough(gathered)) break;
  }
  return gathered;
}

/** Returns the fault that ended a list or watch. Undefined if it ended in another way. */
export function faultIn({ last }: Gathered): Fault | undefined {
  return last?.type === 'failed' ? last.fault : undefined;
}

export function pageOf(resource: ServedResource, more: Partial<ListPageRequest> = {}): ListPageRequest {
  return { resource, form: 'object', version: '', ...more };
}

export function startOf(resource: ServedResource, more: Partial<WatchRequest> = {}): WatchRequest {
  return { resource, form: 'object', version: '', initialEvents: false, timeoutSeconds: 300, ...more };
}

/**
 * Resolves when the condition holds. Checks it between event-loop turns, in real time, because sockets do not follow the clock of a test.
 */
export async function until(condition: () => boolean, limitMs = 10_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error('expected the condition to hold by now');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
