import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server on bare `node:http` that answers each request with these bytes of JSON. Returns its URL. It listens until the process ends. */
export async function startFixedServer(answer: Buffer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}
