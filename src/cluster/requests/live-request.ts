import { jsonEscapeOf } from '../../core/json/json-escape.ts';
import type { Json } from '../../core/json.ts';
import type { LiveAnswer, LiveRequest } from '../cluster-api.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { openRequestScope } from '../transport/request-scope.ts';
import { readWhole } from '../transport/wire.ts';
import type { Exchange } from './exchange.ts';
import { queryText, requestPath } from './request-paths.ts';

const deadlineMs = 10_000;
/** Maximum bytes of an answer. The OpenAPI document of a server with many CRDs has about ten MiB. */
const maxBodyBytes = 64 * 1024 * 1024;
/** Maximum bytes of a request that an API server reads (apiserver, `MaxRequestBodyBytes`). */
const maxRequestBytes = 3 * 1024 * 1024;

/** Sends one request and returns the whole answer, within 10 s. An abort ends the request upstream; no caller reads the result then. */
export async function sendLiveRequest(exchange: Exchange, request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const path = requestPath(request.path);
  const failed = (broken: ClusterFailure): LiveAnswer => ({ type: 'failed', fault: exchange.fault(scope.failure ?? broken, undefined) });
  if (path === undefined) return failed(clusterFailure('INVALID', 'expected names that are one segment of a path each', 'NEVER'));
  const { method, query = {}, body, contentType, accept = 'application/json', expected, ifNoneMatch, as, requestId } = request;
  const bytes = body === undefined ? undefined : bytesOfJson(body);
  if (bytes !== undefined && bytes.length > maxRequestBytes) {
    const message = `expected at most ${maxRequestBytes / 1024 / 1024} MiB, got ${bytes.length} bytes`;
    return failed(clusterFailure('TOO_LARGE', message, 'NEVER'));
  }
  scope.setDeadline(deadlineMs, clusterFailure('TIMED_OUT', `no answer within ${deadlineMs / 1_000} s`));
  const own = { method, accept, body: bytes, contentType, expected, ifNoneMatch, as, requestId };
  const asked = { ...own, path: path + queryText(new URLSearchParams(query)), lane: 'request', compressible: true } as const;
  const opened = await exchange.open(asked, scope.signal);
  if (opened.type === 'failed') return scope.failure === undefined ? opened : failed(scope.failure);
  const read = await readWhole(opened.body, maxBodyBytes);
  if (!(read instanceof Uint8Array)) return failed(read);
  const { status, etag, warnings } = opened;
  return {
    type: 'answered',
    status,
    body: read,
    ...(etag === undefined ? {} : { etag }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/**
 * Prints JSON that is also valid YAML, because API servers read an apply as YAML. It escapes the characters that a YAML text treats as line
 * breaks or does not allow (yaml.org/spec/1.1, "Character Set" and "Line Break Characters").
 */
function bytesOfJson(body: Json): Buffer {
  return Buffer.from(JSON.stringify(body).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, jsonEscapeOf));
}
