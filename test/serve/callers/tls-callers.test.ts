import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../../../src/serve/http/listen.ts';
import { tlsRequest } from '../../support/clients/tls-request.ts';
import { createAuthority } from '../../support/identity/authority.ts';
import { startAuthenticated } from '../../support/serving/start-authenticated.ts';
import { TestSocket } from '../../support/serving/start-web-sockets.ts';

const own = createAuthority('server');
const clients = createAuthority('clients');
const proxies = createAuthority('proxies');
/** An authority with the same name. */
const sameName = createAuthority('clients');
const strangers = createAuthority('strangers');
const server = own.issue({ cn: 'muster', hosts: ['127.0.0.1', 'localhost'] });
const proxy = { caFile: '', allowedNames: ['front'], userHeader: 'X-Remote-User', groupHeader: 'X-Remote-Group' };

type Edge = Awaited<ReturnType<typeof startAuthenticated>>;
let edge: Edge;
beforeAll(async () => {
  const authorities = { clients: [new X509Certificate(clients.ca)], proxies: [new X509Certificate(proxies.ca)] };
  const tls = { ...server, clientAuthorities: [clients.ca, proxies.ca] };
  edge = await startAuthenticated({
    listening: await listen({ host: '127.0.0.1', port: 0, tls }),
    authentication: { clientCertificates: { caFile: '' }, proxy },
    authorities: () => authorities,
  });
});
afterAll(() => edge[Symbol.asyncDispose]());

interface Shown {
  readonly cert?: string;
  readonly key?: string;
}
/** The user and groups of the caller, or the status of a refusal. */
async function who(shown: Shown = {}, headers: Record<string, string | string[]> = {}): Promise<unknown> {
  const socket = await open(shown, headers);
  socket.say({ type: 'connection_init' });
  const opened = socket
    .until(({ type }) => type === 'connection_ack')
    .then(
      () => 200,
      () => 401,
    );
  const options = {
    ca: own.ca,
    ...shown,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"query":"{ hello }"}',
  };
  const { status } = await tlsRequest(`https://127.0.0.1:${edge.serving.port}/graphql`, options);
  expect(await opened, 'the same over WebSocket').toBe(status);
  if (status !== 200) return status;
  const before = edge.source.readers.size;
  socket.subscribe('1', 'subscription { ticks { n } }');
  while (edge.source.readers.size === before) await new Promise((resolve) => setTimeout(resolve, 5));
  edge.fields.scopes.length = 0;
  edge.source.feed({ n: 1 });
  await socket.until(({ type }) => type === 'next');
  socket.ws.close();
  await socket.closed();
  while (edge.source.readers.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const { user } = edge.fields.scopes[0]?.caller ?? {};
  return [user?.issuer, user?.user, ...(user?.groups ?? [])].join(' ');
}
const open = (shown: Shown, headers: Record<string, string | string[]>) =>
  TestSocket.open(`wss://127.0.0.1:${edge.serving.port}/graphql`, { ca: own.ca, ...shown, headers: headers as Record<string, string> });

test('plain HTTP is not served in addition to HTTPS', async () => {
  await expect(fetch(`http://127.0.0.1:${edge.serving.port}/livez`)).rejects.toThrow();
  expect((await tlsRequest(`https://127.0.0.1:${edge.serving.port}/livez`, { ca: own.ca })).status).toBe(200);
});

test('a certificate or a token names a caller, and a request without both is refused', async () => {
  expect(await who(clients.issue({ cn: 'pat' }))).toBe('certificate pat');
  expect(await who(clients.issue({ cn: 'pat', groups: ['plant', 'ops'] }))).toBe('certificate pat ops plant');
  expect(await who({}, edge.as('alice'))).toBe(`${edge.issuer.url} oidc:alice`);
  expect(await who()).toBe(401);
});

test('a certificate of another authority, or one that has run out, counts as none: the token decides', async () => {
  for (const shown of [sameName.issue({ cn: 'pat' }), strangers.issue({ cn: 'pat' }), clients.issue({ cn: 'pat', seconds: -60 })]) {
    expect(await who(shown)).toBe(401);
    expect(await who(shown, edge.as('alice'))).toBe(`${edge.issuer.url} oidc:alice`);
  }
});

test('a connection is verified anew each time, never resumed', async () => {
  const { port } = edge.serving;
  const { cert, key } = clients.issue({ cn: 'pat' });
  const sessions: Buffer[] = [];
  const connectOnce = async (session?: Buffer) => {
    const socket = connect({ port, host: '127.0.0.1', ca: own.ca, cert, key, session });
    socket.on('session', (ticket) => sessions.push(ticket));
    await once(socket, 'secureConnect');
    const isReused = socket.isSessionReused();
    socket.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    return isReused;
  };
  expect(await connectOnce()).toBe(false);
  expect(await connectOnce(sessions[0])).toBe(false);
});

test('a certificate of a name of Kubernetes is refused, also with a good token', async () => {
  for (const shown of [clients.issue({ cn: 'pat', groups: ['system:masters'] }), clients.issue({ cn: 'system:admin' })]) {
    expect(await who(shown)).toBe(401);
    expect(await who(shown, edge.as('alice'))).toBe(401);
  }
});

test('only a proxy with its certificate and an allowed name acts for other users, and never for itself', async () => {
  const says = { 'x-remote-user': 'pat', 'x-remote-group': ['plant', 'ops'] };
  const front = proxies.issue({ cn: 'front' });
  expect(await who(front, says)).toBe('proxy pat ops plant');
  expect(await who(front, { 'X-REMOTE-USER': 'pat' })).toBe('proxy pat');
  expect(await who(front, edge.as('alice'))).toBe(401);
  expect(await who(front, { ...edge.as('alice'), 'x-remote-user': 'pat' })).toBe('proxy pat');
  expect(await who(front, { x_remote_user: 'pat' })).toBe(401);
  expect(await who(proxies.issue({ cn: 'other' }), says)).toBe(401);
  expect(await who({}, says)).toBe(401);
  expect(await who(clients.issue({ cn: 'pat' }), { 'x-remote-user': 'bob', 'x-remote-group': 'plant' })).toBe('certificate pat');
  expect(await who({}, { ...edge.as('alice'), ...says })).toBe(`${edge.issuer.url} oidc:alice`);
});

test('a client cannot renegotiate TLS, and the attempt does not affect other clients', async () => {
  const options = { host: '127.0.0.1', port: edge.serving.port, ca: own.ca, servername: 'localhost', maxVersion: 'TLSv1.2' } as const;
  const socket = connect(options);
  await once(socket, 'secureConnect');
  const { promise: failed, resolve } = Promise.withResolvers<string | undefined>();
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  socket.renegotiate({}, (error) => resolve(error === null ? 'renegotiated' : (error as NodeJS.ErrnoException).code));
  expect(await failed).toBe('ERR_SSL_NO_RENEGOTIATION');
  socket.destroy();
  expect(await who(clients.issue({ cn: 'pat' }))).toBe('certificate pat');
});
