import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { restoreCopies } from '../../../src/propagate/apply/restore-copies.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { CopiesOutcome } from '../../../src/propagate/plan/copies/copy-work.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';

const settings = (namespace: string, name: string, data: JsonObject): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const brief = ({ copies }: CopiesOutcome) => copies.map(({ key, action }) => `${key.name} ${action}`);

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`restoring on ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const rendered = (bench: CopyBench, manifests: readonly Manifest[]) =>
      Promise.all(manifests.map((manifest) => bench.rendered(manifest)));
    const apply = async (bench: CopyBench, manifests: readonly Manifest[], more: Parameters<CopyBench['work']>[0]) =>
      applyCopies(bench.work(more), await rendered(bench, manifests), never);
    const restore = async (bench: CopyBench, manifests: readonly Manifest[]) =>
      restoreCopies(bench.work({ generation: 2 }), { rendered: await rendered(bench, manifests), oldValues: bench.oldValues }, never);

    test('writes the objects of the revision, deletes created copies, and restores adopted objects', async () => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      const first = [settings(namespace, 'changed', { a: '1' }), settings(namespace, 'same', { a: '1' })];
      await apply(bench, first, { generation: 1 });
      await bench.writeAsOther(settings(namespace, 'theirs', { a: 'old', b: 'theirs' }));
      const second = [
        settings(namespace, 'changed', { a: '2', b: '2' }),
        settings(namespace, 'same', { a: '1' }),
        settings(namespace, 'new', { a: '2' }),
        settings(namespace, 'theirs', { a: 'ours', c: 'ours' }),
      ];
      const { copies } = await apply(bench, second, { generation: 2, conflict: 'Overwrite' });
      expect(copies.map(({ action }) => action)).toEqual(['Configured', 'Unchanged', 'Created', 'Configured']);

      const outcome = await restore(bench, first);
      expect(brief(outcome)).toEqual(['changed Restored', 'same Unchanged', 'new Deleted', 'theirs Restored']);
      expect((await bench.live(settings(namespace, 'changed', {})))?.data).toEqual({ a: '1' });
      expect(await bench.live(settings(namespace, 'new', {}))).toBeUndefined();
      const theirs = await bench.live(settings(namespace, 'theirs', {}));
      expect(theirs?.data).toEqual({ a: 'old', b: 'theirs' });
      expect(theirs?.metadata.labels?.[marks.propagation]).toBeUndefined();
      expect(JSON.stringify(theirs?.metadata.managedFields)).not.toContain('muster');
      expect(bench.shares.kept?.entries.map(({ key }) => key.name).toSorted()).toEqual(['changed', 'same']);
    });

    test('keeps an object of another owner and a copy of a later generation', async () => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      const made = [settings(namespace, 'recreated', { a: '2' }), settings(namespace, 'later', { a: '2' })];
      await apply(bench, made, { generation: 2 });
      await bench.writeAsOther(settings(namespace, 'recreated', {}), { verb: 'delete' });
      await bench.writeAsOther(settings(namespace, 'recreated', { theirs: '1' }));
      const mark: Manifest = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'later', namespace, annotations: { [marks.generation]: '3' } },
      };
      await bench.writeAsOther(mark, { verb: 'merge' });
      expect(brief(await restore(bench, []))).toEqual(['recreated Skipped', 'later Skipped']);
      expect((await bench.live(settings(namespace, 'recreated', {})))?.data).toEqual({ theirs: '1' });
      expect((await bench.live(settings(namespace, 'later', {})))?.data).toEqual({ a: '2' });
    });

    test('without an earlier revision all copies are deleted, and a second rollback does nothing', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, [settings(bench.namespace, 'a', { a: '1' }), settings(bench.namespace, 'b', { a: '1' })], { generation: 2 });
      expect(brief(await restore(bench, []))).toEqual(['a Deleted', 'b Deleted']);
      expect(bench.shares.kept).toBeUndefined();
      expect(await restore(bench, [])).toMatchObject({ result: 'done', copies: [] });
    });

    test('old values are restored in every kind of list', async () => {
      using bench = await createCopyBench(server.endpoint);
      const workload = (image: string, more: readonly JsonObject[] = []): Manifest => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: bench.namespace },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }, ...more] } },
        },
      });
      const sidecar = { name: 'sidecar', image: 'sidecar:1' };
      await bench.writeAsOther(workload('web:1', [sidecar]));
      const { copies } = await apply(bench, [workload('web:2', [{ name: 'extra', image: 'extra:1' }])], {
        generation: 2,
        conflict: 'Overwrite',
      });
      expect(copies.map(({ action }) => action)).toEqual(['Configured']);
      const images = async () => {
        const object = await bench.live(workload(''));
        const spec = object?.spec as unknown as { template: { spec: { containers: readonly { name: string; image: string }[] } } };
        return Object.fromEntries(spec.template.spec.containers.map(({ name, image }) => [name, image]));
      };
      expect(await images()).toEqual({ web: 'web:2', sidecar: 'sidecar:1', extra: 'extra:1' });
      expect(brief(await restore(bench, []))).toEqual(['web Restored']);
      expect(await images()).toEqual({ web: 'web:1', sidecar: 'sidecar:1' });
    });
  });
}
