import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { objectAt } from '../../../src/core/json-at.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import type { WriteMode } from '../../../src/propagate/model/spec.ts';
import type { CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { ownedPaths } from '../../../src/propagate/plan/copies/owned-fields.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';
import { createCrashingProcess, neverCrashes } from './crashing-process.ts';

const workload = (namespace: string, replicas?: number): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    ...(replicas === undefined ? {} : { replicas }),
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
});
const leftPaths = [['spec', 'replicas']];

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`a replica count that is left to an autoscaler, on ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const workOf = (bench: CopyBench, write: WriteMode, more: Partial<CopyWork> = {}) => {
      const work = bench.work(more);
      return { ...work, spec: { ...work.spec, write } };
    };
    const counted = async (bench: CopyBench, replicas: number, write: WriteMode = 'Apply') =>
      applyCopies(workOf(bench, write), [await bench.rendered(workload(bench.namespace, replicas))], never);
    const left = async (bench: CopyBench, write: WriteMode = 'Apply', more: Partial<CopyWork> = {}) =>
      applyCopies(workOf(bench, write, more), [await bench.rendered(workload(bench.namespace), { leftPaths })], never);
    const standing = async (bench: CopyBench) => {
      const object = await bench.live(workload(bench.namespace));
      if (object === undefined) throw new Error('expected it to stand');
      return { replicas: objectAt(object, 'spec').replicas, isOurs: ownedPaths(object).includes('.spec.replicas') };
    };

    test.each(['Apply', 'Replace'] as const)('keeps its value when Muster gives up its ownership (%s)', async (write) => {
      using bench = await createCopyBench(server.endpoint);
      await counted(bench, 4, write);
      const outcome = await left(bench, write);
      expect(outcome.copies).toMatchObject([{ state: 'Owned' }]);
      expect(await standing(bench)).toMatchObject({ replicas: 4, ...(write === 'Apply' ? { isOurs: false } : {}) });
      const quiet = createCrashingProcess(bench, neverCrashes, []);
      await left(bench, write, quiet);
      expect(quiet.writes()).toBe(0);
    });

    test('belongs to the autoscaler from then on, and later writes do not change it', async () => {
      using bench = await createCopyBench(server.endpoint);
      await counted(bench, 4);
      await left(bench);
      const scaled = { ...workload(bench.namespace), spec: { replicas: 7 } };
      await bench.writeAsOther(scaled, { verb: 'merge', manager: 'autoscaler' });
      const { metadata, ...rest } = workload(bench.namespace);
      const labelled = { ...rest, metadata: { ...metadata, labels: { app: 'web' } } };
      const outcome = await applyCopies(bench.work({ generation: 2 }), [await bench.rendered(labelled, { leftPaths })], never);
      expect(outcome.copies).toMatchObject([{ action: 'Configured' }]);
      expect(await standing(bench)).toEqual({ replicas: 7, isOurs: false });
    });

    test('never drops in between, with a crash after each single write', async () => {
      for (let life = 0, writes = neverCrashes; life <= writes; life += 1) {
        using bench = await createCopyBench(server.endpoint);
        await counted(bench, 4);
        const first = createCrashingProcess(bench, life === 0 ? neverCrashes : life, []);
        await first.live(() => left(bench, 'Apply', first));
        if (life === 0) writes = first.writes();
        expect({ life, ...(await standing(bench)) }).toMatchObject({ life, replicas: 4 });
        await left(bench);
        expect({ life, ...(await standing(bench)) }).toEqual({ life, replicas: 4, isOurs: false });
      }
    });

    test('is never sent for a new copy, and an object that was taken over keeps it', async () => {
      using bench = await createCopyBench(server.endpoint);
      await left(bench);
      // Real servers set the default 1. The embedded one sets no default.
      expect(await standing(bench)).toMatchObject({ isOurs: false });
      using other = await createCopyBench(server.endpoint);
      await other.writeAsOther(workload(other.namespace, 5), { manager: 'muster' });
      const work = other.work({ conflict: 'Adopt' });
      await applyCopies(work, [await other.rendered(workload(other.namespace), { leftPaths })], never);
      expect(await standing(other)).toEqual({ replicas: 5, isOurs: false });
    });
  });
}
