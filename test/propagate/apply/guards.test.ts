import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { applyCopies, correctDrift } from '../../../src/propagate/apply/write-copies.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';

const settings = (namespace: string, data: JsonObject, name = 'settings'): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`guards of a write to ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const apply = async (bench: CopyBench, manifest: Manifest, more: Parameters<CopyBench['work']>[0] = {}) =>
      applyCopies(bench.work(more), [await bench.rendered(manifest)], never);

    test('a process that lost leadership writes neither to the hub nor to the cluster (D3)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      expect(await apply(bench, manifest, { mayWrite: () => false })).toMatchObject({ result: 'stopped', copies: [] });
      expect([bench.shares.saves, await bench.live(manifest)]).toEqual([[], undefined]);
    });

    test('a process that loses leadership after the announcement does not write the copies', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      let asked = 0;
      expect(await apply(bench, manifest, { mayWrite: () => asked++ === 0 })).toMatchObject({ result: 'stopped', copies: [] });
      expect(bench.shares.kept?.entries).toMatchObject([{ state: 'Intended' }]);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('an abort stops before the next write', async () => {
      using bench = await createCopyBench(server.endpoint);
      const end = new AbortController();
      end.abort();
      const rendered = await bench.rendered(settings(bench.namespace, { a: '1' }));
      expect(await applyCopies(bench.work(), [rendered], end.signal)).toMatchObject({ result: 'stopped' });
      expect(bench.shares.saves).toEqual([]);
    });

    test('a share that another process saved stops the work before the first write', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1' }));
      const work = bench.work();
      bench.shares.touch();
      const manifest = settings(bench.namespace, { a: '1' }, 'another');
      expect(await applyCopies(work, [await bench.rendered(manifest)], never)).toMatchObject({ result: 'stopped', copies: [] });
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('if the hub does not save the inventory, no new copy is written', async () => {
      using bench = await createCopyBench(server.endpoint);
      const fault = { code: 'SERVER_ERROR', cluster: bench.client.cluster, message: 'no', retry: 'LATER' } as const;
      const manifest = settings(bench.namespace, { a: '1' });
      const shares = { ...bench.shares, save: async () => ({ result: 'failed', fault }) as const };
      expect(await apply(bench, manifest, { shares })).toMatchObject({ result: 'failed', fault, copies: [] });
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('a copy of a later generation gets a Stale fault and is not changed until a user resumes after that fault', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: 'later' }), { generation: 5 });
      const earlier = settings(bench.namespace, { a: 'earlier' });
      const standing = async () => {
        const object = await bench.live(earlier);
        return [object?.data, object?.metadata.annotations?.[marks.generation]];
      };
      const stale = { action: 'Failed', reason: 'Stale', fault: { code: 'CONFLICT', retry: 'LATER' } };
      // This resume came before the Stale fault, so it does not count.
      const resumedAtMs = bench.clock.now();
      for (const count of [1, 2]) {
        expect((await apply(bench, earlier, { generation: 4, resumedAtMs })).copies).toMatchObject([stale]);
        expect(bench.shares.kept?.entries).toMatchObject([{ action: 'Failed', fault: { code: 'CONFLICT', count } }]);
      }
      expect(await standing()).toEqual([{ a: 'later' }, '5']);
      const resumed = { generation: 4, resumedAtMs: bench.clock.now() + 1 };
      expect((await apply(bench, earlier, resumed)).copies).toMatchObject([{ action: 'Configured', state: 'Owned' }]);
      expect(await standing()).toEqual([{ a: 'earlier' }, '4']);
      expect(bench.shares.kept?.entries[0]?.fault).toBeUndefined();
    });

    test('a resume after a different fault does not unlock a copy of a later generation', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: 'later' }), { generation: 5 });
      const work = bench.work();
      const since = new Date(bench.clock.now() - 60_000).toISOString();
      const entries = work.share.entries.map((entry) => ({ ...entry, fault: { code: 'CONFLICT', message: 'another', since } as const }));
      const resumed = { ...work, share: { ...work.share, entries }, generation: 4, resumedAtMs: bench.clock.now() - 1 };
      const earlier = settings(bench.namespace, { a: 'earlier' });
      expect((await applyCopies(resumed, [await bench.rendered(earlier)], never)).copies).toMatchObject([{ reason: 'Stale' }]);
      expect((await apply(bench, earlier, { generation: 4, resumedAtMs: resumed.resumedAtMs })).copies).toMatchObject([
        { reason: 'Stale' },
      ]);
      expect((await bench.live(earlier))?.data).toEqual({ a: 'later' });
    });

    test('an outdated mirror is detected by the version, and the object is read again', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1' }));
      const behind = await bench.rendered(settings(bench.namespace, { a: '2' }));
      await bench.writeAsOther(settings(bench.namespace, { theirs: '1' }), { verb: 'merge' });
      expect((await applyCopies(bench.work({ generation: 2 }), [behind], never)).copies).toMatchObject([{ action: 'Configured' }]);
      expect((await bench.live(settings(bench.namespace, {})))?.data).toEqual({ a: '2', theirs: '1' });
    });

    test('a mirror that lacks a copy costs one read and no write', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const before = await bench.rendered(manifest);
      await applyCopies(bench.work(), [before], never);
      const saves = bench.shares.saves.length;
      expect((await applyCopies(bench.work(), [before], never)).copies).toMatchObject([{ action: 'Unchanged', state: 'Owned' }]);
      expect(bench.shares.saves).toHaveLength(saves);
    });

    test('a deleted copy is announced and created again, but a finished Job is not', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const first = await apply(bench, manifest);
      await bench.writeAsOther(manifest, { verb: 'delete' });
      const again = await apply(bench, manifest);
      expect(again.copies).toMatchObject([{ action: 'Created', state: 'Owned' }]);
      expect(again.copies[0]?.uid).not.toBe(first.copies[0]?.uid);
      const tokens = bench.shares.saves.map(([entry]) => entry?.intent);
      expect(new Set(tokens).size).toBe(2);

      await bench.writeAsOther(manifest, { verb: 'delete' });
      const { share, ...work } = bench.work();
      const finished = { ...share, entries: share.entries.map((entry) => ({ ...entry, finished: true })) };
      const left = await applyCopies({ ...work, share: finished }, [await bench.rendered(manifest)], never);
      expect(left.copies).toMatchObject([{ action: 'Unchanged' }]);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('an object that replaced a copy belongs to another owner, whatever marks it has', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      const copy = await bench.live(manifest);
      await bench.writeAsOther(manifest, { verb: 'delete' });
      const { labels = {}, annotations = {} } = copy?.metadata ?? {};
      await bench.writeAsOther({ ...manifest, data: { a: 'theirs' }, metadata: { ...manifest.metadata, labels, annotations } });
      expect((await apply(bench, manifest)).copies).toMatchObject([
        {
          action: 'Failed',
          reason: 'Conflict',
          message: 'it exists and does not belong to this Propagation: conflict Adopt or Overwrite takes it over',
        },
      ]);
      expect((await bench.live(manifest))?.data).toEqual({ a: 'theirs' });
    });

    test('the fault of a copy whose inventory entry was lost says how to recover it, and that works', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      await bench.shares.remove(bench.shares.current(), never);
      const { copies } = await apply(bench, manifest);
      const message = 'it carries the marks of this Propagation, but its inventory entry is missing: conflict Adopt takes it over again';
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict', message }]);
      const adopted = await applyCopies(bench.work({ conflict: 'Adopt' }), [await bench.rendered(manifest)], never);
      expect(adopted.copies).toMatchObject([{ state: 'Owned' }]);
    });

    test('an object that another Propagation applied is not adopted, because one manager has one set of fields', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const other = { uid: 'uid-of-other', namespace: 'apps', name: 'other' };
      await applyCopies({ ...bench.work(), owner: other }, [await bench.rendered(manifest)], never);
      using another = await createCopyBench(server.endpoint);
      const work = { ...another.work({ conflict: 'Adopt' }) };
      const { copies } = await applyCopies(work, [await bench.rendered(manifest)], never);
      expect(copies).toMatchObject([{ reason: 'Conflict', message: 'it belongs to another Propagation: apps/other' }]);
    });

    test('with a plan digest, an object that changed since the plan is not written', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1' }));
      const planned = await bench.rendered(settings(bench.namespace, { a: '2' }));
      await bench.writeAsOther(settings(bench.namespace, { theirs: '1' }), { verb: 'merge' });
      const { copies } = await applyCopies(bench.work({ generation: 2, pinned: true }), [planned], never);
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict', message: 'it was changed since it was planned' }]);
      expect((await bench.live(settings(bench.namespace, {})))?.data).toEqual({ a: '1', theirs: '1' });
      const anew = await bench.rendered(settings(bench.namespace, { a: '2' }));
      const next = await applyCopies(bench.work({ generation: 2, pinned: true }), [anew], never);
      expect(next.copies).toMatchObject([{ action: 'Configured' }]);
    });

    test('with a plan digest, an object that took the name of an unchanged copy is not overwritten', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      const { liveUid = '' } = await bench.rendered(manifest);
      await bench.writeAsOther(manifest, { verb: 'delete' });
      await bench.writeAsOther(settings(bench.namespace, { a: 'theirs' }));
      const { liveHash: _hash, ...seen } = await bench.rendered(manifest);
      const { copies } = await correctDrift(bench.work({ pinned: true, conflict: 'Overwrite' }), [{ ...seen, liveUid }], never);
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict', message: 'it was changed since it was planned' }]);
      expect((await bench.live(manifest))?.data).toEqual({ a: 'theirs' });
    });

    test('with a plan digest, a change after the write is drift, whatever the marks are', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      const { liveHash = '' } = await bench.rendered(manifest);
      const annotations = { [marks.generation]: '999' };
      await bench.writeAsOther(
        { ...settings(bench.namespace, { a: 'edited' }), metadata: { ...manifest.metadata, annotations } },
        { verb: 'merge' },
      );
      const edited = await bench.rendered(manifest);
      const { copies } = await correctDrift(bench.work({ generation: 2, pinned: true }), [{ ...edited, liveHash }], never);
      expect(copies).toMatchObject([{ action: 'Configured' }]);
      expect(await bench.live(manifest)).toMatchObject({ data: { a: '1' }, metadata: { annotations: { [marks.generation]: '2' } } });
    });

    test('a copy waits while its object is being deleted', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, finalizers: ['example.com/backup'] } }, { verb: 'merge' });
      await bench.writeAsOther(manifest, { verb: 'delete' });
      const { copies } = await apply(bench, settings(bench.namespace, { a: '2' }), { generation: 2 });
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Terminating', fault: { retry: 'LATER' } }]);
      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, finalizers: [] } }, { verb: 'merge' });
      expect((await apply(bench, settings(bench.namespace, { a: '2' }), { generation: 2 })).copies).toMatchObject([{ action: 'Created' }]);
    });
  });
}
