import type { Configuration, HttpMethod, RequestContext } from '@kubernetes/client-node';
import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ClusterApi, LiveAnswer, LiveRequest } from './cluster-api.ts';
import { clusterFailure, faultOfFailure } from './cluster-failure.ts';
import type { Impersonation } from './endpoint.ts';

export { V1MicroTime } from '@kubernetes/client-node/dist/types.js';

/** The generated part of client-node: API classes, models and the configuration that each class takes. */
type ClientNode = typeof import('@kubernetes/client-node/dist/gen/index.js');

/** One call of one API class: `({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name })`. */
export type TypedCall<T> = (clientNode: ClientNode, transport: Configuration) => Promise<T>;

/** The result of a typed call. Only bugs are thrown. */
export type TypedAnswer<T> = { readonly result: 'answered'; readonly value: T } | { readonly result: 'failed'; readonly fault: Fault };

export interface TypedCallOptions {
  readonly signal: AbortSignal;
  /** The identity to act as. Default: the endpoint's own identity. */
  readonly as?: Impersonation | undefined;
}

let loaded: ClientNode | undefined;

/** Imports client-node, unless it is imported already. The import blocks the event loop for about 0.4 s. */
export async function loadTypedApi(): Promise<ClientNode> {
  loaded ??= await import('@kubernetes/client-node/dist/gen/index.js');
  return loaded;
}

/**
 * Makes one request through an API class of client-node, over the transport of the cluster. The credentials, limits, deadline of 10 s and metrics of
 * that transport apply. An abort ends the request upstream.
 *
 * Use it only for objects that Muster itself owns, or reads without writing them back. client-node drops fields that it does not know and rounds
 * integers beyond 2⁵³−1. The first call of a process imports client-node (`loadTypedApi`).
 */
export async function callTyped<T>(
  api: Pick<ClusterApi, 'cluster' | 'send'>,
  call: TypedCall<T>,
  { signal, as }: TypedCallOptions,
): Promise<TypedAnswer<T>> {
  const clientNode = await loadTypedApi();
  const { createConfiguration, RequestContext, ResponseContext, SelfDecodingBody, wrapHttpLibrary } = clientNode;
  let path: readonly string[] = [];
  let answer: LiveAnswer | undefined;
  const baseServer = {
    makeRequestContext(endpoint: string, method: HttpMethod): RequestContext {
      // The path is taken here, before client-node makes a URL of it, because a URL resolves the segments `.` and `..`.
      path = endpoint.split('/').slice(1).map(decodeURIComponent);
      return new RequestContext('https://cluster', method);
    },
  };
  const send = async (request: RequestContext) => {
    answer = await api.send({ ...liveRequestOf(request, path), ...(as === undefined ? {} : { as }) }, signal);
    if (answer.type === 'failed') throw new Error(answer.fault.message);
    const bytes = Buffer.from(answer.body);
    // client-node turns any JSON into an empty object of the expected kind, and an empty Lease would look free. So an answer without a
    // kind is refused. A Status is refused too: a proxy may send one with code 200.
    const kind: unknown = JSON.parse(bytes.toString())?.kind;
    if (typeof kind !== 'string' || kind === 'Status') throw new Error('expected an object of Kubernetes');
    return new ResponseContext(answer.status, { 'content-type': 'application/json' }, new SelfDecodingBody(Promise.resolve(bytes)));
  };
  try {
    return { result: 'answered', value: await call(clientNode, createConfiguration({ baseServer, httpApi: wrapHttpLibrary({ send }) })) };
  } catch (error) {
    if (answer === undefined) throw error;
    const malformed = () => faultOfFailure(clusterFailure('MALFORMED', 'expected an object of Kubernetes'), { cluster: api.cluster });
    return { result: 'failed', fault: answer.type === 'failed' ? answer.fault : malformed() };
  }
}

function liveRequestOf(request: RequestContext, path: readonly string[]): LiveRequest {
  const body = request.getBody();
  return {
    method: request.getHttpMethod() as LiveRequest['method'],
    path,
    query: Object.fromEntries(new URL(request.getUrl()).searchParams),
    ...(typeof body === 'string' ? { body: JSON.parse(body) as Json, contentType: request.getHeaders()['Content-Type'] ?? '' } : {}),
  };
}
