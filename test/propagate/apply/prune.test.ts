import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fieldManager, type ObjectClient } from '../../../src/changes/object-client.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { pruneCopies } from '../../../src/propagate/apply/remove-copies.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { CopiesOutcome, CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';
import { owner } from './memory-shares.ts';

const settings = (namespace: string, name = 'settings'): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { ours: '1' },
});

const kept = { policy: 'Orphan', cascade: 'Background' } as const;
const brief = ({ copies }: CopiesOutcome) => copies.map(({ action, state }) => (state === undefined ? action : `${action} ${state}`));

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`removing copies from ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const apply = async (bench: CopyBench, manifests: readonly Manifest[], more: Parameters<CopyBench['work']>[0] = {}) =>
      applyCopies(bench.work(more), await Promise.all(manifests.map((manifest) => bench.rendered(manifest))), never);
    const prune = async (bench: CopyBench, manifests: readonly Manifest[], more: Partial<CopyWork> = {}) =>
      pruneCopies(bench.work(more), await Promise.all(manifests.map((manifest) => bench.rendered(manifest, { action: 'DELETE' }))), never);

    test('deletes the copies of the inventory by their uids, and removes the empty share (D8)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifests = [settings(bench.namespace, 'a'), settings(bench.namespace, 'b')];
      await apply(bench, manifests);
      expect(brief(await prune(bench, manifests.slice(0, 1)))).toEqual(['Deleted']);
      expect(bench.shares.kept?.entries.map(({ key }) => key.name)).toEqual(['b']);
      const last = await prune(bench, manifests.slice(1));
      expect([brief(last), last.share.version, bench.shares.kept]).toEqual([['Deleted'], undefined, undefined]);
      expect(await bench.live(settings(bench.namespace, 'a'))).toBeUndefined();
    });

    test('confirms the inventory under its version before any deletion, so entries that the hub lost prove nothing (D8)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifests = [settings(bench.namespace, 'a'), settings(bench.namespace, 'b')];
      await apply(bench, manifests);
      const known = bench.work();
      const lost = await bench.shares.remove(known.share, never);
      expect(lost.result).toBe('removed');
      const rendered = await Promise.all(manifests.map((manifest) => bench.rendered(manifest, { action: 'DELETE' })));
      for (const how of ['delete', 'release'] as const) {
        const spec = { ...known.spec, ...(how === 'release' ? { deletion: kept } : {}) };
        const outcome = await pruneCopies({ ...known, spec }, rendered, never);
        expect([outcome.result, outcome.copies]).toEqual(['stopped', []]);
      }
      for (const manifest of manifests) expect((await bench.live(manifest))?.metadata.labels?.[marks.propagation]).toBe(owner.uid);
      expect(bench.logged).toMatchObject([
        { message: expect.stringContaining('the inventory on the hub has changed since it was read') },
        {},
      ]);
    });

    test('the inventory has a copy as Deleting before its deletion is sent', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      const states: unknown[] = [];
      const client: ObjectClient = {
        ...bench.client,
        delete(request, signal) {
          states.push(bench.shares.kept?.entries.map(({ state }) => state));
          return bench.client.delete(request, signal);
        },
      };
      await prune(bench, [manifest], { client });
      expect(states).toEqual([['Deleting']]);
    });

    test('changes no object that is not in the inventory, whatever its labels are (D9)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, labels: { [marks.propagation]: owner.uid } } });
      expect(brief(await prune(bench, [manifest]))).toEqual(['Skipped']);
      expect(await bench.live(manifest)).toBeDefined();
    });

    test('keeps an object that was recreated since the last save of the inventory, and removes the entry', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      const copy = await bench.live(manifest);
      await bench.writeAsOther(manifest, { verb: 'delete' });
      // The object has all marks, the intent token included. Only the uid is proof.
      const { labels = {}, annotations = {} } = copy?.metadata ?? {};
      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, labels, annotations } });
      expect(brief(await prune(bench, [manifest]))).toEqual(['Skipped']);
      expect(await bench.live(manifest)).toBeDefined();
      expect(bench.shares.kept).toBeUndefined();
    });

    test.each([
      { what: 'deleted', more: {} },
      { what: 'released', more: { deletion: kept } },
      { what: 'given back', more: { rollback: { targetRevision: 0, oldValues: [] } } },
    ])('a copy that another Propagation wrote later is not $what: its entry is removed and the log has a line', async ({ more }) => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      const marked = { labels: { [marks.propagation]: 'uid-of-another' }, annotations: { [marks.source]: 'apps/another' } };
      const by = { verb: 'merge', manager: fieldManager } as const;
      const taken = await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, ...marked } }, by);
      const { deletion, ...rest } = { deletion: bench.work().spec.deletion, ...more };
      const { copies } = await prune(bench, [manifest], { ...rest, spec: { ...bench.work().spec, deletion } });
      const message = expect.stringContaining('it belongs to another Propagation: apps/another');
      expect(copies).toMatchObject([{ action: 'Skipped', message }]);
      expect([bench.shares.kept, bench.logged]).toMatchObject([undefined, [{ message, propagation: 'apps/web' }]]);
      expect((await bench.live(manifest))?.metadata).toEqual(taken.metadata);
    });

    test('a label of another Propagation that another manager wrote does not protect a copy from deletion', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      await bench.writeAsOther(
        { ...manifest, metadata: { ...manifest.metadata, labels: { [marks.propagation]: 'x' } } },
        { verb: 'merge' },
      );
      expect(brief(await prune(bench, [manifest]))).toEqual(['Deleted']);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('keeps an object that is recreated between the read and the deletion (D10)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      let races = 1;
      const racing: ObjectClient = {
        ...bench.client,
        async get(address, signal) {
          const answer = await bench.client.get(address, signal);
          if (races-- > 0) {
            await bench.writeAsOther(manifest, { verb: 'delete' });
            await bench.writeAsOther(manifest);
          }
          return answer;
        },
      };
      expect(brief(await prune(bench, [manifest], { client: racing }))).toEqual(['Skipped']);
      expect(await bench.live(manifest)).toBeDefined();
    });

    test('deletes a copy that another manager changes between the read and the deletion', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      let races = 2;
      const racing: ObjectClient = {
        ...bench.client,
        async get(address, signal) {
          const answer = await bench.client.get(address, signal);
          if (races-- > 0) await bench.writeAsOther({ ...manifest, data: { theirs: String(races) } }, { verb: 'merge' });
          return answer;
        },
      };
      expect(brief(await prune(bench, [manifest], { client: racing }))).toEqual(['Deleted']);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('waits for foreign finalizers, reports since when, and makes no call meanwhile (D13)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest]);
      const finalizers = ['example.com/backup'];
      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, finalizers } }, { verb: 'merge' });
      const first = await prune(bench, [manifest]);
      const since = (await bench.live(manifest))?.metadata.deletionTimestamp;
      const message = `its deletion began at ${since} and waits for example.com/backup`;
      expect(first.copies).toMatchObject([{ action: 'Deleted', state: 'Deleting', reason: 'ForeignFinalizer', message }]);
      expect(bench.shares.kept?.entries).toMatchObject([{ state: 'Deleting', fault: { since, message } }]);

      const saves = bench.shares.saves.length;
      const unused = { ...bench.client, get: () => Promise.reject(new Error('asked')), delete: () => Promise.reject(new Error('asked')) };
      expect((await prune(bench, [manifest], { client: unused })).copies).toEqual(first.copies);
      expect(bench.shares.saves).toHaveLength(saves);
      expect((await bench.live(manifest))?.metadata.finalizers).toEqual(finalizers);

      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, finalizers: [] } }, { verb: 'merge' });
      expect(brief(await prune(bench, [manifest]))).toEqual(['Deleted']);
      expect(bench.shares.kept).toBeUndefined();
    });

    test('with policy Orphan the object stays complete, without marks and field ownership of Muster', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [{ ...manifest, metadata: { ...manifest.metadata, labels: { app: 'web' } } }]);
      const spec = { ...bench.work().spec, deletion: kept };
      expect(brief(await prune(bench, [manifest], { spec }))).toEqual(['Orphaned']);
      const object = await bench.live(manifest);
      expect(object).toMatchObject({ data: { ours: '1' }, metadata: { labels: { app: 'web' } } });
      expect(object?.metadata.labels).toEqual({ app: 'web' });
      expect(Object.keys(object?.metadata.annotations ?? {})).toEqual([]);
      expect(JSON.stringify(object?.metadata.managedFields ?? [])).not.toContain('muster');
    });

    test('a shared object stays with its owner: only Muster’s fields are removed', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await bench.writeAsOther({ ...manifest, data: { theirs: '1', both: '1' } }, { manager: 'argocd', verb: 'apply' });
      const ours = { ...manifest, data: { ours: '1', both: '1' } };
      await apply(bench, [ours], { conflict: 'ServerSideApply' });
      expect((await bench.live(manifest))?.data).toEqual({ theirs: '1', both: '1', ours: '1' });
      expect(brief(await prune(bench, [manifest]))).toEqual(['Orphaned']);
      const object = await bench.live(manifest);
      expect(object?.data).toEqual({ theirs: '1', both: '1' });
      expect(object?.metadata.labels?.[marks.propagation]).toBeUndefined();
      expect(object?.metadata.managedFields).toMatchObject([{ manager: 'argocd' }]);
    });

    test('a copy of a later generation is not deleted until a user resumes after its Stale fault', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      await apply(bench, [manifest], { generation: 3 });
      const { copies } = await prune(bench, [manifest], { generation: 2 });
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Stale', fault: { retry: 'LATER' } }]);
      expect(await bench.live(manifest)).toBeDefined();
      expect(brief(await prune(bench, [manifest], { generation: 2, resumedAtMs: bench.clock.now() + 1 }))).toEqual(['Deleted']);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('a copy whose uid was not saved is found by its intent token', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace);
      const lost = { ...bench.shares, save: bench.shares.save };
      let saves = 0;
      lost.save = async (share, signal) => (saves++ === 0 ? bench.shares.save(share, signal) : { result: 'conflict' });
      const outcome = await apply(bench, [manifest], { shares: lost });
      expect(outcome.result).toBe('stopped');
      expect(bench.shares.kept?.entries).toMatchObject([{ state: 'Intended' }]);
      expect(brief(await prune(bench, [manifest]))).toEqual(['Deleted']);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('a Namespace is deleted after the copies in it', async () => {
      using bench = await createCopyBench(server.endpoint);
      const place: Manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${bench.namespace}-more` } };
      const inside = settings(place.metadata.name);
      await apply(bench, [place, inside]);
      const finalizers = ['example.com/backup'];
      await bench.writeAsOther({ ...inside, metadata: { ...inside.metadata, finalizers } }, { verb: 'merge' });
      expect(brief(await prune(bench, [place, inside]))).toEqual(['Skipped Deleting', 'Deleted Deleting']);
      expect((await bench.live(place))?.metadata.deletionTimestamp).toBeUndefined();
      await bench.writeAsOther({ ...inside, metadata: { ...inside.metadata, finalizers: [] } }, { verb: 'merge' });
      await prune(bench, [place, inside]);
      const gone = await bench.live(place);
      expect(gone === undefined || gone.metadata.deletionTimestamp !== undefined).toBe(true);
    });
  });
}
