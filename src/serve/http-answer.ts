import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ReadyBytes } from './introspection.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Absent: no body at all. */
  readonly body?: Uint8Array | string | readonly Uint8Array[];
}

/** Sends an answer whole, with its length. Nothing happens if the client has left, or if another answer is on its way. */
export function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const pieces = body === undefined ? [] : piecesOf(body);
  response.writeHead(status, {
    'x-content-type-options': 'nosniff',
    ...(body === undefined ? {} : { 'content-length': pieces.reduce((sum, { length }) => sum + length, 0) }),
    ...headers,
  });
  if (response.req.method === 'HEAD') response.end();
  else {
    for (const piece of pieces.slice(0, -1)) response.write(piece);
    response.end(pieces.at(-1));
  }
}

/** A body as the bytes that are written one after the other. */
export function piecesOf(body: NonNullable<HttpAnswer['body']>): readonly Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return body instanceof Uint8Array ? [body] : body;
}

/** An answer of text. */
export function textAnswer(status: number, text: string, headers: OutgoingHttpHeaders = {}): HttpAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers }, body: text };
}

/** Ready bytes in the form the client takes. */
export function bytesAnswer(request: IncomingMessage, bytes: ReadyBytes, answer: Omit<HttpAnswer, 'body'>): HttpAnswer {
  const headers = { vary: 'Accept-Encoding', ...answer.headers };
  if (bytes.gzipped === undefined || !acceptsGzip(request.headers['accept-encoding'])) return { ...answer, headers, body: bytes.plain };
  return { ...answer, headers: { ...headers, 'content-encoding': 'gzip' }, body: bytes.gzipped };
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(?:^|[,\s])(?:gzip|\*)(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/i.test(String(header ?? ''));
}
