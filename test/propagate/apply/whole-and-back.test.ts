import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAt, objectAt, textAt } from '../../../src/core/json-at.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import type { RenderedObject } from '../../../src/propagate/model/plan.ts';
import type { WriteMode } from '../../../src/propagate/model/spec.ts';
import type { CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { ownedPaths } from '../../../src/propagate/plan/copies/owned-fields.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';
import { createCrashingProcess, neverCrashes } from './crashing-process.ts';

const settings = (namespace: string, data: Readonly<Record<string, string>>): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace },
  data,
});

const workload = (namespace: string, containers: readonly string[], more: Readonly<Record<string, string>> = {}): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace, annotations: more },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: containers.map((name) => ({ name, image: `${name}:1` })) } },
  },
});

function withoutCount({ spec, ...rest }: Manifest): Manifest {
  const { replicas: _replicas, ...others } = objectAt({ spec }, 'spec');
  return { ...rest, spec: others } as Manifest;
}

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`a copy that was replaced as a whole and is applied again, on ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    interface Written {
      readonly write: WriteMode;
      readonly generation: number;
      readonly work?: Partial<CopyWork>;
      readonly more?: Partial<RenderedObject>;
    }

    async function written(bench: CopyBench, manifests: readonly Manifest[], { write, generation, work = {}, more = {} }: Written) {
      const base = bench.work({ generation, ...work });
      const objects = await Promise.all(manifests.map((manifest) => bench.rendered(manifest, more)));
      return applyCopies({ ...base, spec: { ...base.spec, write } }, objects, never);
    }

    async function standing(bench: CopyBench) {
      const found = await Promise.all([bench.live(settings(bench.namespace, {})), bench.live(workload(bench.namespace, []))]);
      const [map, web] = found;
      return {
        data: objectAt(map, 'data'),
        containers: listAt(web, 'spec', 'template', 'spec', 'containers').map((container) => textAt(container, 'name')),
        note: textAt(web, 'metadata', 'annotations', 'note'),
        owners: found.flatMap((object) =>
          listAt(object, 'metadata', 'managedFields')
            .filter((entry) => textAt(entry, 'manager') === 'muster')
            .map((entry) => textAt(entry, 'operation')),
        ),
      };
    }

    const first = ({ namespace }: CopyBench) => [settings(namespace, { a: '1' }), workload(namespace, ['web'])];
    const second = ({ namespace }: CopyBench) => [
      settings(namespace, { a: '2', b: '2' }),
      workload(namespace, ['web', 'side'], { note: 'x' }),
    ];
    const asFirst = { data: { a: '1' }, containers: ['web'], note: undefined, owners: ['Apply', 'Apply'] };

    test('has no field that only the replacement had, and is owned by Apply only', async () => {
      using bench = await createCopyBench(server.endpoint);
      await written(bench, first(bench), { write: 'Apply', generation: 1 });
      await written(bench, second(bench), { write: 'Replace', generation: 2 });
      expect(await standing(bench)).toMatchObject({ data: { a: '2', b: '2' }, containers: ['web', 'side'] });
      const back = await written(bench, first(bench), { write: 'Apply', generation: 3 });
      expect(back.copies).toMatchObject([{ action: 'Configured' }, { action: 'Configured' }]);
      expect(await standing(bench)).toEqual(asFirst);
      const quiet = createCrashingProcess(bench, neverCrashes, []);
      await written(bench, first(bench), { write: 'Apply', generation: 3, work: quiet });
      expect(quiet.writes()).toBe(0);
    });

    test('has the applied state also after a creation by replacement and a second replacement of some fields', async () => {
      using bench = await createCopyBench(server.endpoint);
      await written(bench, first(bench), { write: 'Replace', generation: 1 });
      await written(bench, second(bench), { write: 'Replace', generation: 2 });
      await written(bench, first(bench), { write: 'Apply', generation: 3 });
      expect(await standing(bench)).toEqual(asFirst);
    });

    test('keeps fields that others added since', async () => {
      using bench = await createCopyBench(server.endpoint);
      await written(bench, first(bench), { write: 'Apply', generation: 1 });
      await written(bench, second(bench), { write: 'Replace', generation: 2 });
      await bench.writeAsOther(settings(bench.namespace, { theirs: 'x' }), { verb: 'apply' });
      await written(bench, first(bench), { write: 'Apply', generation: 3 });
      expect(await standing(bench)).toMatchObject({ data: { a: '1', theirs: 'x' } });
    });

    test('keeps the replica count that is left to an autoscaler from then on', async () => {
      using bench = await createCopyBench(server.endpoint);
      await written(bench, first(bench), { write: 'Apply', generation: 1 });
      await written(bench, second(bench), { write: 'Replace', generation: 2 });
      const left = withoutCount(workload(bench.namespace, ['web']));
      await written(bench, [left], { write: 'Apply', generation: 3, more: { leftPaths: [['spec', 'replicas']] } });
      const web = await bench.live(left);
      expect([objectAt(web, 'spec').replicas, web !== undefined && ownedPaths(web).includes('.spec.replicas')]).toEqual([4, false]);
      expect((await standing(bench)).containers).toEqual(['web']);
    });

    test('has the same final state after a crash at each single write', async () => {
      for (let life = 0, writes = neverCrashes; life <= writes; life += 1) {
        using bench = await createCopyBench(server.endpoint);
        await written(bench, first(bench), { write: 'Apply', generation: 1 });
        await written(bench, second(bench), { write: 'Replace', generation: 2 });
        const killed = createCrashingProcess(bench, life === 0 ? neverCrashes : life, []);
        await killed.live(() => written(bench, first(bench), { write: 'Apply', generation: 3, work: killed }));
        if (life === 0) writes = killed.writes();
        await written(bench, first(bench), { write: 'Apply', generation: 3 });
        expect({ life, ...(await standing(bench)) }).toEqual({ life, ...asFirst });
      }
    }, 60_000);
  });
}
