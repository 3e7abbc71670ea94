import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { pruneCopies } from '../../../src/propagate/apply/remove-copies.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import type { InventoryEntry } from '../../../src/propagate/model/inventory.ts';
import type { CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';
import { createCrashingProcess, neverCrashes } from './crashing-process.ts';

const job = (namespace: string, name: string): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace },
  spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'busybox' }] } } },
});
const settings = (namespace: string, name: string, data: JsonObject): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

/** The parts of an entry that must be equal at the end: without times, tokens and hashes that include the namespace of the run. */
const essence = (object: KubernetesObject | undefined) => object && { data: object.data, labels: object.metadata.labels };
const essenceOf = ({
  intent: _intent,
  uid: _uid,
  observedHash: _observed,
  appliedHash: _applied,
  takenOver,
  ...entry
}: InventoryEntry) => ({
  ...entry,
  ...(takenOver === undefined ? {} : { takenOver: { as: takenOver.as, revision: takenOver.revision } }),
});

interface Story {
  readonly title: string;
  /** Prepares the objects that exist before the crash. */
  before(bench: CopyBench): Promise<void>;
  /** The work that crashes and is repeated until it completes. */
  act(bench: CopyBench, work: CopyWork): Promise<unknown>;
  readonly work: (bench: CopyBench) => Parameters<CopyBench['work']>[0];
  manifests(namespace: string): readonly Manifest[];
}

const rendered = (bench: CopyBench, manifests: readonly Manifest[]) => Promise.all(manifests.map((manifest) => bench.rendered(manifest)));
const wanted = (namespace: string) => [
  settings(namespace, 'a', { a: '1' }),
  job(namespace, 'once'),
  job(namespace, 'twice'),
  settings(namespace, 'b', { b: '1' }),
];

const stories: readonly Story[] = [
  {
    title: 'creating four copies',
    before: async () => undefined,
    act: async (bench, work) => applyCopies(work, await rendered(bench, wanted(bench.namespace)), never),
    work: () => ({}),
    manifests: wanted,
  },
  {
    title: 'adopting a foreign object with fields of Muster’s manager, updating a copy and creating two',
    async before(bench) {
      const [first, , , last] = wanted(bench.namespace);
      if (first === undefined || last === undefined) throw new Error('expected manifests');
      await bench.writeAsOther({ ...first, data: { theirs: '1' } }, { manager: 'muster' });
      await applyCopies(bench.work(), await rendered(bench, [{ ...last, data: { b: '0' } }]), never);
    },
    act: async (bench, work) => applyCopies(work, await rendered(bench, wanted(bench.namespace)), never),
    work: () => ({ conflict: 'Adopt', generation: 2 }),
    manifests: wanted,
  },
  {
    title: 'removing all copies',
    before: async (bench) => void (await applyCopies(bench.work(), await rendered(bench, wanted(bench.namespace)), never)),
    act: async (bench, work) => pruneCopies(work, await rendered(bench, wanted(bench.namespace)), never),
    work: () => ({}),
    manifests: wanted,
  },
];

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`a crash after each single write to ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    /** Runs the story with a process that crashes after `life` writes, then with one that completes. A third run must write nothing. */
    async function run(story: Story, life: number) {
      using bench = await createCopyBench(server.endpoint);
      const created: string[] = [];
      await story.before(bench);
      const first = createCrashingProcess(bench, life, created);
      await first.live(() => story.act(bench, bench.work({ ...story.work(bench), ...first })));
      const second = createCrashingProcess(bench, neverCrashes, created);
      await story.act(bench, bench.work({ ...story.work(bench), ...second }));
      const third = createCrashingProcess(bench, neverCrashes, created);
      await story.act(bench, bench.work({ ...story.work(bench), ...third }));
      expect(third.writes()).toBe(0);
      const objects = await Promise.all(story.manifests(bench.namespace).map((manifest) => bench.live(manifest)));
      const uids = new Map(objects.filter((object) => object !== undefined).map(({ metadata }) => [metadata.name, metadata.uid]));
      for (const entry of bench.shares.kept?.entries ?? []) expect(entry.uid).toBe(uids.get(entry.key.name));
      const namespaceless = (text: string) => text.replaceAll(bench.namespace, 'NAMESPACE');
      const entries = bench.shares.kept?.entries.map(essenceOf).map(({ action: _action, ...entry }) => entry) ?? 'none';
      const state: unknown = JSON.parse(
        namespaceless(JSON.stringify({ objects: objects.map((object) => essence(object) ?? null), entries })),
      );
      return { writes: first.writes(), created: created.toSorted(), state };
    }

    test.each(stories)(
      '$title: the final state is the same, and each copy is created once (D1, D2)',
      { timeout: 60_000 },
      async (story) => {
        const whole = await run(story, neverCrashes);
        expect(whole.writes).toBeGreaterThanOrEqual(3);
        for (let life = 0; life < whole.writes; life += 1) {
          const { created, state } = await run(story, life);
          expect({ life, created, state }).toEqual({ life, created: whole.created, state: whole.state });
        }
      },
    );
  });
}
