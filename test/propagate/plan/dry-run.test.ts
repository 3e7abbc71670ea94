import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeFault } from '../../../src/changes/describe-fault.ts';
import type { Members } from '../../../src/changes/members.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import { diffOf } from '../../../src/manifests/diff.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { noListRules } from '../../../src/manifests/merge-patch.ts';
import { textOfKey } from '../../../src/manifests/object-key.ts';
import type { RenderedObject } from '../../../src/propagate/model/plan.ts';
import { fingerprintOfPaths } from '../../../src/propagate/plan/copies/owned-fields.ts';
import { type DryRun, dryRunCluster } from '../../../src/propagate/plan/dry-run.ts';
import type { PlannerPorts } from '../../../src/propagate/plan/snapshot/plan-request.ts';
import { type ContractServer, contractServers } from '../../contract/contract-server.ts';
import { never } from '../../support/cluster/transport.ts';
import { type CopyBench, createCopyBench } from '../apply/copy-bench.ts';
import { cluster } from '../apply/memory-shares.ts';
import { member } from './placing/placing-fixtures.ts';
import { deployment, entry, shareOf, specOf } from './snapshots.ts';

const settings = (namespace: string, data: Readonly<Record<string, string>>): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace },
  data,
});

/** A cluster of the planner. Only the kinds that it serves are used. */
function portsOf(bench: CopyBench): PlannerPorts {
  const unasked = () => {
    throw new Error('a dry run asks no mirror');
  };
  const served: Members['objects']['served'] = (_cluster, kind) =>
    'apiVersion' in kind ? bench.addressOf({ ...kind, metadata: { name: 'any' } }).resource : 'absent';
  const members: Members = {
    all: () => [member(cluster)],
    get: () => member(cluster),
    api: () => bench.api,
    objects: { served, read: unasked, all: unasked, hold: unasked, whenRead: unasked, onChange: unasked },
  };
  return {
    members,
    clientOf: () => bench.client,
    listRulesOf: () => noListRules,
    sensitiveKinds: createSensitiveKinds(),
    clock: bench.clock,
    log: silentLog,
  };
}

interface Asked {
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The paths that the inventory records as sent. */
  readonly sent?: readonly string[];
}

async function ask(bench: CopyBench, object: RenderedObject, { spec = {}, sent }: Asked = {}): Promise<DryRun> {
  const share =
    sent === undefined
      ? undefined
      : shareOf(cluster, [entry(object.desired, { uid: object.liveUid ?? '', sent: fingerprintOfPaths(sent) })]);
  const request = { namespace: 'default', name: 'web', spec: specOf([object.desired], spec), purpose: 'decide', signal: never } as const;
  const answers = await dryRunCluster(portsOf(bench), request, { cluster, objects: [object], share });
  const answer = answers.get(textOfKey(object.key));
  if (answer === undefined) throw new Error('expected an answer');
  return answer;
}

for (const { title, available, start } of contractServers) {
  describe.skipIf(!available)(`dry runs on ${title}`, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose]());

    test('report what would be created, and create nothing', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { a: '1' });
      const answer = await ask(bench, await bench.rendered(manifest));

      expect(answer).toMatchObject({ result: 'accepted', object: { data: { a: '1' } }, conflicts: [] });
      expect(await bench.live(manifest)).toBeUndefined();
    });

    test('report what would change: the diff has the sent fields and no field ownership', async () => {
      using bench = await createCopyBench(server.endpoint);
      await bench.writeAsOther(settings(bench.namespace, { a: '1', theirs: 'x' }));
      const manifest = settings(bench.namespace, { b: '2' });
      const object = await bench.rendered(manifest, { action: 'ADOPT' });
      const answer = await ask(bench, object, { spec: { conflict: 'Adopt' } });
      if (answer.result !== 'accepted' || object.live === undefined)
        throw new Error(`expected it to be accepted, got ${JSON.stringify(answer)}`);
      const before = { ...object.live, apiVersion: 'v1', kind: 'ConfigMap' };
      const diff = diffOf({ before, after: answer.object, isSensitive: false });

      expect(diff?.split('\n').filter((line) => /^[-+] /.test(line))).toEqual(['+  b: "2"']);
      expect((await bench.live(manifest))?.data).toEqual({ a: '1', theirs: 'x' });
    });

    test.each([
      { what: 'an object exists', before: undefined, after: { a: 'theirs' } },
      { what: 'the object has changed', before: { a: '1' }, after: { a: 'theirs' } },
    ])('detect that $what before the mirror shows it', async ({ before, after }) => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { b: '2' });
      if (before !== undefined) await bench.writeAsOther(settings(bench.namespace, before));
      const object = await bench.rendered(manifest, before === undefined ? {} : { action: 'ADOPT' });
      await bench.writeAsOther(settings(bench.namespace, after), before === undefined ? {} : { verb: 'merge' });
      const answer = await ask(bench, object, { spec: { conflict: 'Overwrite' } });

      expect(answer).toMatchObject({ result: 'stale', live: { result: 'held', object: { data: after } } });
    });

    test.each([{ again: false }, { again: true }])('detect that the object is gone or was recreated: $again', async ({ again }) => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { b: '2' });
      await bench.writeAsOther(settings(bench.namespace, { a: '1' }));
      const object = await bench.rendered(manifest, { action: 'UPDATE' });
      await bench.writeAsOther(settings(bench.namespace, {}), { verb: 'delete' });
      if (again) await bench.writeAsOther(settings(bench.namespace, { a: '1' }));
      const answer = await ask(bench, object);

      expect(answer).toMatchObject({ result: 'stale', live: { result: again ? 'held' : 'absent' } });
    });

    test.each([
      { conflict: 'Abort', sent: undefined, result: 'conflict' },
      { conflict: 'Adopt', sent: undefined, result: 'conflict' },
      { conflict: 'Adopt', sent: ['.data.b'], result: 'conflict' },
      { conflict: 'Overwrite', sent: undefined, result: 'accepted' },
      { conflict: 'Abort', sent: ['.data.a', '.data.b'], result: 'accepted' },
    ])('report a field that kubectl owns as $result, with $conflict and the sent fields $sent', async ({ conflict, sent, result }) => {
      using bench = await createCopyBench(server.endpoint);
      await bench.writeAsOther(settings(bench.namespace, { a: 'theirs' }), { verb: 'apply' });
      const object = await bench.rendered(settings(bench.namespace, { a: 'ours' }), { action: sent === undefined ? 'ADOPT' : 'UPDATE' });
      const answer = await ask(bench, object, { spec: { conflict }, ...(sent === undefined ? {} : { sent }) });

      expect(answer).toMatchObject({ result, conflicts: [{ manager: 'kubectl', path: '.data.a' }] });
      if (answer.result === 'accepted') expect(answer.object.data).toEqual({ a: 'ours' });
    });

    test('report an unknown field without its value', async () => {
      using bench = await createCopyBench(server.endpoint);
      const web = deployment('web', 2);
      const wrong = {
        ...web,
        metadata: { ...web.metadata, namespace: bench.namespace },
        spec: { ...Object(web.spec), replicaz: 'secret-value' },
      };
      const answer = await ask(bench, await bench.rendered(wrong));
      if (answer.result !== 'failed') throw new Error(`expected it to fail, got ${JSON.stringify(answer)}`);

      expect(answer.fault.code).toBe('INVALID');
      expect(describeFault(answer.fault)).toContain('.spec.replicaz');
      expect(describeFault(answer.fault)).not.toContain('secret-value');
    });

    test('report a missing namespace', async () => {
      using bench = await createCopyBench(server.endpoint);
      const answer = await ask(bench, await bench.rendered(settings('nowhere-to-be-found', { a: '1' })));

      expect(answer).toMatchObject({ result: 'failed', fault: { code: 'NOT_FOUND' } });
    });

    test('replace the whole object with PUT, and keep the fields of the member cluster', async () => {
      using bench = await createCopyBench(server.endpoint);
      const manifest = settings(bench.namespace, { ours: '1' });
      await bench.writeAsOther(settings(bench.namespace, { theirs: '1' }));
      const object = await bench.rendered(manifest, { action: 'ADOPT' });
      const answer = await ask(bench, object, { spec: { conflict: 'Adopt', write: 'Replace' } });
      await bench.writeAsOther(settings(bench.namespace, { more: '1' }), { verb: 'merge' });
      const stale = await ask(bench, object, { spec: { conflict: 'Adopt', write: 'Replace' } });

      expect(answer).toMatchObject({ result: 'accepted', object: { data: { ours: '1' } } });
      expect(stale).toMatchObject({ result: 'stale', live: { object: { data: { theirs: '1', more: '1' } } } });
    });
  });
}
