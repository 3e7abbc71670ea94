import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { pruneCopies } from '../../../src/propagate/apply/remove-copies.ts';
import { restoreCopies } from '../../../src/propagate/apply/restore-copies.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { ConflictMode, WriteMode } from '../../../src/propagate/model/spec.ts';
import type { CopiesOutcome, CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';
import { type CrashingProcess, createCrashingProcess, neverCrashes } from './crashing-process.ts';

const named = (kind: string, namespace: string, name: string, more: JsonObject): Manifest => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace },
  ...more,
});
const settings = (namespace: string, name: string, data: JsonObject) => named('ConfigMap', namespace, name, { data });
const workload = (namespace: string, image: string, more: readonly JsonObject[] = []): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }, ...more] } },
  },
});

interface Story {
  readonly conflict: ConflictMode;
  readonly write: WriteMode;
  readonly theirs: (namespace: string) => readonly Manifest[];
  /** The manifests of the intent. The last object does not exist yet. */
  readonly ours: (namespace: string) => readonly Manifest[];
}

const forced = {
  theirs: (namespace: string) => [
    settings(namespace, 'theirs', { a: 'old', b: 'theirs' }),
    named('Secret', namespace, 'key', { type: 'Opaque', data: { a: 'b2xk' } }),
    workload(namespace, 'web:1', [{ name: 'sidecar', image: 'sidecar:1' }]),
  ],
  ours: (namespace: string) => [
    settings(namespace, 'theirs', { a: 'ours', c: 'ours' }),
    named('Secret', namespace, 'key', { data: { a: 'b2xk', b: 'b3Vycw==' } }),
    workload(namespace, 'web:2', [{ name: 'extra', image: 'extra:1' }]),
    settings(namespace, 'new', { a: 'ours' }),
  ],
};
const polite = {
  theirs: (namespace: string) => [
    settings(namespace, 'theirs', { a: 'same', b: 'theirs' }),
    named('Secret', namespace, 'key', { data: { a: 'b2xk' } }),
  ],
  ours: (namespace: string) => [
    settings(namespace, 'theirs', { a: 'same', c: 'ours' }),
    named('Secret', namespace, 'key', { data: { a: 'b2xk', b: 'b3Vycw==' } }),
    settings(namespace, 'new', { a: 'ours' }),
  ],
};
const stories: readonly Story[] = [
  { conflict: 'Overwrite', write: 'Apply', ...forced },
  { conflict: 'Overwrite', write: 'Replace', ...forced },
  { conflict: 'Adopt', write: 'Apply', ...polite },
  { conflict: 'ServerSideApply', write: 'Apply', ...polite },
];

const brief = ({ copies }: CopiesOutcome) => copies.map(({ key, action }) => `${key.name} ${action}`);

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`objects that existed before, on ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    const rendered = (bench: CopyBench, manifests: readonly Manifest[]) =>
      Promise.all(manifests.map((manifest) => bench.rendered(manifest)));
    const workOf = (bench: CopyBench, { conflict, write }: Story, process: Partial<CrashingProcess> = {}): CopyWork => {
      const work = bench.work({ conflict, generation: 2, ...process });
      return { ...work, spec: { ...work.spec, write } };
    };
    const apply = async (bench: CopyBench, story: Story, process?: CrashingProcess) =>
      applyCopies(workOf(bench, story, process), await rendered(bench, story.ours(bench.namespace)), never);
    const restore = (bench: CopyBench, story: Story, process?: CrashingProcess) =>
      restoreCopies(workOf(bench, story, process), { rendered: [], oldValues: bench.oldValues }, never);
    const prune = async (bench: CopyBench, story: Story, process?: CrashingProcess) =>
      pruneCopies(workOf(bench, story, process), await rendered(bench, story.ours(bench.namespace)), never);

    /** Ignores the Secret values that Muster wrote, because a rollback does not restore them. Other values of Secrets are compared. */
    const essence = (object: KubernetesObject | undefined) => {
      if (object === undefined) return 'gone';
      const { spec, data, kind, metadata } = object as KubernetesObject & JsonObject;
      const { uid, labels, annotations, managedFields } = metadata;
      const kept = kind === 'Secret' ? (data as JsonObject).a : data;
      return {
        uid,
        labels: labels ?? {},
        annotations: annotations ?? {},
        spec,
        data: kept,
        isOurs: JSON.stringify(managedFields).includes('"muster"'),
      };
    };
    const standing = async (bench: CopyBench, story: Story) =>
      Promise.all(story.ours(bench.namespace).map(async (manifest) => essence(await bench.live(manifest))));

    async function withTheirs(story: Story): Promise<CopyBench> {
      const bench = await createCopyBench(server.endpoint);
      for (const manifest of story.theirs(bench.namespace)) await bench.writeAsOther(manifest);
      return bench;
    }

    /**
     * Runs a takeover and a rollback in a process that crashes after `life` writes. A second process then continues with one of them.
     * Returns the number of writes of the first process.
     */
    async function run(story: Story, life: number, successor: 'rolls back' | 'goes on'): Promise<number> {
      using bench = await withTheirs(story);
      const before = await standing(bench, story);
      const created: string[] = [];
      const first = createCrashingProcess(bench, life, created);
      await first.live(async () => {
        await apply(bench, story, first);
        await restore(bench, story, first);
      });
      if (successor === 'goes on') await apply(bench, story);
      await restore(bench, story);
      expect({ life, after: await standing(bench, story) }).toEqual({ life, after: before });
      expect(bench.shares.kept).toBeUndefined();
      const writes = createCrashingProcess(bench, neverCrashes, created);
      await restore(bench, story, writes);
      expect(writes.writes()).toBe(0);
      return first.writes();
    }

    for (const successor of ['rolls back', 'goes on'] as const) {
      test.each(stories)(
        `$conflict, $write: a takeover and its rollback restore the object after a crash at each single write; the next process ${successor}`,
        { timeout: 120_000 },
        async (story) => {
          const writes = await run(story, neverCrashes, successor);
          expect(writes).toBeGreaterThanOrEqual(7);
          for (let life = 0; life < writes; life += 1) await run(story, life, successor);
        },
      );
    }

    test('a shared object is never deleted, with a crash after each single write before the intent is deleted', {
      timeout: 120_000,
    }, async () => {
      const story: Story = { conflict: 'ServerSideApply', write: 'Apply', ...polite };
      for (let life = 0, writes = neverCrashes; life <= writes; life += 1) {
        using bench = await withTheirs(story);
        const before = await standing(bench, story);
        const first = createCrashingProcess(bench, life === 0 ? neverCrashes : life, []);
        await first.live(() => apply(bench, story, first));
        if (life === 0) writes = first.writes();
        await prune(bench, story);
        expect({ life, after: await standing(bench, story) }).toEqual({ life, after: before });
      }
    });

    test('a Secret that was taken over is released by a rollback, and none of its values are stored', async () => {
      const [story] = stories;
      if (story === undefined) throw new Error('expected a story');
      using bench = await withTheirs(story);
      await apply(bench, story);
      expect(bench.oldValues.map(({ key }) => key.name)).toEqual(['theirs', 'web']);
      expect(JSON.stringify(bench.shares.saves)).not.toContain('b2xk');
      const outcome = await restore(bench, story);
      expect(brief(outcome).toSorted()).toEqual(['key Orphaned', 'new Deleted', 'theirs Restored', 'web Restored']);
      expect(outcome.copies.find(({ key }) => key.name === 'key')?.message).toContain('released without its old values');
      const secret = (await bench.live(named('Secret', bench.namespace, 'key', {}))) as (KubernetesObject & JsonObject) | undefined;
      expect(secret?.data).toEqual({ a: 'b2xk', b: 'b3Vycw==' });
      expect(secret?.metadata.labels?.[marks.propagation]).toBeUndefined();
    });

    test('an adopted object is deleted with the intent, and by a generation that does not want it', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, 'theirs', { a: '1' });
      await bench.writeAsOther(manifest);
      await applyCopies(bench.work({ conflict: 'Adopt' }), await rendered(bench, [manifest]), never);
      expect(brief(await pruneCopies(bench.work({ generation: 2 }), await rendered(bench, [manifest]), never))).toEqual(['theirs Deleted']);
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test.each([
      { to: 1, adopted: 1, expected: 'theirs Deleted' },
      { to: 1, adopted: 2, expected: 'theirs Restored' },
      { to: 3, adopted: 3, expected: 'theirs Deleted' },
    ])('a rollback to revision $to, with an object that revision $adopted adopted: $expected', async ({ to, adopted, expected }) => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      await bench.writeAsOther(settings(namespace, 'theirs', { a: 'old' }));
      const ours = settings(namespace, 'theirs', { a: 'ours' });
      await applyCopies(bench.work({ conflict: 'Overwrite', generation: adopted }), await rendered(bench, [ours]), never);
      const rollback = { targetRevision: to, oldValues: bench.oldValues };
      const outcome = await pruneCopies(bench.work({ generation: 4, rollback }), await rendered(bench, [ours]), never);
      expect(brief(outcome)).toEqual([expected]);
      expect((await bench.live(ours))?.data).toEqual(expected.endsWith('Restored') ? { a: 'old' } : undefined);
    });

    test('a rollback returns an object that was taken by force to its owner, with a crash after each single write', async () => {
      for (let life = 0, writes = neverCrashes; life <= writes; life += 1) {
        using bench = await createCopyBench(server.endpoint);
        const { namespace } = bench;
        const theirs = settings(namespace, 'theirs', { a: 'old' });
        const ours = settings(namespace, 'theirs', { a: 'ours' });
        await bench.writeAsOther(theirs);
        const before = essence(await bench.live(theirs));
        const first = await applyCopies(bench.work({ conflict: 'Adopt' }), await rendered(bench, [ours]), never);
        expect(first.copies).toMatchObject([{ action: 'Failed', reason: 'Conflict' }]);
        await applyCopies(bench.work({ conflict: 'Overwrite', generation: 2 }), await rendered(bench, [ours]), never);
        expect((await bench.live(ours))?.data).toEqual({ a: 'ours' });
        const back = { conflict: 'Adopt', generation: 3, rollback: { targetRevision: 1, oldValues: bench.oldValues } } as const;
        const goBack = async (process: Partial<CrashingProcess> = {}) =>
          applyCopies(bench.work({ ...back, ...process }), await rendered(bench, [ours]), never);
        const process = createCrashingProcess(bench, life === 0 ? neverCrashes : life, []);
        await process.live(() => goBack(process));
        if (life === 0) writes = process.writes();
        const { copies } = await goBack();
        expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict', message: 'owned by another manager: .data.a (kubectl)' }]);
        expect({ life, after: essence(await bench.live(ours)) }).toEqual({ life, after: before });
        expect(brief(await pruneCopies(bench.work({ generation: 4 }), await rendered(bench, [ours]), never))).toEqual(['theirs Skipped']);
        expect(await bench.live(ours)).toBeDefined();
      }
    });

    test('an object that was given back stays with its owner, even if that could not be saved and the spec changed then', async () => {
      let givenBack = 0;
      for (let life = 1, writes = neverCrashes; life <= writes; life += 1) {
        using bench = await createCopyBench(server.endpoint);
        const { namespace } = bench;
        const ours = settings(namespace, 'theirs', { a: 'ours' });
        await bench.writeAsOther(settings(namespace, 'theirs', { a: 'old' }));
        await applyCopies(bench.work({ conflict: 'Overwrite', generation: 2 }), await rendered(bench, [ours]), never);
        const process = createCrashingProcess(bench, life, []);
        const back = { conflict: 'Abort', generation: 3, rollback: { targetRevision: 1, oldValues: bench.oldValues }, ...process } as const;
        await process.live(async () => applyCopies(bench.work(back), await rendered(bench, [ours]), never));
        writes = process.writes() < life ? process.writes() : neverCrashes;
        const standing = essence(await bench.live(ours));
        if (standing === 'gone' || standing.isOurs) continue;
        givenBack += 1;
        const edited = [settings(namespace, 'theirs', { a: 'edited' })];
        for (const generation of [4, 5]) {
          const { copies } = await applyCopies(bench.work({ generation }), await rendered(bench, edited), never);
          expect(copies).toMatchObject([{ action: 'Failed', reason: 'Conflict' }]);
        }
        await pruneCopies(bench.work({ generation: 6 }), await rendered(bench, edited), never);
        expect({ life, after: essence(await bench.live(ours)) }).toEqual({ life, after: standing });
      }
      expect(givenBack).toBeGreaterThanOrEqual(1);
    });

    test('an adopted object that lost its marks is still a copy, although mirrors do not show field owners', async () => {
      using bench = await createCopyBench(server.endpoint);
      const ours = (value: string) => settings(bench.namespace, 'theirs', { a: value });
      await bench.writeAsOther(settings(bench.namespace, 'theirs', { a: 'old' }));
      await applyCopies(bench.work({ conflict: 'Overwrite', generation: 2 }), await rendered(bench, [ours('ours')]), never);
      const bare = { ...ours('ours'), metadata: { ...ours('ours').metadata, labels: null, annotations: null } } as unknown as Manifest;
      await bench.writeAsOther(bare, { verb: 'merge' });
      expect(brief(await applyCopies(bench.work({ generation: 3 }), await rendered(bench, [ours('edited')]), never))).toEqual([
        'theirs Configured',
      ]);
      const live = await bench.live(ours(''));
      expect([live?.data, live?.metadata.labels]).toEqual([{ a: 'edited' }, { [marks.propagation]: expect.any(String) }]);
    });

    test.each([
      { conflict: 'Overwrite', expected: 'theirs Unchanged' },
      { conflict: 'Adopt', expected: 'theirs Configured' },
    ] as const)('with $conflict, the object is taken over again, once', async ({ conflict, expected }) => {
      using bench = await createCopyBench(server.endpoint);
      const theirs = settings(bench.namespace, 'theirs', { a: 'same' });
      await bench.writeAsOther(theirs);
      await applyCopies(bench.work({ conflict: 'Overwrite', generation: 2 }), await rendered(bench, [theirs]), never);
      const rollback = { targetRevision: 1, oldValues: bench.oldValues };
      const again = async (process: Partial<CrashingProcess> = {}) =>
        applyCopies(bench.work({ conflict, generation: 3, rollback, ...process }), await rendered(bench, [theirs]), never);
      expect(brief(await again())).toEqual([expected]);
      const quiet = createCrashingProcess(bench, neverCrashes, []);
      await again(quiet);
      expect(quiet.writes()).toBe(0);
    });

    test('a breach returns the objects that its generation took over to their owners, even if the previous revision wanted them', async () => {
      using bench = await createCopyBench(server.endpoint);
      const ours = settings(bench.namespace, 'theirs', { a: 'ours' });
      await bench.writeAsOther(settings(bench.namespace, 'theirs', { a: 'old' }));
      const work = { conflict: 'Overwrite', generation: 2 } as const;
      await applyCopies(bench.work(work), await rendered(bench, [ours]), never);
      const outcome = await restoreCopies(bench.work(work), { rendered: await rendered(bench, [ours]), oldValues: bench.oldValues }, never);
      expect(brief(outcome)).toEqual(['theirs Restored']);
      expect(await bench.live(ours)).toMatchObject({ data: { a: 'old' } });
      expect(bench.shares.kept).toBeUndefined();
    });

    test('a rollback restores the last values before the write, not those of an earlier attempt', async () => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      const theirs = (value: string) => settings(namespace, 'theirs', { a: value });
      const ours = theirs('ours');
      await bench.writeAsOther(theirs('first'));
      const first = createCrashingProcess(bench, 2, []);
      await first.live(async () =>
        applyCopies(bench.work({ conflict: 'Overwrite', generation: 2, ...first }), await rendered(bench, [ours]), never),
      );
      await bench.writeAsOther(theirs('second'), { verb: 'merge' });
      await applyCopies(bench.work({ conflict: 'Overwrite', generation: 2 }), await rendered(bench, [ours]), never);
      expect(bench.oldValues.map(({ values }) => values.data)).toEqual([{ a: 'first' }, { a: 'second' }]);
      await restoreCopies(bench.work({ generation: 2 }), { rendered: [], oldValues: bench.oldValues }, never);
      expect((await bench.live(ours))?.data).toEqual({ a: 'second' });
    });

    test('an object found only during the write is announced and its values are stored before the write', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifests = ['a', 'b', 'c'].map((name) => settings(bench.namespace, name, { a: 'ours' }));
      const unseen = await rendered(bench, manifests);
      for (const { metadata } of manifests) await bench.writeAsOther(settings(bench.namespace, metadata.name, { a: 'old' }));
      const outcome = await applyCopies(bench.work({ conflict: 'Overwrite', generation: 2 }), unseen, never);
      expect(brief(outcome)).toEqual(['a Configured', 'b Configured', 'c Configured']);
      expect(bench.oldValues).toHaveLength(3);
      const saved = bench.shares.saves.map((entries) => entries.filter(({ takenOver }) => takenOver !== undefined).length);
      expect([saved[0], saved.at(-1)]).toEqual([0, 3]);
      await restoreCopies(bench.work({ generation: 2 }), { rendered: [], oldValues: bench.oldValues }, never);
      for (const manifest of manifests) expect((await bench.live(manifest))?.data).toEqual({ a: 'old' });
    });

    test('an object whose old values cannot be stored is skipped, and all other copies are written', async () => {
      using bench = await createCopyBench(server.endpoint);
      const { namespace } = bench;
      const fault = { code: 'SERVER_ERROR', cluster: bench.client.cluster, message: 'the hub says no', retry: 'LATER' } as const;
      await bench.writeAsOther(settings(namespace, 'theirs', { a: 'old' }));
      const manifests = [settings(namespace, 'theirs', { a: 'ours' }), settings(namespace, 'new', { a: 'ours' })];
      const unseen = await bench.rendered(settings(namespace, 'unseen', { a: 'ours' }));
      await bench.writeAsOther(settings(namespace, 'unseen', { a: 'old' }));
      const work = bench.work({ conflict: 'Overwrite', storeOldValues: async () => ({ result: 'failed', fault }) });
      const outcome = await applyCopies(work, [...(await rendered(bench, manifests)), unseen], never);
      expect(brief(outcome)).toEqual(['theirs Failed', 'new Created', 'unseen Failed']);
      expect(outcome.copies[0]?.fault).toEqual(fault);
      for (const name of ['theirs', 'unseen']) expect((await bench.live(settings(namespace, name, {})))?.data).toEqual({ a: 'old' });
    });

    test('an intent token that came with a restored backup proves nothing', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, 'copy', { a: '1' });
      await applyCopies(bench.work(), await rendered(bench, [manifest]), never);
      const copy = await bench.live(manifest);
      await bench.writeAsOther(manifest, { verb: 'delete' });
      const { labels = {}, annotations = {} } = copy?.metadata ?? {};
      await bench.writeAsOther({ ...manifest, metadata: { ...manifest.metadata, labels, annotations } });
      for (let turn = 0; turn < 3; turn += 1) {
        const outcome = await applyCopies(bench.work(), await rendered(bench, [manifest]), never);
        expect(outcome.copies).toMatchObject([{ action: 'Failed', reason: 'Conflict' }]);
      }
      const { saves } = bench.shares;
      const before = saves.length;
      await applyCopies(bench.work(), await rendered(bench, [manifest]), never);
      expect(saves.length - before).toBeLessThanOrEqual(1);
      await pruneCopies(bench.work(), await rendered(bench, [manifest]), never);
      expect((await bench.live(manifest))?.metadata.uid).not.toBe(copy?.metadata.uid);
      expect(await bench.live(manifest)).toBeDefined();
    });

    test('a rollback undoes writes that the inventory does not have yet', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = (value: string) => settings(bench.namespace, 'copy', { a: value });
      await applyCopies(bench.work({ generation: 1 }), await rendered(bench, [manifest('1')]), never);
      const first = createCrashingProcess(bench, 1, []);
      await first.live(async () => applyCopies(bench.work({ generation: 2, ...first }), await rendered(bench, [manifest('2')]), never));
      expect((await bench.live(manifest('')))?.data).toEqual({ a: '2' });
      const work = bench.work({ generation: 2 });
      expect(brief(await restoreCopies(work, { rendered: await rendered(bench, [manifest('1')]), oldValues: [] }, never))).toEqual([
        'copy Restored',
      ]);
      expect((await bench.live(manifest('')))?.data).toEqual({ a: '1' });
    });
  });
}
