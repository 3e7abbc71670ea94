import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createObjectClient } from '../../src/changes/create-object-client.ts';
import type { ApplyObjectRequest, ObjectClient } from '../../src/changes/object-client.ts';
import type { ClusterApi, LiveRequest } from '../../src/cluster/cluster-api.ts';
import { callTyped } from '../../src/cluster/typed-api.ts';
import type { Json } from '../../src/core/json.ts';
import { parseJsonExactly } from '../../src/core/json.ts';
import { type ContractServer, contractServers } from '../contract/contract-server.ts';
import { type Connected, configMapResource, connect, endpointFor, never, resourceOf, until } from '../support/cluster/transport.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const namespaces = resourceOf('Namespace', 'namespaces', { namespaced: false });
const at = (name: string, namespace = 'default') => ({ resource: configMapResource, namespace, name });
const applying = (name: string, data: Json, more: Partial<ApplyObjectRequest> = {}): ApplyObjectRequest => ({
  ...at(name),
  manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data },
  ...{ preconditions: {}, force: false, run: 'real' },
  ...more,
});

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`the objects of ${title}`, () => {
    let server: ContractServer;
    let south: Connected;
    let client: ObjectClient;
    beforeAll(async () => {
      server = await start();
      const { certPem, keyPem } = server.endpoint;
      const data = (pem: string) => ({ type: 'data', data: Buffer.from(pem) }) as const;
      const clientCertificate =
        certPem === undefined || keyPem === undefined ? {} : { clientCertificate: { certificate: data(certPem), key: data(keyPem) } };
      south = connect(endpointFor(server.endpoint, clientCertificate));
      client = createObjectClient(south.api);
    }, 60_000);
    afterAll(async () => {
      south[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });

    test('are read, applied, patched, replaced and deleted, one call each', async () => {
      expect(await client.get(at('whole'), never)).toEqual({ result: 'absent' });
      const made = await client.apply(applying('whole', { a: '1' }, { preconditions: { resourceVersion: '1' } }), never);
      expect(made).toMatchObject({ result: 'answered', isNew: true, warnings: [], object: { data: { a: '1' } } });
      const twice = await client.apply(applying('whole', { a: '2' }, { preconditions: { resourceVersion: '1' }, force: true }), never);
      expect(twice).toMatchObject({ result: 'failed', fault: { code: 'CONFLICT' } });
      const patched = await client.patch(
        { ...at('whole'), type: 'json', patch: [{ op: 'add', path: '/data/b', value: '2' }], run: 'real' },
        never,
      );
      expect(patched).toMatchObject({ result: 'answered', isNew: false, object: { data: { a: '1', b: '2' } } });
      if (patched.result !== 'answered') throw new Error('expected an object');
      const replaced = await client.replace({ ...at('whole'), object: { ...patched.object, data: { c: '3' } }, run: 'real' }, never);
      expect(replaced).toMatchObject({ result: 'answered', object: { data: { c: '3' } } });
      const stale = await client.replace({ ...at('whole'), object: patched.object, run: 'real' }, never);
      expect(stale).toMatchObject({ result: 'failed', fault: { code: 'CONFLICT', retry: 'LATER' } });
      const { uid } = patched.object.metadata;
      const other = { ...at('whole'), preconditions: { uid: 'another' }, cascade: 'Background', run: 'real' } as const;
      expect(await client.delete(other, never)).toMatchObject({ result: 'failed', fault: { code: 'CONFLICT' } });
      const gone = await client.delete({ ...other, preconditions: { uid } }, never);
      expect(gone).toMatchObject({ result: 'answered', object: { metadata: { name: 'whole', uid } } });
      expect(await client.delete({ ...other, preconditions: {} }, never)).toEqual({ result: 'absent' });
    });

    test('a dry run writes nothing and validates strictly', async () => {
      const dry = { run: 'dry', preconditions: { resourceVersion: '1' } } as const;
      expect(await client.apply(applying('dry', { a: '1' }, dry), never)).toMatchObject({ result: 'answered', isNew: true });
      expect(await client.get(at('dry'), never)).toEqual({ result: 'absent' });
      await client.apply(applying('dry', { a: '1' }), never);
      const strict = await client.patch({ ...at('dry'), type: 'merge', patch: { zzz: 1 }, run: 'dry' }, never);
      expect(strict).toMatchObject({ result: 'failed', fault: { code: 'INVALID' } });
      const lax = await client.patch({ ...at('dry'), type: 'merge', patch: { zzz: 1 }, run: 'real' }, never);
      expect(lax).toMatchObject({ result: 'answered', warnings: ['unknown field "zzz"'] });
      await client.delete({ ...at('dry'), preconditions: {}, cascade: 'Background', run: 'dry' }, never);
      expect(await client.get(at('dry'), never)).toMatchObject({ result: 'answered' });
    });

    test('an object in a missing namespace is absent for a read and a failure for a write', async () => {
      expect(await client.get(at('x', 'nowhere'), never)).toEqual({ result: 'absent' });
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'nowhere' } };
      const written = await client.apply({ ...applying('x', {}, { manifest }), ...at('x', 'nowhere') }, never);
      expect(written).toMatchObject({ result: 'failed', fault: { code: 'NOT_FOUND' } });
      expect(await client.get({ resource: namespaces, name: 'nowhere' }, never)).toEqual({ result: 'absent' });
    });

    test('text is written unchanged, even if YAML gives its characters a meaning', async () => {
      const text = 'a\u2028b\u2029c\u0085d\u007fe\ufefff\ufffeg\u0080h\ti\nj😀: "{[&*!|>%@`';
      const answer = await client.apply(applying('text', { text }), never);
      expect(answer.result === 'answered' && answer.object.data).toEqual({ text });
    });

    test.each([
      { apiVersion: 'v1', kind: 'ConfigMap', expected: true },
      { apiVersion: 'apps/v1', kind: 'Deployment', expected: true },
      // This kind occurs in a subresource only.
      { apiVersion: 'apps/v1', kind: 'Scale', expected: false },
      { apiVersion: 'apps/v1', kind: 'Gear', expected: false },
      { apiVersion: 'nobody.example.com/v1', kind: 'Gear', expected: false },
    ])('reports whether $kind of $apiVersion is served: $expected', async ({ expected, ...kind }) => {
      expect(await client.serves(kind, never)).toBe(expected);
    });

    test('reports whether the identity has a right', async () => {
      expect(await client.may({ resource: configMapResource, namespace: 'default', verb: 'create' }, never)).toBe(true);
      const outsider = createObjectClient(south.api, { as: { user: 'nobody-knows', groups: [], extra: {} } });
      await server.outsider('forbidden');
      expect(await outsider.may({ resource: configMapResource, namespace: 'forbidden', verb: 'delete' }, never)).toBe(false);
    });
  });
}

/** A call whose request waits for the answer of the test. */
interface Held {
  readonly request: LiveRequest;
  readonly answer: () => void;
}

describe('calls', () => {
  let calls: Held[] = [];
  beforeEach(() => {
    calls = [];
  });
  const okay = { type: 'answered', status: 200, body: Buffer.from('{"kind":"ConfigMap","metadata":{"name":"a"}}') } as const;
  const held = (): ClusterApi =>
    ({
      cluster: 'south',
      send: (request: LiveRequest) => new Promise((resolve) => void calls.push({ request, answer: () => resolve(okay) })),
    }) as unknown as ClusterApi;

  test('to one cluster are at most ten writes at a time from all writers, and reads do not wait', async () => {
    const api = held();
    const [one, other] = [createObjectClient(api), createObjectClient(api, { as: { user: 'alice', groups: [], extra: {} } })];
    const writes = Array.from({ length: 25 }, (_, index) => (index % 2 === 0 ? one : other).apply(applying(`w-${index}`, {}), never));
    void one.get(at('read'), never);
    await until(() => calls.length === 11);
    for (let done = 0; done < 25; done += 1) {
      const write = calls.findIndex(({ request }) => request.method === 'PATCH');
      expect(calls.filter(({ request }) => request.method === 'PATCH').length).toBe(Math.min(10, 25 - done));
      calls.splice(write, 1)[0]?.answer();
      await until(() => calls.filter(({ request }) => request.method === 'PATCH').length === Math.min(10, 24 - done));
    }
    expect((await Promise.all(writes)).every(({ result }) => result === 'answered')).toBe(true);
  });

  test('users take turns, so that a user with many writes does not delay another', async () => {
    const api = held();
    const clientOf = (user: string) => createObjectClient(api, { as: { user, groups: [], extra: {} } });
    const writersOf = () => calls.map(({ request }) => request.as?.user ?? 'gateway');
    const mine = Array.from({ length: 1_000 }, (_, index) => clientOf('eve').apply(applying(`w-${index}`, {}), never));
    await until(() => calls.length === 8);
    // Two of the ten places are left to the others. Then each has a turn.
    const others = ['ann', 'bob', 'ann'].map((user) => clientOf(user).apply(applying(`of-${user}`, {}), never));
    others.push(createObjectClient(api).apply(applying('own', {}), never));
    await until(() => calls.length === 10);
    expect(writersOf().slice(8)).toEqual(['ann', 'bob']);
    for (const call of calls.splice(0, 3)) call.answer();
    await until(() => calls.length === 10);
    expect(writersOf().slice(7).toSorted()).toEqual(['ann', 'eve', 'gateway']);
    const rest = Promise.all([...mine, ...others]);
    let isDone = false;
    void rest.then(() => {
      isDone = true;
    });
    await until(() => {
      for (const call of calls.splice(0)) call.answer();
      return isDone;
    });
    expect((await rest).every(({ result }) => result === 'answered')).toBe(true);
  });

  test('the gateway itself may use all ten places', async () => {
    const client = createObjectClient(held());
    const writes = Array.from({ length: 10 }, (_, index) => client.apply(applying(`w-${index}`, {}), never));
    await until(() => calls.length === 10);
    for (const call of calls) call.answer();
    await Promise.all(writes);
  });

  test('a typed call does not wait in the write queue', async () => {
    const api = held();
    const client = createObjectClient(api);
    const writes = Array.from({ length: 10 }, (_, index) => client.apply(applying(`w-${index}`, {}), never));
    await until(() => calls.length === 10);
    const first = callTyped(api, ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name: 'first' }), {
      signal: never,
    });
    await until(() => calls.length === 11);
    expect(calls.at(-1)?.request.path.at(-1)).toBe('first');
    for (const call of calls) call.answer();
    await Promise.all([...writes, first]);
  });

  test('to all clusters are at most 256 writes at a time', async () => {
    const clients = Array.from({ length: 30 }, () => createObjectClient(held()));
    const writes = clients.flatMap((client) => Array.from({ length: 10 }, (_, index) => client.apply(applying(`w-${index}`, {}), never)));
    await until(() => calls.length === 256);
    for (let done = 0; done < 300; done += 1) {
      await until(() => calls.length > 0);
      expect(calls.length).toBeLessThanOrEqual(256);
      calls.shift()?.answer();
    }
    await Promise.all(writes);
  });

  test('that waited and are no longer allowed are not sent', async () => {
    let mayWrite = true;
    const client = createObjectClient(held());
    const end = new AbortController();
    const first = Array.from({ length: 10 }, (_, index) => client.apply(applying(`w-${index}`, {}), never));
    const late = client.apply(applying('late', {}, { mayWrite: () => mayWrite }), never);
    const aborted = client.apply(applying('aborted', {}), end.signal);
    await until(() => calls.length === 10);
    end.abort();
    expect(await aborted).toMatchObject({ result: 'failed', fault: { code: 'TIMED_OUT' } });
    mayWrite = false;
    for (const call of calls.splice(0)) call.answer();
    await Promise.all(first);
    expect(await late).toMatchObject({ result: 'failed', fault: { code: 'TIMED_OUT' } });
    expect(calls).toEqual([]);
  });

  test('an object above 1.5 MiB in bytes is not sent, a smaller one is', async () => {
    const client = createObjectClient(held());
    const large = ['x'.repeat(1.6 * 1024 * 1024), 'é'.repeat(0.8 * 1024 * 1024)];
    for (const text of large) {
      expect(await client.apply(applying('large', { text }), never)).toMatchObject({
        result: 'failed',
        fault: { code: 'TOO_LARGE', retry: 'NEVER' },
      });
    }
    void client.apply(applying('small', { text: 'x'.repeat(1.4 * 1024 * 1024) }), never);
    await until(() => calls.length === 1);
  });

  test('have the right paths, queries and media types', async () => {
    const client = createObjectClient(held());
    const deployments = resourceOf('Deployment', 'deployments', { group: 'apps' });
    void client.patch({ resource: deployments, namespace: 'n', name: 'web', type: 'strategic', patch: {}, run: 'real' }, never);
    void client.patch(
      { resource: deployments, namespace: 'n', name: 'web', type: 'merge', subresource: 'scale', patch: {}, run: 'dry' },
      never,
    );
    void client.apply({ ...applying('x', {}), resource: namespaces, name: 'x', namespace: undefined, force: true }, never);
    void client.delete(
      {
        resource: deployments,
        namespace: 'n',
        name: 'web',
        preconditions: { uid: 'u', resourceVersion: '7' },
        cascade: 'Foreground',
        run: 'dry',
      },
      never,
    );
    await until(() => calls.length === 4);
    expect(calls.map(({ request }) => request)).toMatchObject([
      {
        path: ['apis', 'apps', 'v1', 'namespaces', 'n', 'deployments', 'web'],
        query: { fieldManager: 'muster' },
        contentType: 'application/strategic-merge-patch+json',
      },
      {
        path: ['apis', 'apps', 'v1', 'namespaces', 'n', 'deployments', 'web', 'scale'],
        query: { dryRun: 'All', fieldValidation: 'Strict' },
      },
      {
        path: ['api', 'v1', 'namespaces', 'x'],
        query: { fieldManager: 'muster', force: 'true' },
        contentType: 'application/apply-patch+yaml',
      },
      { method: 'DELETE', body: { propagationPolicy: 'Foreground', preconditions: { uid: 'u', resourceVersion: '7' }, dryRun: ['All'] } },
    ]);
  });
});

describe('names and numbers', () => {
  let sim: SimCluster;
  beforeEach(async () => {
    sim = await startSimCluster({ name: 'south' });
  });
  afterEach(() => sim.stop());

  // A11: a name is one path segment or is refused.
  test.each(['a/b', '%2f', 'a\nb', 'x'.repeat(254), '😀', '*', 'a?b=c', '#'])('the name %j is one segment', async (name) => {
    using south = connect(endpointFor(sim));
    await createObjectClient(south.api).get(at(name), never);
    expect(sim.requests.map(({ path }) => path)).toEqual([`/api/v1/namespaces/default/configmaps/${encodeURIComponent(name)}`]);
  });

  test.each(['', '.', '..'])('the name %j is refused', async (name) => {
    using south = connect(endpointFor(sim));
    expect(await createObjectClient(south.api).get(at(name), never)).toMatchObject({ result: 'failed', fault: { code: 'INVALID' } });
    expect(sim.requests).toEqual([]);
  });

  test('integers beyond 2⁵³ are read and written exactly (A10)', async () => {
    using south = connect(endpointFor(sim));
    const client = createObjectClient(south.api);
    const spec = parseJsonExactly('{"most":9007199254740993,"less":1}');
    sim.define({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    const widgets = resourceOf('Widget', 'widgets', { group: 'example.com' });
    const manifest = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'gear', namespace: 'default' }, spec };
    const place = { resource: widgets, namespace: 'default', name: 'gear' };
    const written = await client.apply({ ...place, manifest, preconditions: {}, force: false, run: 'real' }, never);
    expect(written.result === 'answered' && JSON.stringify(written.object.spec)).toContain('9007199254740993');
    const read = await client.get(place, never);
    expect(read.result === 'answered' && JSON.stringify(read.object.spec)).toContain('9007199254740993');
  });
});
