import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClusterApi } from '../../src/cluster/cluster-api.ts';
import { callTyped, type TypedCall, V1MicroTime } from '../../src/cluster/typed-api.ts';
import { type ContractServer, contractServers } from '../contract/contract-server.ts';
import { type Connected, connect, endpointFor, never, until } from '../support/cluster/transport.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const leaseAt = { namespace: 'default', name: 'typed' };

/** Reads one Namespace. */
const readNamespace =
  (name: string): TypedCall<object> =>
  ({ CoreV1Api }, transport) =>
    new CoreV1Api(transport).readNamespace({ name });

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`the API classes of client-node over our transport, to ${title}`, () => {
    let server: ContractServer;
    let south: Connected;
    beforeAll(async () => {
      server = await start();
      const { certPem, keyPem } = server.endpoint;
      const data = (pem: string) => ({ type: 'data', data: Buffer.from(pem) }) as const;
      const clientCertificate =
        certPem === undefined || keyPem === undefined ? {} : { clientCertificate: { certificate: data(certPem), key: data(keyPem) } };
      south = connect(endpointFor(server.endpoint, clientCertificate));
    }, 60_000);
    afterAll(async () => {
      south[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });

    test('create, read and replace a Lease; its times keep their microseconds', async () => {
      const acquireTime = new V1MicroTime(Date.UTC(2026, 0, 1));
      const body = { metadata: { name: 'typed' }, spec: { holderIdentity: 'one', acquireTime, renewTime: acquireTime } };
      const made = await callTyped(
        south.api,
        ({ CoordinationV1Api }, transport) => new CoordinationV1Api(transport).createNamespacedLease({ ...leaseAt, body }),
        { signal: never },
      );
      expect(made).toMatchObject({
        result: 'answered',
        value: { spec: { holderIdentity: 'one', renewTime: '2026-01-01T00:00:00.000000Z' } },
      });
      if (made.result !== 'answered') throw new Error('expected a Lease');
      // client-go writes such times. client-node reads them as text and keeps all digits.
      const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/typed';
      const patch = { spec: { renewTime: '2026-01-01T00:00:01.123456Z' } };
      await server.client.send('PATCH', path, { body: patch, headers: { 'content-type': 'application/merge-patch+json' } });
      const read = await callTyped(
        south.api,
        ({ CoordinationV1Api }, transport) => new CoordinationV1Api(transport).readNamespacedLease(leaseAt),
        { signal: never },
      );
      if (read.result !== 'answered') throw new Error('expected a Lease');
      const replace = (lease: typeof read.value) =>
        callTyped(
          south.api,
          ({ CoordinationV1Api }, transport) => new CoordinationV1Api(transport).replaceNamespacedLease({ ...leaseAt, body: lease }),
          { signal: never },
        );
      const next = { ...read.value, spec: { ...read.value.spec, holderIdentity: 'two' } };
      expect(await replace(next)).toMatchObject({ result: 'answered' });
      expect((await server.client.get(path)).json().spec).toEqual({
        ...{ holderIdentity: 'two', acquireTime: '2026-01-01T00:00:00.000000Z', renewTime: '2026-01-01T00:00:01.123456Z' },
      });
      expect(await replace(next)).toMatchObject({ result: 'failed', fault: { code: 'CONFLICT', cluster: 'south' } });
    });

    test('read the definition of a custom kind, and fail with NOT_FOUND where there is none', async () => {
      const name = 'nothings.example.com';
      const answer = await callTyped(
        south.api,
        ({ ApiextensionsV1Api }, transport) => new ApiextensionsV1Api(transport).readCustomResourceDefinition({ name }),
        { signal: never },
      );
      expect(answer).toMatchObject({ result: 'failed', fault: { code: 'NOT_FOUND', status: { code: 404 } } });
    });
  });
}

describe('a typed call', () => {
  let sim: SimCluster;
  let since = 0;
  beforeAll(async () => {
    sim = await startSimCluster({ name: 'south' });
  });
  beforeEach(() => {
    since = sim.requests.length;
  });
  afterAll(() => sim.stop());
  const sent = () => sim.requests.slice(since).map(({ method, path, query }) => ({ method, path, query }));

  test('is one request of the transport, with its credentials', async () => {
    using south = connect(endpointFor(sim));
    expect(await callTyped(south.api, readNamespace('default'), { signal: never })).toMatchObject({
      result: 'answered',
      value: { metadata: { name: 'default' } },
    });
    expect(sent()).toEqual([{ method: 'GET', path: '/api/v1/namespaces/default', query: {} }]);
    expect(sim.requests.at(-1)?.headers.authorization).toBe(`Bearer ${sim.token}`);
  });

  test('sends queries, and acts for another identity', async () => {
    using south = connect(endpointFor(sim));
    const as = { user: 'alice', groups: ['dev'], extra: {} };
    const list: TypedCall<object> = ({ CoreV1Api }, transport) =>
      new CoreV1Api(transport).listNamespacedPod({ namespace: 'default', labelSelector: 'app=a,b!=c', limit: 5 });
    expect(await callTyped(south.api, list, { signal: never, as })).toMatchObject({ result: 'answered', value: { items: [] } });
    expect(sent()).toEqual([
      { method: 'GET', path: '/api/v1/namespaces/default/pods', query: { labelSelector: 'app=a,b!=c', limit: '5' } },
    ]);
    expect(sim.requests.at(-1)?.headers['impersonate-user']).toBe('alice');
  });

  test('gives a refusal as the fault of the cluster', async () => {
    using south = connect(endpointFor(sim));
    using _ = sim.forbid({ resource: 'namespaces' });
    expect(await callTyped(south.api, readNamespace('default'), { signal: never })).toMatchObject({
      result: 'failed',
      fault: { code: 'FORBIDDEN', cluster: 'south', retry: 'NEVER', status: { code: 403, reason: 'Forbidden' } },
    });
  });

  test.each(['', '.', '..', '%2e%2e/x'])('sends no request for the name %j, which would lead to another path', async (name) => {
    using south = connect(endpointFor(sim));
    const answer = await callTyped(south.api, readNamespace(name), { signal: never });
    expect(answer).toMatchObject({ result: 'failed', fault: { code: name.includes('x') ? 'NOT_FOUND' : 'INVALID' } });
    expect(sent().map(({ path }) => path)).toEqual(name.includes('x') ? ['/api/v1/namespaces/%252e%252e%2Fx'] : []);
  });

  test('ends upstream with its signal', async () => {
    using south = connect(endpointFor(sim));
    using _ = sim.stall();
    const end = new AbortController();
    const called = callTyped(south.api, readNamespace('default'), { signal: end.signal });
    await until(() => sent().length === 1);
    expect(sim.requests.at(-1)?.endedMs).toBeUndefined();
    end.abort();
    expect((await called).result).toBe('failed');
    await until(() => sim.requests.at(-1)?.endedMs !== undefined);
  });

  test('ends after 10 s with TIMED_OUT', async () => {
    const clock = createManualClock();
    using south = connect(endpointFor(sim), clock);
    using _ = sim.stall();
    const called = callTyped(south.api, readNamespace('default'), { signal: never });
    await until(() => sent().length === 1);
    await clock.advance(10_000);
    expect(await called).toMatchObject({ result: 'failed', fault: { code: 'TIMED_OUT', message: 'no answer within 10 s' } });
  });

  const refusal = '{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}';
  test.each(['null', '"text"', '3', '{}', 'no JSON', '', refusal])('fails with MALFORMED if the answer is %j', async (body) => {
    const api = {
      cluster: 'south',
      send: async () => ({ type: 'answered', status: 200, body: Buffer.from(body) }),
    } as unknown as ClusterApi;
    const answer = await callTyped(api, readNamespace('default'), { signal: never });
    expect(answer).toMatchObject({ result: 'failed', fault: { code: 'MALFORMED', cluster: 'south' } });
  });

  test('throws if the call was made wrongly: that is a bug', async () => {
    using south = connect(endpointFor(sim));
    await expect(callTyped(south.api, readNamespace(undefined as unknown as string), { signal: never })).rejects.toThrow('name');
    expect(sent()).toEqual([]);
  });
});

test('a gateway imports no API class before the first typed call: that would block its start for 0.4 s', () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); loaded.push(found.url); return found; } });
    await import('./src/gateway.ts');
    console.log(JSON.stringify(loaded.filter((url) => url.includes('client-node'))));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const loaded = JSON.parse(stdout) as string[];
  expect(new Set(loaded.map((url) => url.replace(/.*client-node\//, '')))).toEqual(new Set(['dist/types.js']));
});
