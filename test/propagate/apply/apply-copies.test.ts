import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { applyCopies } from '../../../src/propagate/apply/write-copies.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { ConflictMode } from '../../../src/propagate/model/spec.ts';
import type { CopyOutcome } from '../../../src/propagate/plan/copies/copy-work.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from './copy-bench.ts';
import { owner } from './memory-shares.ts';

const settings = (namespace: string, data: Readonly<Record<string, string>>, name = 'settings'): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

const brief = ({ action, state, reason }: CopyOutcome) => [action, state, reason].filter((part) => part !== undefined).join(' ');

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`applying copies to ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    /** Applies one object, rendered against its live state. */
    async function apply(bench: CopyBench, manifest: Manifest, more: Parameters<CopyBench['work']>[0] = {}) {
      const outcome = await applyCopies(bench.work(more), [await bench.rendered(manifest)], never);
      const [copy] = outcome.copies;
      if (copy === undefined) throw new Error(`expected an outcome, got ${JSON.stringify(outcome)}`);
      return { ...copy, result: outcome.result };
    }

    test('creates a copy with one call between two saves of the inventory, and needs no call the next time', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const first = await apply(bench, manifest);
      expect(brief(first)).toBe('Created Owned');
      const [announced, saved] = bench.shares.saves;
      expect(announced).toMatchObject([{ state: 'Intended', intent: expect.any(String) }]);
      expect(saved).toMatchObject([{ state: 'Owned', uid: first.uid, appliedGeneration: 1, action: 'Created' }]);
      const object = await bench.live(manifest);
      expect(object?.metadata).toMatchObject({
        uid: first.uid,
        labels: { [marks.propagation]: owner.uid },
        annotations: { [marks.source]: 'apps/web', [marks.generation]: '1', [marks.intent]: announced?.[0]?.intent },
      });
      expect(object?.metadata.managedFields).toMatchObject([{ manager: 'muster', operation: 'Apply' }]);

      const again = await apply(bench, manifest, { generation: 2 });
      expect(brief(again)).toBe('Unchanged Owned');
      expect(bench.shares.saves).toHaveLength(2);
      expect((await bench.live(manifest))?.metadata.resourceVersion).toBe(object?.metadata.resourceVersion);
    });

    test('updates changed fields and removes fields that the manifest no longer sets', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1', b: '2' }));
      const second = await apply(bench, settings(bench.namespace, { a: '3' }), { generation: 2 });
      expect(brief(second)).toBe('Configured Owned');
      const object = await bench.live(settings(bench.namespace, {}));
      expect(object?.data).toEqual({ a: '3' });
      expect(object?.metadata.annotations?.[marks.generation]).toBe('2');
      expect(bench.shares.kept?.entries).toMatchObject([{ uid: second.uid, appliedGeneration: 2 }]);
    });

    // docs/internals/propagation.md 5.2, first column: the object exists before the first write.
    test.each<readonly [ConflictMode, string, Readonly<Record<string, string>>]>([
      ['Abort', 'Failed Intended Conflict', { theirs: '1' }],
      ['Adopt', 'Configured Owned', { theirs: '1', ours: '1' }],
      ['Overwrite', 'Configured Owned', { theirs: '1', ours: '1' }],
      ['CreateOnly', 'Skipped Intended', { theirs: '1' }],
      ['ServerSideApply', 'Configured Shared', { theirs: '1', ours: '1' }],
    ])('an object that another owner created, with conflict mode %s: %s', async (conflict, expected, data) => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { ours: '1' });
      const theirs = await bench.writeAsOther(settings(bench.namespace, { theirs: '1' }));
      const copy = await apply(bench, manifest, { conflict });
      expect(brief(copy)).toBe(expected);
      const object = await bench.live(manifest);
      expect(object?.data).toEqual(data);
      expect(object?.metadata.uid).toBe(theirs.metadata.uid);
      if (data.ours === undefined) expect(object?.metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
      else
        expect(brief(await apply(bench, manifest, { conflict }))).toBe(
          expected.replace('Configured', conflict === 'CreateOnly' ? 'Skipped' : 'Unchanged'),
        );
    });

    // docs/internals/propagation.md 5.2, second column: another manager owns a field before the first write to it.
    test.each<readonly [ConflictMode, string, string]>([
      ['Adopt', 'Failed Intended Conflict', 'theirs'],
      ['Overwrite', 'Configured Owned', 'ours'],
      ['ServerSideApply', 'Failed Intended Conflict', 'theirs'],
    ])(
      'D6: a field that another manager applied to an object of another owner, with conflict mode %s: %s',
      async (conflict, expected, value) => {
        using bench = await createCopyBench(server.endpoint);
        await bench.writeAsOther(settings(bench.namespace, { field: 'theirs' }), { manager: 'argocd', verb: 'apply' });
        const copy = await apply(bench, settings(bench.namespace, { field: 'ours' }), { conflict });
        expect(brief(copy)).toBe(expected);
        expect((await bench.live(settings(bench.namespace, {})))?.data).toEqual({ field: value });
        if (value === 'theirs') expect(copy.message).toBe('owned by another manager: .data.field (argocd)');
        else
          expect(bench.logged).toMatchObject([
            { message: 'took over an object' },
            { conflicts: [{ manager: 'argocd', path: '.data.field' }] },
          ]);
      },
    );

    test.each<readonly [ConflictMode, string, string]>([
      ['Abort', 'Failed Owned Conflict', 'theirs'],
      ['Adopt', 'Failed Owned Conflict', 'theirs'],
      ['Overwrite', 'Configured Owned', 'ours'],
      ['CreateOnly', 'Skipped Owned', 'theirs'],
    ])(
      'a field of our copy that another manager set and Muster never sent, with conflict mode %s: %s',
      async (conflict, expected, value) => {
        using bench = await createCopyBench(server.endpoint);
        await apply(bench, settings(bench.namespace, { a: '1' }), { conflict });
        await bench.writeAsOther(settings(bench.namespace, { field: 'theirs' }), { manager: 'hpa', verb: 'merge' });
        const copy = await apply(bench, settings(bench.namespace, { a: '1', field: 'ours' }), { conflict, generation: 2 });
        expect(brief(copy)).toBe(expected);
        expect((await bench.live(settings(bench.namespace, {})))?.data?.['field' as never]).toBe(value);
      },
    );

    test('a field that Muster sent and another manager changed is overwritten together with the new fields', async () => {
      using bench = await createCopyBench(server.endpoint);
      await apply(bench, settings(bench.namespace, { a: '1', b: '1' }));
      await bench.writeAsOther(settings(bench.namespace, { a: 'theirs' }), { verb: 'merge' });
      const copy = await apply(bench, settings(bench.namespace, { a: '2', b: '2' }), { generation: 2 });
      expect(brief(copy)).toBe('Configured Owned');
      expect((await bench.live(settings(bench.namespace, {})))?.data).toEqual({ a: '2', b: '2' });
      expect(bench.logged).toMatchObject([{ conflicts: [{ manager: 'kubectl', path: '.data.a' }] }]);
    });

    test('adopting stores the old values of the fields it writes, and turns ownership by Update into Apply', async () => {
      using bench = await createCopyBench(server.endpoint);
      await bench.writeAsOther(settings(bench.namespace, { a: 'old', keep: '1', drop: '1' }), { manager: 'muster' });
      const copy = await apply(bench, settings(bench.namespace, { a: 'new', b: 'new' }), { conflict: 'Adopt' });
      expect(brief(copy)).toBe('Configured Owned');
      expect(bench.oldValues.map(({ values }) => values)).toEqual([settings(bench.namespace, { a: 'old' })]);
      const object = await bench.live(settings(bench.namespace, {}));
      // Muster may remove a field that a manager of its name had set. For that, the ownership must be by Apply.
      expect(object?.data).toEqual({ a: 'new', b: 'new' });
      expect(object?.metadata.managedFields).toMatchObject([{ manager: 'muster', operation: 'Apply' }]);
    });
  });
}
