import { Agent, request } from 'undici';
import type { Endpoint } from '../../support/clients/raw-client.ts';

/** Sends requests to one server over connections that stay open. */
export interface TextClient {
  /** Returns the text of the answer. Rejects if its status is 300 or more. */
  send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: string, contentType?: string): Promise<string>;
}

/** Creates the client for a gateway and for an API server. Both sides of a comparison use it, so its cost is on both. */
export function createTextClient(origin: string, tls?: Pick<Endpoint, 'caPem' | 'certPem' | 'keyPem'>): TextClient {
  const connect = tls === undefined ? {} : { ca: tls.caPem, cert: tls.certPem, key: tls.keyPem };
  const dispatcher = new Agent({ connect });
  return {
    async send(method, path, body, contentType = 'application/json') {
      const headers = body === undefined ? {} : { 'content-type': contentType };
      const answer = await request(`${origin}${path}`, { dispatcher, method, headers, body: body ?? null });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`);
      return text;
    },
  };
}
