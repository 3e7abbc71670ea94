import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { pruneCopies } from '../../../src/propagate/apply/remove-copies.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import type { CopyReason } from '../../../src/propagate/model/propagation.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import type { WriteRefusal } from '../../support/sim/misbehaviours.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';
import { type CopyBench, createCopyBench, widgetKind } from './copy-bench.ts';

const settings = (namespace: string, name = 'settings', data: JsonObject = { a: '1' }): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const workload = (namespace: string, app: string, more: JsonObject = {}): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    ...more,
  },
});
const widget = (namespace: string): Manifest => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'gear', namespace },
  spec: { teeth: 3 },
});
const definition: Manifest = {
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
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { teeth: { type: 'integer' } } } } },
        },
      },
    ],
  },
};

const applyAll = async (bench: CopyBench, manifests: readonly Manifest[], more: Parameters<CopyBench['work']>[0] = {}) =>
  applyCopies(bench.work(more), await Promise.all(manifests.map((manifest) => bench.rendered(manifest))), never);

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`refusals of ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    test.each<readonly [string, CopyReason, string, (bench: CopyBench) => Promise<Manifest>]>([
      ['a missing namespace', 'NamespaceMissing', 'namespaces "nowhere" not found', async () => settings('nowhere')],
      [
        'a namespace that is being deleted',
        'Terminating',
        'metadata.namespace: NamespaceTerminating',
        async (bench) => {
          const name = `${bench.namespace}-going`;
          const place: Manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, finalizers: ['example.com/slow'] } };
          await bench.writeAsOther(place);
          await bench.writeAsOther(place, { verb: 'delete' });
          return settings(name);
        },
      ],
      [
        'an immutable field',
        'Immutable',
        'spec.selector: FieldValueInvalid',
        async (bench) => {
          await applyAll(bench, [workload(bench.namespace, 'web')]);
          return workload(bench.namespace, 'other');
        },
      ],
      [
        'a field that is not in the schema',
        'Invalid',
        '.spec.replicaz: field not declared in schema',
        async (bench) => workload(bench.namespace, 'web', { replicaz: 3 }),
      ],
      [
        'a Secret with invalid base64',
        'Invalid',
        'illegal base64 data at input byte 3',
        async (bench) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: bench.namespace }, data: { a: 'bm8!' } }),
      ],
      [
        'an invalid quantity',
        'Invalid',
        'quantities must match the regular expression',
        async (bench) => {
          const resources = { requests: { cpu: '1 core' } };
          const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1', resources }] } };
          return workload(bench.namespace, 'web', { template });
        },
      ],
      [
        'an object that is too large',
        'Invalid',
        'at most 1.5 MiB',
        async (bench) => settings(bench.namespace, 'big', { a: 'x'.repeat(1_600_000) }),
      ],
    ])('%s has the reason %s and stops no other copy (D5, D15)', async (_title, reason, words, makeManifest) => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = await makeManifest(bench);
      const other = settings(bench.namespace, 'other');
      const { result, copies } = await applyAll(bench, [manifest, other]);
      expect(result).toBe('done');
      expect(copies).toMatchObject([{ action: 'Failed', reason }, { action: 'Created' }]);
      // Muster retries soon if another user may remove the cause.
      expect(copies[0]?.fault?.retry).toBe(['NamespaceMissing', 'Terminating'].includes(reason) ? 'LATER' : 'NEVER');
      expect(copies[0]?.message).toContain(words);
      const entry = bench.shares.kept?.entries.find(({ key }) => key.name === manifest.metadata.name && key.kind === manifest.kind);
      expect(entry?.fault).toMatchObject({ count: 1, message: copies[0]?.message, since: new Date(bench.clock.now()).toISOString() });
      await bench.clock.advance(1_000);
      await applyAll(bench, [manifest]);
      const again = bench.shares.kept?.entries.find(({ key }) => key.name === manifest.metadata.name && key.kind === manifest.kind);
      expect(again?.fault).toMatchObject({ count: 2, since: entry?.fault?.since });
    });

    test('no message contains a refused value', async () => {
      using bench = await createCopyBench(server.endpoint);
      const secret = 'hunter2';
      await applyAll(bench, [workload(bench.namespace, 'web')]);
      const { copies } = await applyAll(bench, [workload(bench.namespace, secret), workload(bench.namespace, 'web', { replicas: secret })]);
      expect(copies.map(({ action }) => action)).toEqual(['Failed', 'Failed']);
      expect(JSON.stringify([bench.shares.kept, copies.map(({ message }) => message)])).not.toContain(secret);
    });

    test('a copy of an unserved kind is written once the CustomResourceDefinition exists (D15)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const gear = widget(bench.namespace);
      const before = await applyCopies(
        bench.work(),
        [{ ...(await bench.rendered(settings(bench.namespace))), key: keyOf(gear), desired: gear }],
        never,
      );
      expect(before.copies).toMatchObject([{ action: 'Failed', reason: 'ApiMissing' }]);
      const made = await applyAll(bench, [gear, definition], { conflict: 'Adopt' });
      expect(made.copies.map(({ action }) => action)[1]).not.toBe('Failed');
      // The server needs a moment before it serves a new definition.
      let copies = made.copies;
      for (let turn = 0; turn < 200 && copies[0]?.action !== 'Created' && copies[0]?.action !== 'Unchanged'; turn += 1) {
        expect(copies[0]).toMatchObject({ action: 'Failed', reason: 'ApiMissing', fault: { retry: 'LATER' } });
        await new Promise((resolve) => setImmediate(resolve));
        ({ copies } = await applyAll(bench, [gear, definition], { conflict: 'Adopt' }));
      }
      expect((await bench.live(gear))?.spec).toEqual({ teeth: 3 });
      const served = await applyAll(bench, [gear], { served: () => widgetKind });
      expect(served.copies).toMatchObject([{ action: 'Unchanged' }]);
      await bench.writeAsOther(definition, { verb: 'delete' });
    });

    test('copies of a kind that is no longer served count as deleted once live discovery confirms it', async () => {
      using bench = await createCopyBench(server.endpoint);
      const gear = widget(bench.namespace);
      const serve = async () => (await bench.client.serves(keyOf(gear), never)) === true;
      const until = async (isSo: () => Promise<boolean>) => {
        for (let turn = 0; turn < 2_000 && !(await isSo()); turn += 1) await new Promise((resolve) => setImmediate(resolve));
      };
      await until(async () => (await bench.live(definition)) === undefined);
      await bench.writeAsOther(definition);
      await until(serve);
      const work = (served: () => typeof widgetKind | 'absent') => bench.work({ served });
      const rendered = [await bench.rendered(gear)];
      await until(
        async () =>
          (
            await applyCopies(
              work(() => widgetKind),
              rendered,
              never,
            )
          ).copies[0]?.action !== 'Failed',
      );
      const early = await pruneCopies(
        work(() => 'absent'),
        rendered,
        never,
      );
      expect(early.copies).toMatchObject([{ action: 'Failed', reason: 'ApiMissing', state: 'Deleting' }]);
      await bench.writeAsOther(definition, { verb: 'delete' });
      await until(async () => !(await serve()));
      const late = await pruneCopies(
        work(() => 'absent'),
        rendered,
        never,
      );
      expect(late.copies).toMatchObject([{ action: 'Deleted' }]);
      expect(bench.shares.kept).toBeUndefined();
    });

    test('no copy is given up while discovery of the cluster fails', async () => {
      using bench = await createCopyBench(server.endpoint);
      const rendered = [await bench.rendered(settings(bench.namespace))];
      await applyCopies(bench.work(), rendered, never);
      const fault = { code: 'UNREACHABLE', cluster: bench.client.cluster, message: 'no', retry: 'LATER' } as const;
      const client = { ...bench.client, serves: async () => ({ fault }) };
      const outcome = await pruneCopies(bench.work({ client, served: () => 'absent' }), rendered, never);
      expect(outcome.copies).toMatchObject([{ action: 'Failed', reason: 'Unreachable' }]);
      expect(bench.shares.kept?.entries).toMatchObject([{ state: 'PendingDeletion' }]);
    });

    test('a Namespace is created before the objects in it, in any order of the manifests', async () => {
      using bench = await createCopyBench(server.endpoint);
      const place: Manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${bench.namespace}-new` } };
      const { copies } = await applyAll(bench, [settings(place.metadata.name), place]);
      expect(copies.map(({ action }) => action)).toEqual(['Created', 'Created']);
    });

    test('a write that the identity may not do is denied, and no other identity does it (D17)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const client = createObjectClient(bench.api, { as: { user: 'alice', groups: ['dev'], extra: {} } });
      const nobody = await server.outsider(`denied-${bench.namespace}`);
      expect(nobody.url).toBe(server.endpoint.url);
      const manifest = settings(title.includes('real') ? bench.namespace : `denied-${bench.namespace}`);
      const { copies } = await applyAll(
        { ...bench, rendered: async (one) => bench.rendered(settings(bench.namespace), { key: keyOf(one), desired: one }) },
        [manifest],
        { client },
      );
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Denied', fault: { code: 'FORBIDDEN', retry: 'NEVER' } }]);
      expect(await bench.live(settings(bench.namespace))).toBeUndefined();
    });

    test('a Secret gets the data of its source, which are never stored or logged', async () => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      const secret = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } });
      const password = Buffer.from('hunter2').toString('base64');
      await bench.writeAsOther({ ...secret('source'), type: 'example.com/token', data: { password } });
      const secretOf = { cluster: 'hub', namespace, name: 'source' };
      const rendered = await bench.rendered(secret('copy'), { secretOf });
      const { copies } = await applyCopies(bench.work(), [rendered], never);
      expect(copies).toMatchObject([{ action: 'Created' }]);
      const copy = await bench.live(secret('copy'));
      expect(copy).toMatchObject({ type: 'example.com/token', data: { password } });
      expect(JSON.stringify([bench.shares.saves, copies, bench.logged])).not.toContain(password);
      expect(bench.shares.kept?.entries).toMatchObject([{ observedHash: copy?.metadata.resourceVersion }]);

      const pinned = { ...(await bench.rendered(secret('copy'), { secretOf: { ...secretOf, version: '1' } })), desiredHash: 'pinned' };
      const stale = await applyCopies(bench.work(), [pinned], never);
      expect(stale.copies).toMatchObject([{ action: 'Failed', message: 'the source Secret in hub has changed since it was planned' }]);

      await bench.writeAsOther(secret('source'), { verb: 'delete' });
      const changed = { ...(await bench.rendered(secret('copy'), { secretOf })), desiredHash: 'other' };
      const failed = await applyCopies(bench.work(), [changed], never);
      expect(failed.copies).toMatchObject([{ action: 'Failed', reason: 'Invalid', message: 'the source Secret does not exist in hub' }]);
      const gone = await applyCopies(bench.work({ sourceOf: () => undefined }), [changed], never);
      expect(gone.copies).toMatchObject([{ action: 'Failed', fault: { code: 'GONE' } }]);
    });

    test('the token of a ServiceAccount never leaves its cluster (M6)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      const annotations = { 'kubernetes.io/service-account.name': 'robot' };
      const secret = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, annotations } });
      const type = 'kubernetes.io/service-account-token';
      await bench.writeAsOther({ ...secret('source'), type, data: { token: Buffer.from('hunter2').toString('base64') } });
      const rendered = await bench.rendered(secret('copy'), { secretOf: { cluster: 'hub', namespace, name: 'source' } });
      expect((await applyCopies(bench.work(), [rendered], never)).copies).toMatchObject([{ action: 'Created' }]);
      const copy = await bench.live(secret('copy'));
      expect([copy?.type, copy?.data]).toEqual([type, undefined]);
    });

    test('a replacement writes the whole object, keeps the fields of the member cluster, and writes nothing if nothing changes', async () => {
      using bench = await createCopyBench(server.endpoint);
      const spec = { ...bench.work().spec, write: 'Replace' } as const;
      const replace = async (manifest: Manifest, generation: number) =>
        applyCopies(bench.work({ spec, generation }), [await bench.rendered(manifest)], never);
      const labelled = (labels: JsonObject, data: JsonObject): Manifest => {
        const manifest = settings(bench.namespace, 'settings', data);
        return { ...manifest, metadata: { ...manifest.metadata, labels } };
      };
      expect((await replace(labelled({ ours: '1', dropped: '1' }, { a: '1' }), 1)).copies).toMatchObject([{ action: 'Created' }]);
      await bench.writeAsOther(labelled({ theirs: '1' }, { stray: '1' }), { verb: 'merge' });
      expect((await replace(labelled({ ours: '2' }, { a: '2' }), 2)).copies).toMatchObject([{ action: 'Configured', state: 'Owned' }]);
      const object = await bench.live(settings(bench.namespace));
      expect(object?.data).toEqual({ a: '2' });
      expect(object?.metadata.labels).toMatchObject({ ours: '2', theirs: '1' });
      expect(object?.metadata.labels).not.toHaveProperty('dropped');

      const rendered = { ...(await bench.rendered(labelled({ ours: '2' }, { a: '2' }))), desiredHash: 'spelt otherwise' };
      expect((await applyCopies(bench.work({ spec, generation: 2 }), [rendered], never)).copies).toMatchObject([{ action: 'Unchanged' }]);
      expect((await bench.live(settings(bench.namespace)))?.metadata.resourceVersion).toBe(object?.metadata.resourceVersion);
    });
  });
}

const keyOf = ({ apiVersion, kind, metadata: { name, namespace } }: Manifest) => ({
  apiVersion,
  kind,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

describe('refusals by admission and by the network', () => {
  let sim: SimCluster;
  beforeAll(async () => {
    sim = await startSimCluster({ name: 'south' });
  });
  afterAll(() => sim.stop());

  test.each<readonly [WriteRefusal, CopyReason]>([
    [{ type: 'quota' }, 'Quota'],
    [{ type: 'webhookTimeout' }, 'Denied'],
    [{ type: 'denied' }, 'Denied'],
    [{ type: 'invalid', field: 'data' }, 'Invalid'],
  ])('%o has the reason %s and stops no other copy (D5)', async (refusal, reason) => {
    using bench = await createCopyBench(sim);
    using _refused = sim.refuseWrites(refusal, { kind: 'ConfigMap', namespace: bench.namespace });
    const account: Manifest = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace: bench.namespace } };
    const { copies } = await applyAll(bench, [settings(bench.namespace), account, workload(bench.namespace, 'web')]);
    expect(copies).toMatchObject([{ action: 'Failed', reason }, { action: 'Created' }, { action: 'Created' }]);
  });

  test('a lost answer causes no second creation, because the intent token identifies the copy', async () => {
    using bench = await createCopyBench(sim);
    const manifest = settings(bench.namespace);
    {
      using _lost = sim.onWrite(() => 'lost');
      const { copies } = await applyAll(bench, [manifest]);
      expect(copies).toMatchObject([{ action: 'Failed', state: 'Intended', reason: 'Unreachable' }]);
    }
    const written = await bench.live(manifest);
    const { copies } = await applyAll(bench, [manifest]);
    expect(copies).toMatchObject([{ state: 'Owned', uid: written?.metadata.uid }]);
    expect(
      sim.writes().filter(({ name, namespace, result }) => namespace === bench.namespace && name === 'settings' && result === 'created'),
    ).toHaveLength(1);
  });

  test('an unreachable cluster gets no more calls, and the announced entries stay', async () => {
    using bench = await createCopyBench(sim);
    const manifests = ['a', 'b', 'c'].map((name) => settings(bench.namespace, name));
    const rendered = await Promise.all([...manifests, workload(bench.namespace, 'web')].map((manifest) => bench.rendered(manifest)));
    using _down = sim.refuse();
    sim.disconnect();
    const { result, copies } = await applyCopies(bench.work(), rendered, never);
    expect([result, copies.map(({ action, reason }) => `${action} ${reason}`)]).toEqual(['done', rendered.map(() => 'Failed Unreachable')]);
    expect(bench.shares.kept?.entries.every(({ state, intent }) => state === 'Intended' && intent !== undefined)).toBe(true);
  });
});

describe('a cluster that is unreachable while its copies are removed', () => {
  let sim: SimCluster;
  beforeAll(async () => {
    sim = await startSimCluster({ name: 'south' });
  });
  afterAll(() => sim.stop());

  test('keeps the uids for a later deletion, or keeps the copies if they are wanted again', async () => {
    using bench = await createCopyBench(sim);
    const [owned, lost, again] = ['owned', 'lost', 'again'].map((name) => settings(bench.namespace, name));
    if (owned === undefined || lost === undefined || again === undefined) throw new Error('expected manifests');
    const shared = settings(bench.namespace, 'shared', { ours: '1' });
    await bench.writeAsOther(settings(bench.namespace, 'shared', { theirs: '1' }));
    await applyAll(bench, [owned, again]);
    await applyAll(bench, [shared], { conflict: 'ServerSideApply' });
    {
      using _lost = sim.onWrite(() => 'lost');
      await applyAll(bench, [lost]);
    }
    const all = [owned, lost, shared, again];
    const rendered = await Promise.all(all.map((manifest) => bench.rendered(manifest, { action: 'DELETE' })));
    {
      using _down = sim.refuse();
      sim.disconnect();
      const away = await pruneCopies(bench.work(), rendered, never);
      expect(away.copies.map(({ action, state }) => `${action} ${state}`)).toEqual([
        'Failed PendingDeletion',
        'Failed PendingDeletion',
        'Failed Shared',
        'Failed PendingDeletion',
      ]);
    }
    expect((await applyAll(bench, [again])).copies).toMatchObject([{ action: 'Unchanged', state: 'Owned' }]);
    const back = await pruneCopies(bench.work(), rendered.slice(0, 3), never);
    expect(back.copies.map(({ action }) => action)).toEqual(['Deleted', 'Deleted', 'Orphaned']);
    expect((await bench.live(shared))?.data).toEqual({ theirs: '1' });
    expect(bench.shares.kept?.entries).toMatchObject([{ key: { name: 'again' }, state: 'Owned' }]);
    expect(bench.shares.kept?.entries[0]?.fault).toBeUndefined();
  });
});
