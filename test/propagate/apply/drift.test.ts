import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { applyCopies, correctDrift } from '../../../src/propagate/apply/write-copies.ts';
import { marksOf } from '../../../src/propagate/plan/copies/copy-marks.ts';
import { observedHashOf } from '../../../src/propagate/plan/copies/observed-hash.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';

const workload = (namespace: string): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1', resources: { limits: { cpu: '1000m' } } }] },
    },
  },
});

const replicas = (namespace: string, count: number): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: { replicas: count },
});

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`drift on ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const isDrifted = async (bench: CopyBench) => {
      const rendered = await bench.rendered(workload(bench.namespace));
      const [entry] = bench.shares.current().entries;
      return rendered.live !== undefined && entry?.observedHash !== observedHashOf(rendered, rendered.live, bench.work());
    };
    const correct = async (bench: CopyBench, more?: Parameters<CopyBench['work']>[0]) => {
      const { copies } = await correctDrift(bench.work(more), [await bench.rendered(workload(bench.namespace))], never);
      return copies[0];
    };
    const scale = (bench: CopyBench, count: number) => bench.writeAsOther(replicas(bench.namespace, count), { verb: 'merge' });

    test('defaults and normal forms of the server are no drift; a change by others is drift and is undone by force', async () => {
      using bench = await createCopyBench(server.endpoint);
      await applyCopies(bench.work(), [await bench.rendered(workload(bench.namespace))], never);
      expect(await isDrifted(bench)).toBe(false);
      await scale(bench, 5);
      expect(await isDrifted(bench)).toBe(true);
      expect(await correct(bench)).toMatchObject({ action: 'Configured', state: 'Owned' });
      expect((await bench.live(workload(bench.namespace)))?.spec).toMatchObject({ replicas: 2 });
      expect(await isDrifted(bench)).toBe(false);
    });

    test('changes of fields that Muster did not send are no drift', async () => {
      using bench = await createCopyBench(server.endpoint);
      await applyCopies(bench.work(), [await bench.rendered(workload(bench.namespace))], never);
      const theirs = { ...replicas(bench.namespace, 2), spec: { minReadySeconds: 7 } };
      await bench.writeAsOther(theirs, { verb: 'merge' });
      expect(await isDrifted(bench)).toBe(false);
    });

    test.each(['labels', 'annotations'] as const)(
      'without our %s it has drifted, because it is unknown which write it shows',
      async (field) => {
        using bench = await createCopyBench(server.endpoint);
        const manifest = workload(bench.namespace);
        const marksNow = async () => marksOf((await bench.live(manifest)) ?? { metadata: { name: '' } });
        await applyCopies(bench.work(), [await bench.rendered(manifest)], never);
        const before = await marksNow();
        const bare = { ...manifest, metadata: { ...manifest.metadata, [field]: null } } as unknown as Manifest;
        await bench.writeAsOther(bare, { verb: 'merge' });
        expect(await marksNow()).not.toEqual(before);
        expect(await isDrifted(bench)).toBe(true);
        expect(await correct(bench)).toMatchObject({ action: 'Configured', state: 'Owned' });
        expect(await marksNow()).toEqual(before);
        expect(await isDrifted(bench)).toBe(false);
      },
    );

    test('an outdated mirror costs one read, and no correction is counted', async () => {
      using bench = await createCopyBench(server.endpoint);
      await applyCopies(bench.work(), [await bench.rendered(workload(bench.namespace))], never);
      await scale(bench, 5);
      const behind = await bench.rendered(workload(bench.namespace));
      await correctDrift(bench.work(), [behind], never);
      const { copies } = await correctDrift(bench.work(), [behind], never);
      expect(copies).toMatchObject([{ action: 'Unchanged' }]);
      expect(bench.shares.kept?.entries[0]?.corrections).toHaveLength(1);
    });

    test('after five corrections in ten minutes the copy is contended: the fault names the manager, and the next correction waits', async () => {
      using bench = await createCopyBench(server.endpoint);
      await applyCopies(bench.work(), [await bench.rendered(workload(bench.namespace))], never);
      for (let time = 1; time <= 5; time += 1) {
        await scale(bench, 10 + time);
        expect(await correct(bench)).toMatchObject({ action: 'Configured' });
        await bench.clock.advance(60_000);
      }
      await scale(bench, 20);
      const contended = await correct(bench);
      expect(contended).toMatchObject({ action: 'Failed', reason: 'Contended', fault: { code: 'CONFLICT' } });
      expect(contended?.message).toBe('corrected 5 times in 10 minutes, and changed again by kubectl');
      const saves = bench.shares.saves.length;
      expect(await correct(bench)).toEqual(contended);
      expect(bench.shares.saves).toHaveLength(saves);
      expect((await bench.live(workload(bench.namespace)))?.spec).toMatchObject({ replicas: 20 });

      await bench.clock.advance(5 * 60_000);
      expect(await correct(bench)).toMatchObject({ action: 'Configured' });
      expect(bench.shares.kept?.entries[0]).toMatchObject({ corrections: { length: 5 } });
      expect(bench.shares.kept?.entries[0]?.fault).toBeUndefined();
    });

    test('a resume corrects a contended copy at once, and five more corrections make it contended again', async () => {
      using bench = await createCopyBench(server.endpoint);
      await applyCopies(bench.work(), [await bench.rendered(workload(bench.namespace))], never);
      const change = async (resumedAtMs?: number) => {
        await bench.clock.advance(1_000);
        await scale(bench, 10 + bench.shares.saves.length);
        return await correct(bench, { resumedAtMs });
      };
      for (let time = 1; time <= 5; time += 1) expect(await change()).toMatchObject({ action: 'Configured' });
      expect(await change()).toMatchObject({ reason: 'Contended' });
      const resumedAtMs = bench.clock.now();
      for (let time = 1; time <= 5; time += 1) expect(await change(resumedAtMs)).toMatchObject({ action: 'Configured' });
      expect(await change(resumedAtMs)).toMatchObject({ reason: 'Contended' });
    });
  });
}
