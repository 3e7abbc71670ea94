import type { Json } from '../core/json.ts';
import { breakage } from './classify.ts';
import type { LiveAnswer, LiveRequest } from './cluster-api.ts';
import type { Exchange } from './exchange.ts';
import { pathOf, queryText } from './request-paths.ts';
import { openRequestScope } from './request-scope.ts';
import type { ByteSource } from './wire.ts';

const deadlineMs = 10_000;
/** Of one answer: an OpenAPI document of a server with many CRDs has some ten. */
const maxBodyBytes = 64 * 1024 * 1024;
/** What an API server reads of a request (apiserver's `MaxRequestBodyBytes`). */
const maxRequestBytes = 3 * 1024 * 1024;

/** One request and its whole answer, within 10 s. An abort ends it upstream; what is returned then is read by nobody. */
export async function liveCall(exchange: Exchange, request: LiveRequest, signal: AbortSignal): Promise<LiveAnswer> {
  using scope = openRequestScope([signal, exchange.life], exchange.clock);
  const path = pathOf(request.path);
  if (path === undefined) {
    return { type: 'failed', fault: exchange.fault(breakage('INVALID', 'expected names that can stand in a path', 'NEVER'), undefined) };
  }
  const { method, query = {}, body, contentType, accept = 'application/json', expected, ifNoneMatch, as } = request;
  const bytes = body === undefined ? undefined : bytesOfJson(body);
  if (bytes !== undefined && bytes.length > maxRequestBytes) {
    const message = `expected at most ${maxRequestBytes / 1024 / 1024} MiB, got ${bytes.length} bytes`;
    return { type: 'failed', fault: exchange.fault(breakage('TOO_LARGE', message, 'NEVER'), undefined) };
  }
  scope.within(deadlineMs, breakage('TIMED_OUT', `no answer within ${deadlineMs / 1_000} s`));
  const opened = await exchange.open(
    {
      method,
      path: path + queryText(new URLSearchParams(query)),
      accept,
      lane: 'request',
      packable: true,
      ...(bytes === undefined ? {} : { body: bytes }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(expected === undefined ? {} : { expected }),
      ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
      ...(as === undefined ? {} : { as }),
    },
    scope.signal,
  );
  if (opened.type === 'failed')
    return scope.broken === undefined ? opened : { type: 'failed', fault: exchange.fault(scope.broken, undefined) };
  const read = await readWhole(opened.body);
  if (!(read instanceof Uint8Array)) return { type: 'failed', fault: exchange.fault(scope.broken ?? read, undefined) };
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
 * JSON that is YAML too, as an apply is read: there these characters are line breaks within a text, or not allowed at all
 * (yaml.org/spec/1.1, "Character Set" and "Line Break Characters").
 */
function bytesOfJson(body: Json): Buffer {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return Buffer.from(JSON.stringify(body).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped));
}

async function readWhole(source: ByteSource): Promise<Uint8Array | ReturnType<typeof breakage>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const read = await source.read();
    if (read.type === 'broken') return read.breakage;
    if (read.type === 'ended') return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    for (const chunk of read.chunks) {
      bytes += chunk.length;
      chunks.push(chunk);
    }
    if (bytes > maxBodyBytes) return breakage('TOO_LARGE', `the answer has more than ${maxBodyBytes / 1024 / 1024} MiB`, 'NEVER');
  }
}
