import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { type Json, tryParseJson } from '../../core/json.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { type ClusterFailure, clusterFailure, failureOfAnswer, faultOfFailure } from '../cluster-failure.ts';
import type { CredentialProvider, RequestIdentity } from '../credentials/credentials.ts';
import { impersonationFailure, impersonationHeaders } from '../credentials/impersonation.ts';
import type { ActingFor } from '../endpoint.ts';
import type { ClusterConnections } from '../transport/connections.ts';
import { gunzip } from '../transport/gunzip.ts';
import { type ByteSource, type Lane, readWhole, type WireAnswer, type WireResponse } from '../transport/wire.ts';
import { parseWarnings } from './warnings.ts';

/** Maximum bytes to read from an answer that is no success. A Status is far smaller. */
const maxStatusBytes = 64 * 1024;
/** Round trip in milliseconds from which `auto` requests gzip. Unpacking then takes less time than sending the bytes uncompressed. */
const compressionFromMs = 2;

/** One request, before its identity and connection are known. */
interface ExchangeRequest extends ActingFor {
  readonly method: string;
  /** The encoded path with the query. */
  readonly path: string;
  readonly accept: string;
  /** The media types that count as a success. Default: the first one of `accept`. */
  readonly expected?: readonly string[] | undefined;
  readonly lane: Lane;
  /** True if the answer may be gzipped: lists and single answers. Servers never compress watches. */
  readonly compressible: boolean;
  /** The kind that a fault of this request names. Absent if the request is not about one kind. */
  readonly kind?: GroupKind;
  readonly body?: Uint8Array | undefined;
  readonly contentType?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** The answer: a success (2xx, or 304 if `ifNoneMatch` was sent) with its unpacked body, or a fault. */
type ExchangeAnswer =
  | {
      readonly type: 'opened';
      readonly status: number;
      readonly etag?: string;
      readonly warnings: readonly string[];
      readonly body: ByteSource;
      lastReceivedMs(): number;
    }
  | { readonly type: 'failed'; readonly fault: Fault };

/** Sends requests. Lists, watches, logs and live requests all use it. */
export interface Exchange {
  readonly cluster: ClusterName;
  readonly clock: Clock;
  /** The lifetime of the cluster. No request outlives it. */
  readonly life: AbortSignal;
  /**
   * Sends a request and resolves with the head of the answer. After a 401 it refreshes the credentials once and sends the request again.
   * The signal also ends the body.
   */
  open(request: ExchangeRequest, signal: AbortSignal): Promise<ExchangeAnswer>;
  fault(broken: ClusterFailure, kind: GroupKind | undefined): Fault;
}

export interface ExchangeOptions {
  readonly cluster: ClusterName;
  /** The path of the server's URL: `''` or `/prefix`. It precedes every request path. */
  readonly prefix: string;
  readonly compression: 'auto' | 'on' | 'off';
  readonly clock: Clock;
  readonly connections: ClusterConnections;
  readonly credentials: CredentialProvider;
  readonly life: AbortSignal;
}

export function createExchange({ cluster, life, prefix, compression, clock, connections, credentials }: ExchangeOptions): Exchange {
  const fault = (broken: ClusterFailure, kind: GroupKind | undefined) =>
    faultOfFailure(broken, { cluster, ...(kind === undefined ? {} : { kind }) });
  const compresses = () => compression === 'on' || (compression === 'auto' && (connections.roundTripMs ?? 0) >= compressionFromMs);

  const sendAs = (request: ExchangeRequest, identity: RequestIdentity, signal: AbortSignal): Promise<WireAnswer> =>
    connections.request(
      {
        method: request.method,
        path: prefix + request.path,
        lane: request.lane,
        headers: {
          ...headersOf(request),
          ...impersonationHeaders(request.as),
          ...identity.headers,
          ...(request.compressible && compresses() ? { 'accept-encoding': 'gzip' } : {}),
        },
        ...(request.body === undefined ? {} : { body: request.body }),
      },
      identity.tls,
      signal,
    );

  const sendOnceMore = async (
    request: ExchangeRequest,
    first: { readonly answer: WireAnswer; readonly identity: RequestIdentity },
    signal: AbortSignal,
  ): Promise<WireAnswer> => {
    if (first.answer.type !== 'answered' || first.answer.response.status !== 401) return first.answer;
    const renewed = await credentials.renew(first.identity, signal);
    if (renewed?.type !== 'obtained') return renewed === undefined ? first.answer : { type: 'broken', failure: renewed.failure };
    void readStatus(first.answer.response, signal);
    return await sendAs(request, renewed.identity, signal);
  };

  return {
    cluster,
    clock,
    life,
    fault,
    async open(request, signal) {
      const result = await credentials.obtain(signal);
      if (result.type === 'failed') return { type: 'failed', fault: fault(result.failure, request.kind) };
      const { identity } = result;
      const forbidden = impersonationFailure(request.as, identity.headers);
      if (forbidden !== undefined) return { type: 'failed', fault: fault(forbidden, request.kind) };
      const answer = await sendOnceMore(request, { answer: await sendAs(request, identity, signal), identity }, signal);
      if (answer.type !== 'answered') return { type: 'failed', fault: fault(answer.failure, request.kind) };
      const { response } = answer;
      const broken = await failureOfResponse(response, { request, clock }, signal);
      if (broken !== undefined) return { type: 'failed', fault: fault(broken, request.kind) };
      return openedAnswer(response, signal);
    },
  };
}

function headersOf({ accept, body, contentType, ifNoneMatch, requestId }: ExchangeRequest): Readonly<Record<string, string>> {
  return {
    accept,
    'user-agent': requestId === undefined ? 'muster' : `muster request/${requestId}`,
    ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json', 'content-length': String(body.length) }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
}

function openedAnswer(response: WireResponse, signal: AbortSignal): ExchangeAnswer {
  const etag = response.header('etag');
  const isGzipped = response.header('content-encoding')?.toLowerCase() === 'gzip';
  return {
    type: 'opened',
    status: response.status,
    ...(etag === undefined ? {} : { etag }),
    warnings: parseWarnings(response.headers('warning')),
    body: isGzipped ? gunzip(response.body, signal) : response.body,
    lastReceivedMs: () => response.lastReceivedMs(),
  };
}

/** Returns why the answer is no success. Undefined for a success with an accepted media type. */
async function failureOfResponse(
  response: WireResponse,
  { request, clock }: { readonly request: ExchangeRequest; readonly clock: Clock },
  signal: AbortSignal,
): Promise<ClusterFailure | undefined> {
  const { status } = response;
  if (status === 304 && request.ifNoneMatch !== undefined) return undefined;
  if (status >= 200 && status < 300) return failureOfMediaType(response, request);
  const body = status < 400 ? undefined : await readStatus(response, signal);
  return failureOfAnswer({ httpStatus: status, body, retryAfter: response.header('retry-after') }, clock);
}

function failureOfMediaType(
  response: WireResponse,
  { accept, expected = [mediaTypeOf(accept)] }: ExchangeRequest,
): ClusterFailure | undefined {
  const encoding = response.header('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding !== 'gzip' && encoding !== 'identity')
    return clusterFailure('MALFORMED', 'expected gzip or no content encoding, got another');
  const type = mediaTypeOf(response.header('content-type') ?? '');
  if (expected.includes(type) || response.status === 204) return undefined;
  // The text comes from an unknown server, so only the characters of a media type are shown.
  const shown = /^[a-z]+\/[a-z0-9.+-]{1,60}$/.test(type) ? type : 'something else';
  return clusterFailure('MALFORMED', `expected ${expected.join(' or ')}, got ${shown}`);
}

function mediaTypeOf(header: string): string {
  return (header.split(/[;,]/, 1)[0] ?? '').trim().toLowerCase();
}

/**
 * Returns the body of a refusal, parsed. Undefined if the body is longer than 64 KiB or is not JSON. A body that is longer is not read
 * further, and is discarded when the request ends.
 */
async function readStatus({ body, header }: WireResponse, signal: AbortSignal): Promise<Json | undefined> {
  const source = header('content-encoding')?.toLowerCase() === 'gzip' ? gunzip(body, signal) : body;
  const read = await readWhole(source, maxStatusBytes);
  return read instanceof Uint8Array ? tryParseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(read)) : undefined;
}
