import type { Clock } from '../core/clock.ts';
import type { ApiStatus, Fault, FaultCode, Retry } from '../core/faults.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';

/**
 * A failure of a request, before the cluster and kind are added that make it a `Fault`. The message holds no host, address, secret or
 * body.
 */
export interface ClusterFailure {
  readonly code: FaultCode;
  readonly message: string;
  readonly retry: Retry;
  readonly status?: ApiStatus;
}

/** The cluster of a fault, and the kind if the request was about one. */
export interface FaultScope {
  readonly cluster: ClusterName;
  readonly kind?: GroupKind;
}

/** Maximum wait in seconds. A longer `Retry-After` of a server counts as this. */
const maxRetryAfterSeconds = 600;

const maxMessage = 1_024;

/** Turns a failure into the fault of one cluster. */
export function faultOfFailure(failure: ClusterFailure, { cluster, kind }: FaultScope): Fault {
  const { code, message, retry, status } = failure;
  return {
    code,
    cluster,
    message,
    retry,
    ...(kind === undefined ? {} : { kind: { group: kind.group, kind: kind.kind } }),
    ...(status === undefined ? {} : { status }),
  };
}

/**
 * Makes a failure that has no `Status`: of the connection, of a deadline, or of an answer that cannot be read. Default of `retry`:
 * `LATER`.
 */
export function clusterFailure(code: FaultCode, message: string, retry: Retry = 'LATER'): ClusterFailure {
  return { code, message, retry };
}

/** An answer whose HTTP status is not a success. */
export interface RefusedAnswer {
  readonly httpStatus: number;
  /** The first 64 KiB of the body, parsed. Undefined if they are not JSON. */
  readonly body: Json | undefined;
  /** The `Retry-After` header as it was sent. Undefined without the header. */
  readonly retryAfter: string | undefined;
}

/**
 * Turns an HTTP answer with a status of 300 or more into a failure, whose `status.code` is the HTTP status. A redirect becomes `MALFORMED`
 * without `status`, because the gateway never follows a redirect.
 */
export function failureOfAnswer(answer: RefusedAnswer, clock: Clock): ClusterFailure {
  if (answer.httpStatus < 400)
    return clusterFailure('MALFORMED', `the API server answered with a redirect (HTTP ${answer.httpStatus}), which is not followed`);
  const status = isStatus(answer.body) ? answer.body : undefined;
  const retryAfterSeconds = parseRetryAfter(answer.retryAfter, clock) ?? secondsIn(status);
  return failureOfStatus(apiStatusOf(status ?? {}, answer.httpStatus, retryAfterSeconds), status);
}

/** Turns the `Status` of a watch's ERROR event into a failure. The `code` of the Status counts in place of the HTTP status. */
export function failureOfErrorEvent(object: Json | undefined): ClusterFailure {
  const status = isJsonObject(object) ? object : {};
  const code = typeof status.code === 'number' && Number.isInteger(status.code) ? status.code : 500;
  return failureOfStatus(apiStatusOf(status, code, secondsIn(status)), status);
}

/**
 * Reads a `Retry-After` header, which has seconds or an HTTP date. Returns whole seconds from 0 to 600, or undefined if the header has
 * neither.
 */
export function parseRetryAfter(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  // Date.parse reads most texts without a letter as a year. So a date needs a letter here.
  const dateMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((dateMs - clock.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), maxRetryAfterSeconds);
}

function failureOfStatus(status: ApiStatus, body: JsonObject | undefined): ClusterFailure {
  const code = codeOf(status, body);
  const reason = status.reason === '' ? '' : `, reason ${status.reason}`;
  return { code, message: `the API server answered HTTP ${status.code}${reason}`, retry: retryOf(code, status), status };
}

const codes: Readonly<Record<number, FaultCode>> = {
  400: 'INVALID',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  405: 'NOT_SERVED',
  408: 'TIMED_OUT',
  409: 'CONFLICT',
  410: 'EXPIRED',
  413: 'TOO_LARGE',
  429: 'THROTTLED',
  504: 'TIMED_OUT',
};

function codeOf(status: ApiStatus, body: JsonObject | undefined): FaultCode {
  // If the details have a name, the server serves the path but the object does not exist. Without a name the path itself is unknown.
  if (status.code === 404) return isJsonObject(body?.details) && typeof body.details.name === 'string' ? 'NOT_FOUND' : 'NOT_SERVED';
  // Server-side apply answers a mistake of the caller, such as a malformed quantity, with 500 and no reason. Seen on 1.33 and 1.36.
  if (status.code === 500 && /^failed to (create typed patch|convert new) object/.test(status.message)) return 'INVALID';
  // The object is too large for etcd, or for the request to etcd. The server then answers 500 without a reason, and a retry does not help.
  if (status.code === 500 && /^(etcdserver: request is too large|rpc error: .* message larger than max)/.test(status.message))
    return 'TOO_LARGE';
  return codes[status.code] ?? (status.code >= 400 && status.code < 500 ? 'INVALID' : 'SERVER_ERROR');
}

function retryOf(code: FaultCode, status: ApiStatus): Retry {
  switch (code) {
    case 'EXPIRED':
      return 'NOW';
    case 'CONFLICT':
      return status.causes.some((cause) => cause.reason === 'FieldManagerConflict') ? 'NEVER' : 'LATER';
    case 'FORBIDDEN':
    case 'NOT_SERVED':
    case 'NOT_FOUND':
    case 'INVALID':
    case 'TOO_LARGE':
      return 'NEVER';
    default:
      return 'LATER';
  }
}

function isStatus(body: Json | undefined): body is JsonObject {
  return isJsonObject(body) && body.kind === 'Status';
}

function secondsIn(status: JsonObject | undefined): number | undefined {
  const seconds = isJsonObject(status?.details) ? status.details.retryAfterSeconds : undefined;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, maxRetryAfterSeconds) : undefined;
}

function apiStatusOf(status: JsonObject, code: number, retryAfterSeconds: number | undefined): ApiStatus {
  const causes = isJsonObject(status.details) && Array.isArray(status.details.causes) ? (status.details.causes as readonly Json[]) : [];
  return {
    code,
    reason: boundedText(status.reason),
    message: withoutHosts(boundedText(status.message)),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    causes: causes.filter(isJsonObject).slice(0, 100).map(causeOf),
  };
}

function causeOf(cause: JsonObject): ApiStatus['causes'][number] {
  return {
    ...(typeof cause.reason === 'string' ? { reason: boundedText(cause.reason) } : {}),
    ...(typeof cause.field === 'string' ? { field: boundedText(cause.field) } : {}),
    ...(typeof cause.message === 'string' ? { message: withoutHosts(boundedText(cause.message)) } : {}),
  };
}

/** Characters kept from the end of a long message. A server prints the whole refused value first and the problem last. */
const keptEnd = 256;

function boundedText(value: Json | undefined): string {
  if (typeof value !== 'string') return '';
  const text = value.length <= maxMessage ? value : `${value.slice(0, maxMessage - keptEnd - 3)} … ${value.slice(-keptEnd)}`;
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** Removes URLs and addresses. An API server names them if it cannot reach a webhook or an aggregated API. */
function withoutHosts(text: string): string {
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"']+/gi, '<address>')
    .replace(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, '<address>')
    .replace(/\[[0-9a-f:.]*:[0-9a-f:.]*\](:\d+)?/gi, '<address>')
    .replace(/\blookup \S+/g, 'lookup <address>');
}
