import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, deployment, intent, job, startControllerWorld } from './controller-world.ts';

const clusters = ['north', 'south', 'east'] as const;
const linesOf = (fleet: ControllerWorld, name: string) =>
  fleet.mirrored(name)?.status.clusters?.map(({ cluster, phase, reason = '' }) => `${cluster} ${phase} ${reason}`.trimEnd());
const lineOf = (fleet: ControllerWorld, name: string, cluster: string) =>
  fleet.mirrored(name)?.status.clusters?.find((line) => line.cluster === cluster);
const wavesOf = (...names: readonly string[]) => names.map((name) => ({ name, set: { clusters: [name] } }));

/** The selector may not change, so the server always refuses it. */
function selecting(name: string, app: string): JsonObject {
  const { spec, ...rest } = deployment(name, 1);
  const labels = { app };
  return {
    ...rest,
    spec: { ...(spec as JsonObject), selector: { matchLabels: labels }, template: { ...template(spec), metadata: { labels } } },
  };
}

const template = (spec: unknown) => (spec as { readonly template: JsonObject }).template;

test('forgets a refusal of the server when the previous spec is applied again', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  fleet.startProcess();
  const input = (app: string) => intent('back', [selecting('back', app)], { placement: { clusters: ['south'] } });
  await fleet.propagate(input('one'));
  await fleet.phase('back', 'Settled', 120_000);
  await fleet.propagate(input('two'));
  await fleet.phase('back', 'Paused', 120_000);
  expect(linesOf(fleet, 'back')).toEqual(['south Failed Immutable']);

  await fleet.propagate(input('one'));
  const settled = await fleet.phase('back', 'Settled', 30_000);
  expect(linesOf(fleet, 'back')).toEqual(['south Settled']);
  expect(settled.status.paused).toBe(false);
  const [share] = fleet.world.cluster('hub').objects('ClusterShare.muster.dev');
  expect(JSON.stringify(share)).not.toContain('"fault"');
  // No write was needed: the object is already in its wanted state.
  expect(fleet.world.cluster('south').get('Deployment.apps', 'back', 'default')?.metadata.annotations?.[marks.generation]).toBe('1');
}, 60_000);

test('forgets a refusal after a rollback, also in another process that reads the old fault', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  const first = fleet.startProcess();
  const input = (app: string) => intent('back', [selecting('back', app)], { placement: { clusters: ['south'] } });
  await fleet.propagate(input('one'));
  await fleet.phase('back', 'Settled', 120_000);
  await fleet.propagate(input('two'));
  await fleet.phase('back', 'Paused', 120_000);
  await first.stop();
  fleet.startProcess();
  expect((await fleet.world.pumped(fleet.propagations.rollback(fleet.context, { namespace: 'default', name: 'back' }, 1))).result).toBe(
    'ACCEPTED',
  );
  await fleet.phase('back', 'Settled', 60_000);
  expect(linesOf(fleet, 'back')).toEqual(['south Settled']);
}, 60_000);

test('ends a breach when the failed cluster has recovered for a while, and continues the waves', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [], east: [] });
  fleet.startProcess();
  const refusal = fleet.world.cluster('south').refuseWrites({ type: 'webhookTimeout' }, { kind: 'ConfigMap' });
  await fleet.propagate(intent('heals', [configMap('heals', { a: '1' })], { rollout: { waves: wavesOf(...clusters), maxFailures: 0 } }));
  await fleet.phase('heals', 'Paused', 120_000);
  expect(linesOf(fleet, 'heals')).toEqual(['east Waiting Wave', 'north Settled', 'south Denied Denied']);
  refusal[Symbol.dispose]();
  await fleet.world.until(() => lineOf(fleet, 'heals', 'south')?.phase === 'Settled', 600_000);
  // The cluster has recovered, but not for long enough. A cluster that fails again and again must not continue the rollout.
  await fleet.world.pass(20_000);
  expect(fleet.mirrored('heals')?.status.phase).toBe('Paused');
  expect(lineOf(fleet, 'heals', 'east')?.phase).toBe('Waiting');
  const settled = await fleet.phase('heals', 'Settled', 60_000);
  expect(linesOf(fleet, 'heals')).toEqual(['east Settled', 'north Settled', 'south Settled']);
  expect([settled.status.paused, settled.status.progress?.failed]).toEqual([false, 0]);
}, 60_000);

test('is not Settled any more after a settled copy was lost', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  await fleet.propagate(intent('lost', [configMap('lost', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('lost', 'Settled');
  const south = fleet.world.cluster('south');
  const refusal = south.refuseWrites({ type: 'quota' }, { kind: 'ConfigMap' });
  south.remove('ConfigMap', 'lost', 'default');
  await fleet.phase('lost', 'Degraded', 60_000);
  expect(linesOf(fleet, 'lost')).toEqual(['south Failed Quota']);
  refusal[Symbol.dispose]();
  await fleet.phase('lost', 'Settled', 600_000);
  expect(linesOf(fleet, 'lost')).toEqual(['south Settled']);
}, 60_000);

test('a suspended cluster that differs does not delay a wave, and the Propagation does not settle', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [], east: [] });
  fleet.startProcess();
  const input = (data: string, suspended: readonly string[]) =>
    intent('still', [configMap('still', { a: data })], { rollout: { waves: wavesOf('south', 'north') }, suspend: { clusters: suspended } });
  await fleet.propagate(input('1', []));
  await fleet.phase('still', 'Settled');
  // The object is in its wanted state, so the Propagation can settle.
  await fleet.propagate(input('1', ['south']));
  await fleet.phase('still', 'Settled');
  expect(linesOf(fleet, 'still')).toEqual(['east Settled', 'north Settled', 'south Settled Suspended']);
  await fleet.propagate(input('2', ['south']));
  await fleet.world.until(() => lineOf(fleet, 'still', 'east')?.generation === 3 && lineOf(fleet, 'still', 'east')?.phase === 'Settled');
  await fleet.world.pass(5_000);
  expect(linesOf(fleet, 'still')).toEqual(['east Settled', 'north Settled', 'south Waiting Suspended']);
  expect(fleet.mirrored('still')?.status.phase).toBe('Rolling');
  await fleet.propagate(input('2', []));
  await fleet.phase('still', 'Settled');
}, 60_000);

test('a failed Job is no breach if enough other clusters are complete', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [], east: [] }, { living: true });
  fleet.startProcess();
  const override = {
    set: { clusters: ['south'] },
    jsonPatch: [{ op: 'add', path: '/spec/template/metadata', value: { annotations: { 'sim/outcome': 'failed' } } }],
  };
  await fleet.propagate(intent('any', [job('any')], { overrides: [override], completion: { mode: 'ANY' } }));
  await fleet.world.until(() => {
    const { completion, clusters: lines } = fleet.mirrored('any')?.status ?? {};
    return completion?.done === true && lines?.every(({ phase }) => phase === 'Settled' || phase === 'Failed') === true;
  }, 300_000);
  const now = await fleet.phase('any', 'Degraded', 60_000);
  expect(now.status).toMatchObject({ paused: false, completion: { done: true, failed: 1 } });
}, 60_000);
