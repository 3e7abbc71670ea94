import { describe, expect, onTestFinished, test } from 'vitest';
import { createWireClient, type WireAnswer, type WireBody, type WireClient } from '../support/clients/wire-client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { WriteRefusal } from '../support/sim/misbehaviours.ts';
import type { SimCluster, SimWrite } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

interface Writing {
  readonly south: SimCluster;
  readonly client: WireClient;
  /** Applies a ConfigMap. */
  apply(
    name: string,
    data: object,
    more?: { readonly query?: string; readonly metadata?: object; readonly headers?: object },
  ): Promise<WireAnswer>;
}

async function startWriting(): Promise<Writing> {
  const south = await startSimCluster({ name: 'south', clock: createManualClock() });
  onTestFinished(() => south[Symbol.asyncDispose]());
  const client = createWireClient(south, 'h2');
  onTestFinished(() => client[Symbol.asyncDispose]());
  return {
    south,
    client,
    apply: (name, data, { query = '', metadata = {}, headers = {} } = {}) =>
      client.ask(`${configMaps}/${name}?fieldManager=muster${query}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml', ...headers },
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data },
      }),
  };
}

const bodyOf = ({ text }: WireAnswer): WireBody => JSON.parse(text);
const briefly = ({ seq, verb, name, result, isDry }: SimWrite) => `${seq} ${verb} ${name} ${result}${isDry ? ' dry' : ''}`;

describe('the log of writes', () => {
  test('lists each completed write, including dry runs, with its author, method and preconditions', async () => {
    const { south, client, apply } = await startWriting();
    south.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own' } });
    const made = bodyOf(await apply('a', { k: '1' }, { metadata: { resourceVersion: '1' } }));
    await apply('a', { k: '1' }, { query: '&force=true', headers: { 'impersonate-user': 'alice' } });
    await apply('b', {}, { query: '&dryRun=All' });
    await apply('a', { k: '2' }, { metadata: { resourceVersion: '1' } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    await client.ask(`${configMaps}/a`, { method: 'PATCH', headers, body: { metadata: { finalizers: ['example.com/hold'] } } });
    const { uid } = made.metadata;
    await client.ask(`${configMaps}/a`, { method: 'DELETE', body: { preconditions: { uid } } });
    await client.ask(`${configMaps}/own`, { method: 'DELETE' });
    await client.ask('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: 'shop' } } });
    expect(south.writes().map(briefly)).toEqual([
      '1 patch a created',
      '2 patch a unchanged',
      '3 patch b created dry',
      '4 patch a changed',
      '5 delete a marked',
      '6 delete own deleted',
      '7 create shop created',
    ]);
    const [first, second, , fourth, fifth, , last] = south.writes();
    expect(first).toMatchObject({
      ...{ patch: 'apply', group: '', kind: 'ConfigMap', namespace: 'default', manager: 'muster', user: 'admin' },
      ...{ isForced: false, preconditions: { resourceVersion: '1' }, object: { metadata: { uid }, data: { k: '1' } } },
    });
    expect(second).toMatchObject({ user: 'alice', isForced: true, preconditions: {} });
    expect([fourth?.patch, fifth?.preconditions, last?.namespace]).toEqual(['merge', { uid }, undefined]);
    expect(south.requests.filter(({ user }) => user === 'alice')).toHaveLength(1);
  });

  test('has one entry for each object of a deleted collection', async () => {
    const { south, client } = await startWriting();
    south.fill('ConfigMap', 2);
    await client.ask(configMaps, { method: 'DELETE' });
    expect(south.writes().map(briefly)).toEqual(['1 deletecollection configmap-0 deleted', '2 deletecollection configmap-1 deleted']);
  });

  test('records the written subresource', async () => {
    const { south, client } = await startWriting();
    south.put({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' }, spec: { replicas: 1 } });
    const path = '/apis/apps/v1/namespaces/default/statefulsets/db';
    await client.ask(`${path}/scale`, { method: 'PUT', body: { metadata: { name: 'db' }, spec: { replicas: 4 } } });
    expect(south.writes()).toMatchObject([{ kind: 'StatefulSet', subresource: 'scale', object: { spec: { replicas: 4 } } }]);
  });
});

describe('a hook on writes', () => {
  test('is called before each answer, and may delay it', async () => {
    const { south, apply } = await startWriting();
    const held = Promise.withResolvers<undefined>();
    const told: string[] = [];
    using _hook = south.onWrite((write) => {
      told.push(briefly(write));
      return held.promise;
    });
    const answer = apply('a', { k: '1' });
    while (told.length === 0) await new Promise(setImmediate);
    expect([south.get('ConfigMap', 'a')?.data, south.requests.at(-1)?.status]).toEqual([{ k: '1' }, undefined]);
    held.resolve(undefined);
    expect([(await answer).status, told]).toEqual([201, ['1 patch a created']]);
  });

  test('may lose the answer: the write is stored, and the caller gets no answer', async () => {
    const { south, apply, client } = await startWriting();
    const hook = south.onWrite(({ seq }) => (seq === 2 ? 'lost' : undefined));
    expect((await apply('a', {})).status).toBe(201);
    expect(await apply('b', {})).toMatchObject({ status: 0, end: 'reset' });
    expect(south.get('ConfigMap', 'b')).toBeDefined();
    expect((await client.ask(`${configMaps}/b`, { method: 'DELETE' })).status).toBe(200);
    hook[Symbol.dispose]();
    expect((await apply('c', {})).status).toBe(201);
  });

  test('is not called for dry runs or refused writes', async () => {
    const { south, apply } = await startWriting();
    const told: string[] = [];
    south.onWrite((write) => void told.push(write.name));
    await apply('a', {}, { query: '&dryRun=All' });
    await apply('b', {}, { metadata: { uid: 'none' } });
    expect(told).toEqual([]);
  });
});

describe('refused writes', () => {
  test.each<readonly [WriteRefusal, object]>([
    [{ type: 'quota' }, { code: 403, reason: 'Forbidden', message: expect.stringContaining('exceeded quota') }],
    [
      { type: 'denied', message: 'no' },
      { code: 403, message: expect.stringContaining('denied the request: no') },
    ],
    [{ type: 'webhookTimeout' }, { code: 500, reason: 'InternalError', message: expect.stringContaining('deadline exceeded') }],
    [
      { type: 'invalid', field: 'data.k' },
      { code: 422, details: { causes: [{ field: 'data.k' }] } },
    ],
  ])('have their cause: %j', async (refusal, expected) => {
    const { south, apply, client } = await startWriting();
    const refusing = south.refuseWrites(refusal, { kind: 'ConfigMap' });
    for (const query of ['', '&dryRun=All']) expect(bodyOf(await apply('a', {}, { query }))).toMatchObject(expected);
    expect(bodyOf(await client.ask(configMaps, { method: 'POST', body: { metadata: { name: 'a' } } }))).toMatchObject(expected);
    expect([south.get('ConfigMap', 'a'), south.writes()]).toEqual([undefined, []]);
    refusing[Symbol.dispose]();
    expect((await apply('a', {})).status).toBe(201);
  });

  test('may be limited to a namespace, verb or number', async () => {
    const { south, apply, client } = await startWriting();
    south.refuseWrites({ type: 'quota' }, { verb: 'patch', times: 1 });
    south.refuseWrites({ type: 'quota' }, { namespace: 'elsewhere' });
    expect((await client.ask(configMaps, { method: 'POST', body: { metadata: { name: 'made' } } })).status).toBe(201);
    expect([(await apply('a', {})).status, (await apply('a', {})).status]).toEqual([403, 201]);
  });
});

describe('a Service', () => {
  const services = '/api/v1/namespaces/default/services';
  const assigned = { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster', ipFamilies: ['IPv4'] };
  const spec = { ports: [{ port: 80 }] };

  // A kube-apiserver 1.36 sends one ADDED event per created Service, with all of these fields.
  test('has its address and defaults in the first event of a watch', async () => {
    const { south, client } = await startWriting();
    const seen: (readonly [string, unknown])[] = [];
    south.observe(({ type, object }) => {
      if (object.kind === 'Service') seen.push([type, object.spec]);
    });
    const posted = bodyOf(await client.ask(services, { method: 'POST', body: { metadata: { name: 'posted' }, spec } }));
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const manifest = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'applied' }, spec };
    const applied = bodyOf(await client.ask(`${services}/applied?fieldManager=me`, { method: 'PATCH', headers, body: manifest }));
    for (const made of [posted, applied])
      expect(made.spec).toMatchObject({ ...spec, ...assigned, clusterIP: expect.stringMatching(/^10\./) });
    expect(seen).toEqual([
      ['ADDED', posted.spec],
      ['ADDED', applied.spec],
    ]);
    expect(JSON.stringify([posted, applied].map(({ metadata }) => metadata.managedFields))).not.toContain('clusterIP');
  });

  test('keeps its address if an update has none, and loses it as an ExternalName', async () => {
    const { client } = await startWriting();
    const made = bodyOf(await client.ask(services, { method: 'POST', body: { metadata: { name: 'web' }, spec } }));
    const put = async (next: object) =>
      bodyOf(await client.ask(`${services}/web`, { method: 'PUT', body: { metadata: { name: 'web' }, spec: next } })).spec;
    expect(await put({ ports: [{ port: 81 }] })).toEqual({ ...(made.spec as object), ports: [{ port: 81 }] });
    const external = { type: 'ExternalName', externalName: 'example.com' };
    expect(await put(external)).toEqual({ ...external, sessionAffinity: 'None' });
  });

  test('that is headless stays headless', async () => {
    const { client } = await startWriting();
    const headless = { ...spec, clusterIP: 'None' };
    const made = bodyOf(await client.ask(services, { method: 'POST', body: { metadata: { name: 'peers' }, spec: headless } }));
    expect(made.spec).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
  });
});

describe('impersonation', () => {
  const review = (verb: string) => ({
    method: 'POST',
    body: { spec: { resourceAttributes: { verb, group: '', resource: 'configmaps', namespace: 'default' } } },
    headers: { 'impersonate-user': 'alice' },
  });
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

  test('uses the rights of the impersonated user', async () => {
    const { south, client, apply } = await startWriting();
    south.forbid({ users: ['alice'], verbs: ['patch'], kind: 'ConfigMap' });
    const refused = bodyOf(await apply('a', {}, { headers: { 'impersonate-user': 'alice' } }));
    expect(refused).toMatchObject({ code: 403, message: expect.stringContaining('User "alice" cannot patch resource "configmaps"') });
    expect((await apply('a', {}, { headers: { 'impersonate-user': 'bob' } })).status).toBe(201);
    expect((await apply('a', {})).status).toBe(200);
    expect([(await client.read(reviews, review('patch'))).status, (await client.read(reviews, review('get'))).status]).toEqual([
      { allowed: false },
      { allowed: true },
    ]);
  });

  test('needs its own permission', async () => {
    const { south, apply } = await startWriting();
    south.forbid({ verbs: ['impersonate'] });
    const refused = bodyOf(await apply('a', {}, { headers: { 'impersonate-user': 'alice' } }));
    expect(refused).toMatchObject({ code: 403, message: expect.stringContaining('cannot impersonate resource "users"') });
    expect((await apply('a', {})).status).toBe(201);
  });
});
