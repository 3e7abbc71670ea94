import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

const place = { namespace: 'default', name: 'web' };
const input = intent('web', [configMap('web', { a: '1' })]);
const resume = (fleet: ControllerWorld) =>
  fleet.world.pumped(fleet.propagations.resume(fleet.context, place, { confirmPrune: false, abandon: [] }));
const copyIn = (fleet: ControllerWorld, cluster: string) => fleet.world.cluster(cluster).get('ConfigMap', 'web', 'default');
const revisionsOf = (fleet: ControllerWorld) => fleet.world.cluster('hub').objects('ControllerRevision.apps').length;

/** A lasting failure is retried every five minutes. A request of a user retries it at once. */
const soonMs = 5_000;

test.each<{ readonly how: string; readonly ask: (fleet: ControllerWorld) => Promise<unknown>; readonly generation: number }>([
  { how: 'goes on', ask: resume, generation: 1 },
  { how: 'asks for the same once more', ask: (fleet) => fleet.propagate(input), generation: 2 },
])(
  'a denied write is retried at once when a user $how',
  async ({ ask, generation }) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    const denied = fleet.world.cluster('south').refuseWrites({ type: 'denied' }, { kind: 'ConfigMap' });
    await fleet.propagate(input);
    await fleet.phase('web', 'Paused');
    denied[Symbol.dispose]();
    await fleet.world.pass(60_000);
    expect(copyIn(fleet, 'south')).toBeUndefined();

    expect(await ask(fleet)).toMatchObject({ result: 'ACCEPTED' });
    await fleet.world.until(() => copyIn(fleet, 'south') !== undefined, soonMs);
    const settled = await fleet.phase('web', 'Settled');
    // The spec is the same, so a second request makes no new revision.
    expect([settled.metadata.generation, settled.status.revision, revisionsOf(fleet)]).toEqual([generation, 1, 1]);
    expect(await ask(fleet)).toMatchObject({ result: 'UNCHANGED' });
  },
  60_000,
);

test('notices a granted right within 30 s, however often it was missing', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const denied = fleet.world.cluster('south').forbid({ kind: 'ConfigMap', verbs: ['patch', 'create', 'update'] });
  await fleet.propagate(input);
  await fleet.phase('web', 'Paused');
  await fleet.world.pass(120_000);
  expect(fleet.mirrored('web')?.status.clusters?.find(({ cluster }) => cluster === 'south')).toMatchObject({ phase: 'Denied' });
  denied[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'south') !== undefined, 31_000);
}, 60_000);

test('retries soon if a write that was running at the resume is denied, because the fix came too late for it', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const denied = fleet.world.cluster('south').forbid({ kind: 'ConfigMap', verbs: ['patch', 'create', 'update'] });
  await fleet.propagate(input);
  await fleet.phase('web', 'Paused');
  // Answers are so slow that this request is still running when the user asks again.
  const slow = fleet.world.cluster('south').delay(3_000, { kind: 'ConfigMap' });
  await resume(fleet);
  await fleet.world.pass(1_000);
  await resume(fleet);
  await fleet.world.pass(3_000);
  denied[Symbol.dispose]();
  slow[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'south') !== undefined, soonMs);
}, 60_000);

test('makes a refused plan again at once after a resume', async () => {
  const source: KubernetesObject = { ...(configMap('web', { a: '1' }) as unknown as KubernetesObject) };
  await using fleet = await startControllerWorld({ hub: [source], south: [] });
  const sick = fleet.world.cluster('hub').answer({ status: 503, times: Number.POSITIVE_INFINITY }, { verb: 'get', kind: 'ConfigMap' });
  fleet.startProcess();
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web' };
  const spec = { template: [{ ref }], placement: { clusters: ['south'] } };
  fleet.world.cluster('hub').put({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: place, spec });
  await fleet.phase('web', 'Failed');
  await fleet.world.pass(60_000);
  sick[Symbol.dispose]();
  expect((await resume(fleet)).result).toBe('ACCEPTED');
  await fleet.world.until(() => copyIn(fleet, 'south') !== undefined, soonMs);
  await fleet.phase('web', 'Settled');
  expect(fleet.mirrored('web')?.metadata.annotations[marks.resumedAt]).toBeDefined();
}, 60_000);
