import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** The bytes of the body, in order. Absent: no body at all. */
  readonly body?: readonly Uint8Array[];
}

/** Sends an answer whole, with its length. Nothing happens if the client has left, or if another answer is on its way. */
export function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'x-content-type-options': 'nosniff',
    ...(body === undefined ? {} : { 'content-length': body.reduce((sum, { length }) => sum + length, 0) }),
    ...headers,
  });
  if (response.req.method === 'HEAD') response.end();
  else {
    for (const piece of body?.slice(0, -1) ?? []) response.write(piece);
    response.end(body?.at(-1));
  }
}

/** An answer of text. */
export function textAnswer(status: number, text: string, headers: OutgoingHttpHeaders = {}): HttpAnswer {
  const all = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers };
  return { status, headers: all, body: [Buffer.from(text)] };
}
