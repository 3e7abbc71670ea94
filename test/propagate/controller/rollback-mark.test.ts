import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, deployment, intent, revisionsOf, startControllerWorld } from './controller-world.ts';

const place = { namespace: 'default', name: 'web' };
const south = { placement: { clusters: ['south'] } };
type Annotations = Readonly<Record<string, string>>;

/** Applies like `kubectl apply`: only the spec, with these annotations or with the existing ones. */
async function applied(fleet: ControllerWorld, spec: JsonObject, annotations?: Annotations): Promise<void> {
  const before = await fleet.stored('web');
  if (before === undefined) throw new Error('expected web');
  const { requester: _, ...document } = before.document;
  const change = { document: { template: [], ...document, ...spec }, ...(annotations === undefined ? {} : { annotations }) };
  const { result } = await fleet.world.pumped(fleet.stores.propagations.update(before, change, fleet.context.signal));
  expect(result).toBe('written');
}

const template = (...manifests: readonly JsonObject[]) => ({ template: manifests.map((json) => ({ json })) });

async function rolledBackTo(fleet: ControllerWorld, revision: number): Promise<void> {
  await fleet.world.pumped(fleet.propagations.rollback(fleet.context, place, revision));
}

test('ignores the mark of a rollback after the spec was written again, also with the same spec and after the revision was dropped', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const cluster = fleet.world.cluster('south');
  cluster.put(configMap('theirs', { a: 'old' }) as KubernetesObject);
  for (const a of ['1', '2']) {
    await fleet.propagate(intent('web', [configMap('web', { a })], south));
    await fleet.phase('web', 'Settled');
  }
  await rolledBackTo(fleet, 1);
  await fleet.phase('web', 'Settled');
  expect(await revisionsOf(fleet, 'web')).toEqual(['3', '2 back', '1']);
  const settled = async (spec: JsonObject) => {
    await applied(fleet, spec);
    await fleet.phase('web', 'Settled');
  };
  await settled(template(configMap('web', { a: '2' })));
  await settled(template(configMap('web', { a: '1' })));
  expect(await revisionsOf(fleet, 'web')).toEqual(['5', '4', '3', '2 back', '1']);

  await settled({ conflict: 'Overwrite', ...template(configMap('web', { a: '6' }), configMap('theirs', { a: '6' })) });
  for (let number = 7; number <= 14; number += 1) {
    const a = String(number);
    await settled({ conflict: 'Abort', ...template(configMap('web', { a }), configMap('theirs', { a })) });
    expect(cluster.get('ConfigMap', 'theirs', 'default')?.data).toEqual({ a });
  }
  expect(await revisionsOf(fleet, 'web')).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5].map(String));
  expect((await fleet.stored('web'))?.metadata.annotations[marks.rollback]).toBe('1');
}, 60_000);

test('rolls a breach long after a rollback back to the last state and deletes nothing', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  const web = () => fleet.world.cluster('south').get('Deployment.apps', 'web', 'default');
  const rollout = { deadline: '20s', onFailure: 'ROLLBACK' };
  for (const image of ['web:1', 'web:2']) {
    await fleet.propagate(intent('web', [deployment('web', 1, image)], { ...south, rollout }));
    await fleet.phase('web', 'Settled', 120_000);
  }
  await rolledBackTo(fleet, 1);
  await fleet.phase('web', 'Settled', 120_000);
  for (let number = 4; number <= 12; number += 1) {
    await applied(fleet, template(deployment('web', 1, `web:${number}`)));
    await fleet.phase('web', 'Settled', 120_000);
  }
  const uid = web()?.metadata.uid;
  // Has no node to run on, so it never becomes ready.
  const nowhere = {
    objects: { kind: 'Deployment' },
    jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { no: 'node' } }],
  };
  await applied(fleet, { overrides: [nowhere], ...template(deployment('web', 1, 'web:13'), configMap('extra', { a: '1' })) });
  await fleet.phase('web', 'Failed', 180_000);
  expect([web()?.metadata.uid, JSON.stringify(web()).match(/"image":"([^"]+)"/)?.[1]]).toEqual([uid, 'web:12']);
}, 120_000);

test.each([
  { mark: '1', meant: undefined, back: ['2 back', '1'] },
  { mark: '1', meant: 3, back: ['2 back', '1'] },
  { mark: '1', meant: 2, back: ['2', '1'] },
  { mark: '0', meant: undefined, back: ['2', '1'] },
  { mark: '0', meant: 3, back: ['2', '1'] },
])(
  'a mark of revision $mark that is of generation $meant',
  async ({ mark, meant, back }) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    for (const a of ['1', '2']) {
      await fleet.propagate(intent('web', [configMap('web', { a })], south));
      await fleet.phase('web', 'Settled');
    }
    const annotations = { [marks.rollback]: mark, ...(meant === undefined ? {} : { [marks.rollbackGeneration]: String(meant) }) };
    await applied(fleet, template(configMap('web', { a: '1' })), annotations);
    await fleet.phase('web', 'Settled');
    expect(await revisionsOf(fleet, 'web')).toEqual(['3', ...back]);
  },
  60_000,
);
