import http2 from 'node:http2';
import { type Breakage, breakage } from '../classify.ts';
import { byteQueue } from './byte-queue.ts';
import type { Pulse } from './liveness.ts';
import { abandoned, breakageIn } from './request-scope.ts';
import { readHeaders, type WireAnswer, type WireRequest } from './wire.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

export interface StreamOptions {
  readonly request: WireRequest;
  readonly authority: string;
  /** Marked with each byte of the stream. */
  readonly pulse: Pulse;
  /** Called once, when the stream has closed. */
  readonly ended: () => void;
  /** Returns why the session was destroyed, if it was. */
  readonly reason: () => Breakage;
}

/** Opens one stream. An abort resets it at once. The body ends cleanly only if the peer ended it; a lost connection is a failure. */
export function openStream(client: http2.ClientHttp2Session, options: StreamOptions, signal: AbortSignal): Promise<WireAnswer> {
  const { pulse, request, ended, reason } = options;
  const stream = begin(client, options);
  if (stream === undefined) {
    ended();
    return Promise.resolve({ type: 'refused', breakage: breakage('UNREACHABLE', 'the connection takes no more requests') });
  }
  const queue = byteQueue({ pause: () => stream.pause(), resume: () => stream.resume() });
  const abort = () => {
    queue.fail(breakageIn(signal) ?? abandoned);
    stream.close(NGHTTP2_CANCEL);
  };
  return new Promise((resolve) => {
    let endedCleanly = false;
    stream.on('response', (headers) => {
      pulse.beat();
      resolve({
        type: 'answered',
        response: { status: headers[':status'] ?? 0, ...readHeaders(headers), body: queue, heardMs: () => pulse.heardMs },
      });
    });
    stream.on('data', (chunk: Buffer) => {
      pulse.beat();
      queue.push(chunk);
    });
    stream.on('end', () => {
      endedCleanly = !client.destroyed;
    });
    // The reset code or the session has the reason.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      signal.removeEventListener('abort', abort);
      const code = stream.rstCode ?? NGHTTP2_NO_ERROR;
      if (endedCleanly && code === NGHTTP2_NO_ERROR) queue.end();
      const because = signal.aborted ? (breakageIn(signal) ?? abandoned) : client.destroyed ? reason() : breakageOfReset(code);
      queue.fail(because);
      resolve({ type: code === NGHTTP2_REFUSED_STREAM && !signal.aborted ? 'refused' : 'broken', breakage: because });
      ended();
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    if (request.body !== undefined) stream.end(request.body);
  });
}

/** Returns undefined if the session closed in the same event-loop turn. */
function begin(client: http2.ClientHttp2Session, { request, authority }: StreamOptions): http2.ClientHttp2Stream | undefined {
  const headers = { ':method': request.method, ':path': request.path, ':authority': authority, ':scheme': 'https', ...request.headers };
  try {
    return client.request(headers as http2.OutgoingHttpHeaders, { endStream: request.body === undefined });
  } catch (error) {
    if (client.closed || client.destroyed || (error instanceof Error && 'code' in error && error.code === 'ERR_HTTP2_OUT_OF_STREAMS'))
      return undefined;
    throw error;
  }
}

function breakageOfReset(code: number): Breakage {
  return breakage(
    'UNREACHABLE',
    code === NGHTTP2_NO_ERROR ? 'the answer was cut off' : `the API server reset the request (HTTP/2 code ${code})`,
  );
}
