import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** The bytes of the body, in order. Default: no body. */
  readonly body?: readonly Uint8Array[] | undefined;
}

/**
 * Maximum bytes of a body that is sent as a text in Latin-1, where each character is one byte. Node joins a text with the headers, and then
 * needs one write in place of two.
 */
const shortBytes = 16 << 10;

/** Sends a complete answer, with its length. Does nothing if the client has left, or if another answer is being sent. */
export function sendHttpAnswer(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'x-content-type-options': 'nosniff',
    ...(body === undefined ? {} : { 'content-length': body.reduce((sum, { length }) => sum + length, 0) }),
    ...headers,
  });
  const last = body?.at(-1);
  if (body === undefined || last === undefined || response.req.method === 'HEAD') response.end();
  else if (body.length === 1 && last.length <= shortBytes)
    response.end(Buffer.from(last.buffer, last.byteOffset, last.length).toString('latin1'), 'latin1');
  else {
    for (const piece of body.slice(0, -1)) response.write(piece);
    response.end(last);
  }
}

/** Makes an answer of plain text. */
export function textAnswer(status: number, text: string, headers: OutgoingHttpHeaders = {}): HttpAnswer {
  const all = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers };
  return { status, headers: all, body: [Buffer.from(text)] };
}
