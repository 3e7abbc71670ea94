import http2 from 'node:http2';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { createByteQueue } from './byte-queue.ts';
import type { ConnectionActivity } from './liveness.ts';
import { abandonedFailure, failureOfSignal } from './request-scope.ts';
import { readHeaders, type WireAnswer, type WireRequest } from './wire.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

export interface Http2StreamOptions {
  readonly request: WireRequest;
  readonly authority: string;
  /** The activity of the connection. Each byte of the stream marks a sign of life in it. */
  readonly activity: ConnectionActivity;
  /** Called once, when the stream has closed. */
  readonly ended: () => void;
  /** Returns why the session was destroyed, if it was. */
  readonly reason: () => ClusterFailure;
}

/**
 * Opens one stream. An abort resets it at once. The body ends normally only if the peer has ended it. If the connection is lost, the body
 * ends with a failure.
 */
export function openHttp2Stream(client: http2.ClientHttp2Session, options: Http2StreamOptions, signal: AbortSignal): Promise<WireAnswer> {
  const { activity, request, ended, reason } = options;
  const stream = startStream(client, options);
  if (stream === undefined) {
    ended();
    return Promise.resolve({ type: 'refused', failure: clusterFailure('UNREACHABLE', 'the connection takes no more requests') });
  }
  const queue = createByteQueue({ pause: () => stream.pause(), resume: () => stream.resume() });
  const abort = () => {
    queue.fail(failureOfSignal(signal) ?? abandonedFailure);
    stream.close(NGHTTP2_CANCEL);
  };
  return new Promise((resolve) => {
    let endedCleanly = false;
    stream.on('response', (headers) => {
      activity.markReceived();
      resolve({
        type: 'answered',
        response: { status: headers[':status'] ?? 0, ...readHeaders(headers), body: queue, lastReceivedMs: () => activity.lastReceivedMs },
      });
    });
    stream.on('data', (chunk: Buffer) => {
      activity.markReceived();
      queue.push(chunk);
    });
    stream.on('end', () => {
      endedCleanly = !client.destroyed;
    });
    // Ignored here: when the stream closes, the reset code or the session gives the reason.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      signal.removeEventListener('abort', abort);
      const code = stream.rstCode ?? NGHTTP2_NO_ERROR;
      if (endedCleanly && code === NGHTTP2_NO_ERROR) queue.end();
      const because = signal.aborted ? (failureOfSignal(signal) ?? abandonedFailure) : client.destroyed ? reason() : failureOfReset(code);
      queue.fail(because);
      resolve({ type: code === NGHTTP2_REFUSED_STREAM && !signal.aborted ? 'refused' : 'broken', failure: because });
      ended();
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    if (request.body !== undefined) stream.end(request.body);
  });
}

/** Opens the stream. Returns undefined if the session has closed, or has no stream number left. */
function startStream(client: http2.ClientHttp2Session, { request, authority }: Http2StreamOptions): http2.ClientHttp2Stream | undefined {
  const headers = { ':method': request.method, ':path': request.path, ':authority': authority, ':scheme': 'https', ...request.headers };
  try {
    return client.request(headers as http2.OutgoingHttpHeaders, { endStream: request.body === undefined });
  } catch (error) {
    if (client.closed || client.destroyed || (error instanceof Error && 'code' in error && error.code === 'ERR_HTTP2_OUT_OF_STREAMS'))
      return undefined;
    throw error;
  }
}

function failureOfReset(code: number): ClusterFailure {
  return clusterFailure(
    'UNREACHABLE',
    code === NGHTTP2_NO_ERROR ? 'the answer was cut off' : `the API server reset the request (HTTP/2 code ${code})`,
  );
}
