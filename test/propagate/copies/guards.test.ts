import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { applyCopies, correctDrift } from '../../../src/propagate/copies/write-copies.ts';
import { marks } from '../../../src/propagate/propagation.ts';
import type { Manifest } from '../../../src/propagate/spec.ts';
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
  describe.skipIf(!available)(`what a write to ${title} is guarded by`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const apply = async (bench: CopyBench, manifest: Manifest, more: Parameters<CopyBench['work']>[0] = {}) =>
      applyCopies(bench.work(more), [await bench.rendered(manifest)], never);

    test('who leads no more writes neither to the hub nor to the cluster (D3)', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      expect(await apply(bench, manifest, { mayWrite: () => false })).toMatchObject({ result: 'stopped', copies: [] });
      expect([bench.shares.saves, await bench.live(manifest)]).toEqual([[], undefined]);
    });

    test('who loses the lead after the announcement does not write', async () => {
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

    test('a share that somebody else saved stops all before the first write', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1' }));
      const work = bench.work();
      bench.shares.touch();
      const manifest = settings(bench.namespace, { a: '1' }, 'another');
      expect(await applyCopies(work, [await bench.rendered(manifest)], never)).toMatchObject({ result: 'stopped', copies: [] });
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('a hub that takes no inventory gets no copy written that it does not know', async () => {
      using bench = await createCopyBench(server.endpoint);
      const fault = { code: 'SERVER_ERROR', cluster: bench.client.cluster, message: 'no', retry: 'LATER' } as const;
      const manifest = settings(bench.namespace, { a: '1' });
      const shares = { ...bench.shares, save: async () => ({ result: 'failed', fault }) as const };
      expect(await apply(bench, manifest, { shares })).toMatchObject({ result: 'failed', fault, copies: [] });
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('what a later generation wrote is left, and said to be, until somebody resumes who was told', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: 'later' }), { generation: 5 });
      const earlier = settings(bench.namespace, { a: 'earlier' });
      const standing = async () => {
        const object = await bench.live(earlier);
        return [object?.data, object?.metadata.annotations?.[marks.generation]];
      };
      const stale = { action: 'Failed', reason: 'Stale', fault: { code: 'CONFLICT', retry: 'LATER' } };
      // Resumed before it was told: that was about something else.
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

    test('who resumed while something else was in the way was not told of a later generation', async () => {
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

    test('a mirror that is behind is found out by the version, and read again', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1' }));
      const behind = await bench.rendered(settings(bench.namespace, { a: '2' }));
      await bench.others(settings(bench.namespace, { theirs: '1' }), { verb: 'merge' });
      expect((await applyCopies(bench.work({ generation: 2 }), [behind], never)).copies).toMatchObject([{ action: 'Configured' }]);
      expect((await bench.live(settings(bench.namespace, {})))?.data).toEqual({ a: '2', theirs: '1' });
    });

    test('a mirror that has not heard of a copy costs one read, and nothing is written', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const before = await bench.rendered(manifest);
      await applyCopies(bench.work(), [before], never);
      const saves = bench.shares.saves.length;
      expect((await applyCopies(bench.work(), [before], never)).copies).toMatchObject([{ action: 'Unchanged', state: 'Owned' }]);
      expect(bench.shares.saves).toHaveLength(saves);
    });

    test('a copy that was deleted is made again, announced anew; a Job that was finished is not', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const first = await apply(bench, manifest);
      await bench.others(manifest, { verb: 'delete' });
      const again = await apply(bench, manifest);
      expect(again.copies).toMatchObject([{ action: 'Created', state: 'Owned' }]);
      expect(again.copies[0]?.uid).not.toBe(first.copies[0]?.uid);
      const tokens = bench.shares.saves.map(([entry]) => entry?.intent);
      expect(new Set(tokens).size).toBe(2);

      await bench.others(manifest, { verb: 'delete' });
      const { share, ...work } = bench.work();
      const finished = { ...share, entries: share.entries.map((entry) => ({ ...entry, finished: true })) };
      const left = await applyCopies({ ...work, share: finished }, [await bench.rendered(manifest)], never);
      expect(left.copies).toMatchObject([{ action: 'Unchanged' }]);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('a copy in whose place another stands is a stranger’s, however it is marked', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      const copy = await bench.live(manifest);
      await bench.others(manifest, { verb: 'delete' });
      const { labels = {}, annotations = {} } = copy?.metadata ?? {};
      await bench.others({ ...manifest, data: { a: 'theirs' }, metadata: { ...manifest.metadata, labels, annotations } });
      expect((await apply(bench, manifest)).copies).toMatchObject([
        { action: 'Failed', reason: 'Conflict', message: 'it exists and is not ours' },
      ]);
      expect((await bench.live(manifest))?.data).toEqual({ a: 'theirs' });
    });

    test('of a copy whose inventory was lost it is said how it comes back, and so it does', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      await bench.shares.remove(bench.shares.current(), never);
      const { copies } = await apply(bench, manifest);
      const message = 'it exists and carries our marks, but the inventory does not know it: conflict Adopt takes it back';
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict', message }]);
      const adopted = await applyCopies(bench.work({ conflict: 'Adopt' }), [await bench.rendered(manifest)], never);
      expect(adopted.copies).toMatchObject([{ state: 'Owned' }]);
    });

    test('what another Propagation applied is not adopted, as one manager has one set of fields', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const other = { uid: 'uid-of-other', namespace: 'apps', name: 'other' };
      await applyCopies({ ...bench.work(), owner: other }, [await bench.rendered(manifest)], never);
      using another = await createCopyBench(server.endpoint);
      const work = { ...another.work({ conflict: 'Adopt' }) };
      const { copies } = await applyCopies(work, [await bench.rendered(manifest)], never);
      expect(copies).toMatchObject([{ reason: 'Conflict', message: 'it belongs to another Propagation: apps/other' }]);
    });

    test('of a plan with a digest, what changed since it was rendered is not written', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1' }));
      const planned = await bench.rendered(settings(bench.namespace, { a: '2' }));
      await bench.others(settings(bench.namespace, { theirs: '1' }), { verb: 'merge' });
      const { copies } = await applyCopies(bench.work({ generation: 2, pinned: true }), [planned], never);
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict', message: 'it was changed since it was planned' }]);
      expect((await bench.live(settings(bench.namespace, {})))?.data).toEqual({ a: '1', theirs: '1' });
      const anew = await bench.rendered(settings(bench.namespace, { a: '2' }));
      const next = await applyCopies(bench.work({ generation: 2, pinned: true }), [anew], never);
      expect(next.copies).toMatchObject([{ action: 'Configured' }]);
    });

    test('of a plan with a digest, what changes after it was written is drift, whatever its marks say', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      const { liveHash = '' } = await bench.rendered(manifest);
      const annotations = { [marks.generation]: '999' };
      await bench.others(
        { ...settings(bench.namespace, { a: 'edited' }), metadata: { ...manifest.metadata, annotations } },
        { verb: 'merge' },
      );
      const edited = await bench.rendered(manifest);
      const { copies } = await correctDrift(bench.work({ generation: 2, pinned: true }), [{ ...edited, liveHash }], never);
      expect(copies).toMatchObject([{ action: 'Configured' }]);
      expect(await bench.live(manifest)).toMatchObject({ data: { a: '1' }, metadata: { annotations: { [marks.generation]: '2' } } });
    });

    test('what is being deleted is waited for', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      await apply(bench, manifest);
      await bench.others({ ...manifest, metadata: { ...manifest.metadata, finalizers: ['example.com/backup'] } }, { verb: 'merge' });
      await bench.others(manifest, { verb: 'delete' });
      const { copies } = await apply(bench, settings(bench.namespace, { a: '2' }), { generation: 2 });
      expect(copies).toMatchObject([{ action: 'Failed', reason: 'Terminating', fault: { retry: 'LATER' } }]);
      await bench.others({ ...manifest, metadata: { ...manifest.metadata, finalizers: [] } }, { verb: 'merge' });
      expect((await apply(bench, settings(bench.namespace, { a: '2' }), { generation: 2 })).copies).toMatchObject([{ action: 'Created' }]);
    });
  });
}
