import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/cluster/endpoint.ts';
import { createCertificate } from '../../../src/sim/certificate.ts';
import { listenOverTls, serveHttp1 } from '../../support/cluster/strange-servers.ts';
import { connect, endpointFor, never, until } from '../../support/cluster/transport.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

async function startSim(): Promise<SimCluster> {
  const sim = await startSimCluster({ name: 'south' });
  ends.push(() => sim.stop());
  return sim;
}

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function ask(endpoint: Endpoint) {
  using south = connect(endpoint);
  const answer = await south.api.send({ method: 'GET', path: ['version'] }, never);
  return answer.type === 'failed' ? `${answer.fault.code}: ${answer.fault.message}` : answer.type;
}

describe('TLS', () => {
  test('is spoken with the server whose authority is known, by the name it is known by', async () => {
    const sim = await startSim();
    expect(await ask(endpointFor(sim))).toBe('answered');
    expect(await ask(endpointFor(sim, { tlsServerName: 'kubernetes' }))).toBe('answered');
    expect(await ask(endpointFor(sim, { server: sim.url.replace('127.0.0.1', 'localhost') }))).toBe('answered');
  });

  test('is checked for an address that is given as tls-server-name, which no server is sent', async () => {
    const sim = await startSim();
    const server = sim.url.replace('127.0.0.1', 'localhost');
    expect(await ask(endpointFor(sim, { server, tlsServerName: '127.0.0.1' }))).toBe('answered');
    expect(await ask(endpointFor(sim, { server, tlsServerName: '10.9.9.9' }))).toMatch(/^UNREACHABLE: .* is for another name$/);
  });

  test.each([
    [
      'of another authority',
      async (sim: SimCluster) => endpointFor({ ...sim, url: sim.url, token: sim.token, caPem: (await createCertificate()).ca }),
      /not signed by an authority/,
    ],
    [
      'whose authority nobody knows',
      async (sim: SimCluster) => endpointFor(sim, { trust: { type: 'system' } }),
      /not signed by an authority/,
    ],
    ['for another name', async (sim: SimCluster) => endpointFor(sim, { tlsServerName: 'other.example' }), /is for another name$/],
  ])('B11, P6: a certificate %s is refused', async (_name, endpoint, message) => {
    const sim = await startSim();
    const said = await ask(await endpoint(sim));
    expect(said).toMatch(message);
    expect(said).toMatch(/^UNREACHABLE/);
    expect(sim.requests).toHaveLength(0);
  });

  test('B11: an expired certificate is refused', async () => {
    const certificate = await createCertificate({ notAfter: new Date(Date.now() - 60_000), notBefore: new Date(Date.now() - 3_600_000) });
    const port = await listen(listenOverTls(certificate, () => undefined));
    expect(await ask(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: certificate.ca }))).toMatch(/^UNREACHABLE: .* has expired$/);
  });

  test('older than 1.2 is refused', async () => {
    const certificate = await createCertificate();
    const port = await listen(
      listenOverTls(certificate, () => undefined, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    );
    expect(await ask(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: certificate.ca }))).toMatch(/^UNREACHABLE/);
  });

  test('P6: certificates stay unverified only on request, and the cluster has a fault for it', async () => {
    const sim = await startSim();
    const endpoint = endpointFor(sim, { trust: { type: 'unverified' } });
    using south = connect(endpoint);
    expect(south.api.connectionFaults).toMatchObject([{ code: 'INSECURE', cluster: 'south', retry: 'NEVER' }]);
    expect(await ask(endpoint)).toBe('answered');
    using other = connect(endpointFor(sim));
    expect(other.api.connectionFaults).toEqual([]);
  });

  test('a client certificate that cannot be read is a fault', async () => {
    const sim = await startSim();
    const rubbish = { type: 'data', data: Buffer.from('rubbish') } as const;
    expect(await ask(endpointFor(sim, { clientCertificate: { certificate: rubbish, key: rubbish } }))).toMatch(
      /^UNAUTHENTICATED: a certificate or key/,
    );
  });

  test.each([{}, { maxVersion: 'TLSv1.2' as const }])(
    'a missing or refused client certificate is reported at once (%o)',
    async (tlsOptions) => {
      const [serving, strange] = await Promise.all([createCertificate(), createCertificate()]);
      const demanding = { requestCert: true, rejectUnauthorized: true, ca: serving.ca, ALPNProtocols: ['h2'], ...tlsOptions };
      const port = await listen(listenOverTls(serving, () => undefined, demanding));
      const address = { url: `https://127.0.0.1:${port}`, caPem: serving.ca };
      const material = (text: string) => ({ type: 'data', data: Buffer.from(text) }) as const;
      const clientCertificate = { certificate: material(strange.certificate), key: material(strange.key) };
      // The result depends on whether the alert or the end of the connection is read first.
      expect(await ask(endpointFor(address))).toMatch(/^(UNAUTHENTICATED: .*client certificate|UNREACHABLE: the connection)/);
      expect(await ask(endpointFor(address, { clientCertificate }))).toMatch(
        /^(UNAUTHENTICATED: .*client certificate|UNREACHABLE: the connection)/,
      );
    },
  );
});

describe('a server that', () => {
  test('without a listener is refused', async () => {
    const server = net.createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    ends.length = 0;
    expect(await ask(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: '' }, { trust: { type: 'system' } }))).toBe(
      'UNREACHABLE: the API server refused the connection',
    );
  });

  test('has no name is not resolved', async () => {
    expect(await ask(endpointFor({ url: 'https://nobody.invalid', caPem: '' }, { trust: { type: 'system' } }))).toMatch(
      /^UNREACHABLE: the name of the API server cannot be resolved/,
    );
  });

  test('that accepts the connection and stays silent fails after 10 s, for all waiting requests', async () => {
    const sockets: net.Socket[] = [];
    const port = await listen(net.createServer((socket) => sockets.push(socket.on('error', () => undefined))));
    const clock = createManualClock();
    using south = connect(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: '' }, { trust: { type: 'system' } }), clock);
    const list = south.api
      .list(
        {
          resource: {
            group: '',
            kind: 'Pod',
            resource: 'pods',
            version: 'v1',
            versions: ['v1'],
            singular: 'pod',
            namespaced: true,
            verbs: [],
            shortNames: [],
            categories: [],
          },
          form: 'object',
        },
        never,
      )
      [Symbol.asyncIterator]();
    const listed = Promise.all([list.next()]);
    await until(() => sockets.length === 1);
    await clock.advance(10_000);
    expect(await listed).toMatchObject([
      { value: { type: 'failed', fault: { code: 'UNREACHABLE', message: expect.stringContaining('10 s') } } },
    ]);
    expect(sockets).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
  });

  test('sends no settings after the handshake is disconnected too', async () => {
    const certificate = await createCertificate();
    let connected = 0;
    const port = await listen(listenOverTls(certificate, () => connected++, { ALPNProtocols: ['h2'] }));
    const clock = createManualClock();
    using south = connect(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: certificate.ca }), clock);
    const answer = south.api.send({ method: 'GET', path: ['version'] }, never);
    await until(() => connected === 1);
    await clock.advance(10_000);
    expect(await answer).toMatchObject({ type: 'failed', fault: { code: expect.stringMatching(/UNREACHABLE|TIMED_OUT/) } });
  });

  test('speaks no TLS is unreachable', async () => {
    const port = await listen(
      net.createServer((socket) =>
        socket
          .on('error', () => undefined)
          .resume()
          .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      ),
    );
    expect(await ask(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: '' }, { trust: { type: 'system' } }))).toMatch(/^UNREACHABLE/);
  });

  test('hangs up at once is unreachable', async () => {
    const port = await listen(net.createServer((socket) => socket.on('error', () => undefined).destroy()));
    expect(await ask(endpointFor({ url: `https://127.0.0.1:${port}`, caPem: '' }, { trust: { type: 'system' } }))).toMatch(/^UNREACHABLE/);
  });
});

describe('without TLS', () => {
  test('loopback is accepted, and the path of its URL is a prefix', async () => {
    const paths: string[] = [];
    const port = await listen(
      serveHttp1((request) => {
        paths.push(request.url ?? '');
        return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
      }),
    );
    expect(await ask(endpointFor({ url: `http://localhost:${port}/prefix/`, caPem: '' }, { trust: { type: 'system' } }))).toBe('answered');
    expect(paths).toEqual(['/prefix/version']);
  });
});

describe('a proxy', () => {
  test('is asked to connect, with its own credentials, and leads to the server', async () => {
    const sim = await startSim();
    const heads: string[] = [];
    const port = await listen(proxyServer(heads, 'HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n'));
    expect(await ask(endpointFor(sim, { proxyUrl: `http://us%40er:pa%3Ass@127.0.0.1:${port}/` }))).toBe('answered');
    const host = new URL(sim.url).host;
    expect(heads).toEqual([
      `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`,
    ]);
  });

  test.each([
    ['refuses', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'it answered HTTP 407'],
    ['is no proxy', 'SSH-2.0-OpenSSH\r\n\r\n', 'it answered something other than HTTP'],
    ['has no end', 'x'.repeat(20_000), 'too long a head'],
  ])('that %s is a fault', async (_name, reply, message) => {
    const sim = await startSim();
    const port = await listen(proxyServer([], reply));
    expect(await ask(endpointFor(sim, { proxyUrl: `http://127.0.0.1:${port}` }))).toContain(message);
    expect(sim.connections()).toBe(0);
  });
});

describe('a proxy before a registered or found cluster', () => {
  const heads: string[] = [];
  async function askThroughProxy(server: string, sim: SimCluster, allowPrivate: readonly string[]) {
    heads.length = 0;
    const port = await listen(proxyServer(heads, 'HTTP/1.1 200 Connection established\r\n\r\n'));
    return ask(endpointFor(sim, { server, proxyUrl: `http://127.0.0.1:${port}`, addressRule: { allowPrivate, where: 'server' } }));
  }

  test('E8: gets the address that was judged, and no name that it could resolve in another way', async () => {
    const sim = await startSim();
    const { port } = new URL(sim.url);
    expect(await askThroughProxy(`https://localhost:${port}`, sim, ['127.0.0.1/32'])).toBe('answered');
    expect(heads[0]).toContain(`CONNECT 127.0.0.1:${port} `);
  });

  test.each([
    ['leads to a forbidden address', 'https://localhost:443', /^INVALID: server: expected an address outside of loopback/],
    ['cannot be resolved here', 'https://nobody.invalid', /^UNREACHABLE: the name of the API server cannot be resolved/],
  ])('gets no request if the name %s', async (_title, server, message) => {
    expect(await askThroughProxy(server, await startSim(), [])).toMatch(message);
    expect(heads).toEqual([]);
  });
});

/** Answers CONNECT with this text. If it reports a success, the proxy connects to the requested target. */
function proxyServer(heads: string[], reply: string): net.Server {
  return net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      const head = data.toString('latin1').trimEnd();
      heads.push(head);
      if (!reply.includes(' 200 ')) return socket.write(reply);
      const [, host = '', port = ''] = /^CONNECT (.*):(\d+) /.exec(head) ?? [];
      const upstream = net.connect({ host, port: Number(port) }, () => {
        socket.write(reply);
        socket.pipe(upstream).pipe(socket);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
    });
  });
}
