import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { type Json, tryParseJson } from '../../core/json.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { type Breakage, breakage, breakageOfAnswer, faultOf } from '../classify.ts';
import type { CredentialProvider, Identity } from '../credentials/credentials.ts';
import { impersonationHeaders, problemOfActing } from '../credentials/impersonation.ts';
import type { Impersonation } from '../endpoint.ts';
import type { Connections } from '../transport/connections.ts';
import { gunzip } from '../transport/gunzip.ts';
import { type ByteSource, type Lane, readWhole, type WireAnswer, type WireResponse } from '../transport/wire.ts';
import { parseWarnings } from './warnings.ts';

/** Bytes read of an answer that is no success. A Status is far smaller. */
const maxStatusBytes = 64 * 1024;
/** From this round-trip time on, unpacking takes less time than sending the unpacked bytes would. */
const compressionFromMs = 2;

/** One request, before its identity and connection are known. */
interface Asked {
  readonly method: string;
  /** The encoded path with the query. */
  readonly path: string;
  readonly accept: string;
  /** The media types that count as a success. Default: the first one of `accept`. */
  readonly expected?: readonly string[] | undefined;
  readonly lane: Lane;
  /** True if the answer may be gzipped: lists and single answers. Servers never compress watches. */
  readonly packable: boolean;
  /** The kind that a fault of this request names. */
  readonly kind?: GroupKind;
  readonly body?: Uint8Array | undefined;
  readonly contentType?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  /** The user to impersonate. Default: the endpoint's own identity. */
  readonly as?: Impersonation | undefined;
}

/** The answer: a success (2xx, or 304 if `ifNoneMatch` was sent) with its unpacked body, or a fault. */
type Opened =
  | {
      readonly type: 'opened';
      readonly status: number;
      readonly etag?: string;
      readonly warnings: readonly string[];
      readonly body: ByteSource;
      heardMs(): number;
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
  open(asked: Asked, signal: AbortSignal): Promise<Opened>;
  fault(broken: Breakage, kind: GroupKind | undefined): Fault;
}

export interface ExchangeOptions {
  readonly cluster: ClusterName;
  /** The path of the server's URL: `''` or `/prefix`. It precedes every request path. */
  readonly prefix: string;
  readonly compression: 'auto' | 'on' | 'off';
  readonly clock: Clock;
  readonly connections: Connections;
  readonly credentials: CredentialProvider;
  readonly life: AbortSignal;
}

export function createExchange({ cluster, life, prefix, compression, clock, connections, credentials }: ExchangeOptions): Exchange {
  const fault = (broken: Breakage, kind: GroupKind | undefined) => faultOf(broken, { cluster, ...(kind === undefined ? {} : { kind }) });
  const packs = () => compression === 'on' || (compression === 'auto' && (connections.roundTripMs ?? 0) >= compressionFromMs);

  const sendAs = (asked: Asked, identity: Identity, signal: AbortSignal): Promise<WireAnswer> =>
    connections.request(
      {
        method: asked.method,
        path: prefix + asked.path,
        lane: asked.lane,
        headers: {
          ...headersOf(asked),
          ...impersonationHeaders(asked.as),
          ...identity.headers,
          ...(asked.packable && packs() ? { 'accept-encoding': 'gzip' } : {}),
        },
        ...(asked.body === undefined ? {} : { body: asked.body }),
      },
      identity.tls,
      signal,
    );

  const sendOnceMore = async (
    asked: Asked,
    first: { readonly answer: WireAnswer; readonly identity: Identity },
    signal: AbortSignal,
  ): Promise<WireAnswer> => {
    if (first.answer.type !== 'answered' || first.answer.response.status !== 401) return first.answer;
    const renewed = await credentials.renew(first.identity, signal);
    if (renewed?.type !== 'obtained') return renewed === undefined ? first.answer : { type: 'broken', breakage: renewed.breakage };
    void readStatus(first.answer.response, signal);
    return await sendAs(asked, renewed.identity, signal);
  };

  return {
    cluster,
    clock,
    life,
    fault,
    async open(asked, signal) {
      const obtained = await credentials.obtain(signal);
      if (obtained.type === 'failed') return { type: 'failed', fault: fault(obtained.breakage, asked.kind) };
      const { identity } = obtained;
      const forbidden = problemOfActing(asked.as, identity.headers);
      if (forbidden !== undefined) return { type: 'failed', fault: fault(forbidden, asked.kind) };
      const answer = await sendOnceMore(asked, { answer: await sendAs(asked, identity, signal), identity }, signal);
      if (answer.type !== 'answered') return { type: 'failed', fault: fault(answer.breakage, asked.kind) };
      const { response } = answer;
      const broken = await breakageIn(response, { asked, clock }, signal);
      if (broken !== undefined) return { type: 'failed', fault: fault(broken, asked.kind) };
      return successOf(response, signal);
    },
  };
}

function headersOf({ accept, body, contentType, ifNoneMatch }: Asked): Readonly<Record<string, string>> {
  return {
    accept,
    'user-agent': 'muster',
    ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json', 'content-length': String(body.length) }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
}

function successOf(response: WireResponse, signal: AbortSignal): Opened {
  const etag = response.header('etag');
  const packed = response.header('content-encoding')?.toLowerCase() === 'gzip';
  return {
    type: 'opened',
    status: response.status,
    ...(etag === undefined ? {} : { etag }),
    warnings: parseWarnings(response.headers('warning')),
    body: packed ? gunzip(response.body, signal) : response.body,
    heardMs: () => response.heardMs(),
  };
}

/** Returns why the answer is no success. Undefined for a success with an accepted media type. */
async function breakageIn(
  response: WireResponse,
  { asked, clock }: { readonly asked: Asked; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Breakage | undefined> {
  const { status } = response;
  if (status === 304 && asked.ifNoneMatch !== undefined) return undefined;
  if (status >= 200 && status < 300) return breakageOfType(response, asked);
  const body = status < 400 ? undefined : await readStatus(response, signal);
  return breakageOfAnswer({ httpStatus: status, body, retryAfter: response.header('retry-after') }, clock);
}

function breakageOfType(response: WireResponse, { accept, expected = [mediaTypeOf(accept)] }: Asked): Breakage | undefined {
  const encoding = response.header('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding !== 'gzip' && encoding !== 'identity') return breakage('MALFORMED', 'expected gzip or no content encoding, got another');
  const type = mediaTypeOf(response.header('content-type') ?? '');
  if (expected.includes(type) || response.status === 204) return undefined;
  // The text comes from an unknown server, so only the characters of a media type are shown.
  const shown = /^[a-z]+\/[a-z0-9.+-]{1,60}$/.test(type) ? type : 'something else';
  return breakage('MALFORMED', `expected ${expected.join(' or ')}, got ${shown}`);
}

function mediaTypeOf(header: string): string {
  return (header.split(/[;,]/, 1)[0] ?? '').trim().toLowerCase();
}

/** Parses the body of a refusal if it is JSON of at most 64 KiB. The rest is discarded when the request ends. */
async function readStatus({ body, header }: WireResponse, signal: AbortSignal): Promise<Json | undefined> {
  const source = header('content-encoding')?.toLowerCase() === 'gzip' ? gunzip(body, signal) : body;
  const read = await readWhole(source, maxStatusBytes);
  return read instanceof Uint8Array ? tryParseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(read)) : undefined;
}
