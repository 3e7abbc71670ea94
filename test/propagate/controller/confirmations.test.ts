import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { listAt, objectAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks, type Propagation } from '../../../src/propagate/model/propagation.ts';
import { printSpec } from '../../../src/propagate/model/spec.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

const place = (name: string) => ({ namespace: 'default', name });
const nothing = { confirmPrune: false, abandon: [] };
const names = ['a', 'b', 'c', 'd', 'e'];
const maps = names.map((name) => configMap(name, { a: '1' }));
const yes = { labels: { app: 'yes' } };
const no = { labels: { app: 'no' } };

const left = ({ world }: ControllerWorld, ...clusters: readonly string[]) =>
  clusters.map((cluster) => names.filter((name) => world.cluster(cluster).get('ConfigMap', name, 'default') !== undefined).length);
const confirm = (fleet: ControllerWorld, name: string) =>
  fleet.world.pumped(fleet.propagations.resume(fleet.context, place(name), { ...nothing, confirmPrune: true }));

/** Changes labels that the placement selects by, and waits until the controller has seen the change. */
async function relabel(fleet: ControllerWorld, clusters: readonly string[]): Promise<void> {
  for (const cluster of clusters) {
    fleet.world.setTraits(cluster, no);
    const group = `${cluster}.example.com`;
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
    const kinds = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
    fleet.world.cluster(cluster).define({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: { group, scope: 'Namespaced', names: kinds, versions: [version] },
    });
  }
  await fleet.world.pass(5_000);
}

/** Edits like `kubectl edit`: without a digest, with all annotations kept. */
async function edit(fleet: ControllerWorld, name: string, data: Readonly<Record<string, string>>): Promise<void> {
  const before = await fleet.stored(name);
  if (before === undefined || 'problems' in before.spec) throw new Error(`expected ${name}`);
  const document = printSpec({ ...before.spec, template: [] });
  const template = [{ json: configMap(name, data) }];
  await fleet.world.pumped(fleet.stores.propagations.update(before, { document: { ...document, template } }, fleet.context.signal));
}

const conditionOf = ({ status }: Propagation, type: string) => status.conditions?.find((condition) => condition.type === type);

test('a confirmation counts for one prune only: the next one is held and needs its own', async () => {
  const clusters = ['c1', 'c2', 'c3', 'c4'];
  await using fleet = await startControllerWorld(Object.fromEntries(['hub', ...clusters].map((name) => [name, []])), {
    traits: Object.fromEntries(clusters.map((name) => [name, yes])),
  });
  fleet.startProcess();
  await fleet.propagate(intent('web', maps, { placement: { selector: 'app=yes' } }));
  await fleet.phase('web', 'Settled');
  await relabel(fleet, ['c3', 'c4']);
  const held = await fleet.phase('web', 'Held');
  expect(held.status.prune).toMatchObject({ objects: 10, clusters: [{ cluster: 'c3' }, { cluster: 'c4' }] });
  expect((await confirm(fleet, 'web')).result).toBe('ACCEPTED');
  await fleet.phase('web', 'Settled');
  await fleet.world.until(() => fleet.mirrored('web')?.status.prune === undefined);
  expect(left(fleet, ...clusters)).toEqual([5, 5, 0, 0]);

  await relabel(fleet, ['c2']);
  const again = await fleet.phase('web', 'Held');
  // A new leader plans again, with the old confirmation still in the annotations.
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.pass(40_000);
  expect(fleet.mirrored('web')?.metadata.annotations[marks.confirmPrune]).toBe(held.status.prune?.digest);
  expect(left(fleet, ...clusters)).toEqual([5, 5, 0, 0]);
  expect(again.status.prune?.digest).not.toBe(held.status.prune?.digest);
  await confirm(fleet, 'web');
  await fleet.phase('web', 'Settled');
  expect(left(fleet, ...clusters)).toEqual([5, 0, 0, 0]);
}, 120_000);

test('holds the prune of clusters that leave one by one like that of clusters that leave at once, also with a new leader', async () => {
  const clusters = Array.from({ length: 10 }, (_, index) => `c${index}`);
  await using fleet = await startControllerWorld(Object.fromEntries(['hub', ...clusters].map((name) => [name, []])), {
    traits: Object.fromEntries(clusters.map((name) => [name, yes])),
  });
  const process = fleet.startProcess();
  await fleet.propagate(intent('web', maps.slice(0, 1), { placement: { selector: 'app=yes' } }));
  await fleet.phase('web', 'Settled');
  const standing = () => left(fleet, ...clusters).filter((count) => count > 0).length;
  for (const cluster of clusters.slice(0, 3)) await relabel(fleet, [cluster]);
  await fleet.phase('web', 'Settled');
  expect(standing()).toBe(7);

  process.kill();
  fleet.freeLease();
  fleet.startProcess();
  for (const cluster of clusters.slice(3, 6)) await relabel(fleet, [cluster]);
  const held = await fleet.phase('web', 'Held');
  expect([standing(), held.status.prune?.objects, held.status.mostObjects]).toEqual([7, 3, 10]);
  expect(conditionOf(held, 'Planned')?.message).toBe('3 of 7 objects would be deleted, 6 of 10 in total since this was decided');

  await confirm(fleet, 'web');
  await fleet.world.until(() => fleet.mirrored('web')?.status.prune === undefined);
  const done = await fleet.phase('web', 'Settled');
  expect([standing(), done.status.mostObjects]).toEqual([4, 4]);
  // The confirmed deletions no longer count: three of the remaining four need no confirmation.
  await relabel(fleet, clusters.slice(6, 9));
  await fleet.phase('web', 'Settled');
  expect(standing()).toBe(1);
}, 60_000);

test('continues a confirmed prune although half of it fails at first, the plan changes and the process dies', async () => {
  const clusters = ['c1', 'c2', 'c3'];
  await using fleet = await startControllerWorld(Object.fromEntries(['hub', ...clusters].map((name) => [name, []])), {
    traits: Object.fromEntries(clusters.map((name) => [name, yes])),
  });
  const first = fleet.startProcess();
  await fleet.propagate(intent('web', maps, { placement: { selector: 'app=yes' } }));
  await fleet.phase('web', 'Settled');
  await relabel(fleet, ['c2']);
  await fleet.phase('web', 'Held');
  const refused = fleet.world.cluster('c2').answer({ status: 403, times: 3 }, { verb: 'delete', kind: 'ConfigMap' });
  await confirm(fleet, 'web');
  await fleet.world.until(() => left(fleet, 'c2')[0] !== 5);
  expect(left(fleet, 'c2')[0]).toBeGreaterThan(0);
  first.kill();
  refused[Symbol.dispose]();
  // Another prune without a confirmation is held.
  await relabel(fleet, ['c3']);
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.until(() => left(fleet, 'c2')[0] === 0, 400_000);
  const held = await fleet.phase('web', 'Held');
  expect(held.status.prune?.clusters.map(({ cluster }) => cluster)).toEqual(['c3']);
  expect(left(fleet, ...clusters)).toEqual([5, 0, 5]);
}, 120_000);

test('abandons one share only: its name leaves the annotation afterwards, and later copies are deleted', async () => {
  await using fleet = await startControllerWorld({ hub: [], east: [] });
  fleet.startProcess();
  const everywhere = intent('web', [configMap('web', { a: '1' })]);
  const copy = () => fleet.world.cluster('east').get('ConfigMap', 'web', 'default');
  await fleet.propagate(everywhere);
  await fleet.phase('web', 'Settled');
  const early = await fleet.world.pumped(fleet.propagations.resume(fleet.context, place('web'), { ...nothing, abandon: ['east'] }));
  expect(early).toMatchObject({ result: 'REFUSED', notes: [{ path: 'abandon' }] });

  fleet.world.leave('east');
  await fleet.propagate({ ...everywhere, placement: { clusters: ['hub'] } });
  const isPending = () => JSON.stringify(fleet.world.cluster('hub').objects('ClusterShare.muster.dev')).includes('PendingDeletion');
  await fleet.world.until(isPending);
  const given = await fleet.world.pumped(fleet.propagations.resume(fleet.context, place('web'), { ...nothing, abandon: ['east'] }));
  expect(given.result).toBe('ACCEPTED');
  await fleet.phase('web', 'Settled');
  await fleet.world.until(() => fleet.mirrored('web')?.metadata.annotations[marks.abandon] === undefined);
  expect(copy()).toBeDefined();

  fleet.world.join('east');
  await fleet.world.pass(5_000);
  fleet.world.cluster('east').remove('ConfigMap', 'web', 'default');
  await fleet.propagate(everywhere);
  await fleet.phase('web', 'Settled');
  fleet.world.leave('east');
  await fleet.propagate({ ...everywhere, placement: { clusters: ['hub'] } });
  await fleet.world.until(isPending);
  await fleet.world.pass(20_000);
  expect(isPending()).toBe(true);
  fleet.world.join('east');
  await fleet.world.until(() => copy() === undefined);
}, 120_000);

test('a digest counts for its generation only: a later change without a digest is carried out', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const input = intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } });
  const { digest } = await fleet.world.pumped(fleet.propagations.plan(fleet.context, input));
  await fleet.propagate(input, digest);
  await fleet.phase('web', 'Settled');
  for (const a of ['2', '3']) {
    await edit(fleet, 'web', { a });
    await fleet.phase('web', 'Settled');
    expect(fleet.world.cluster('south').get('ConfigMap', 'web', 'default')?.data).toEqual({ a });
  }
  expect(fleet.mirrored('web')?.status.asked).toEqual({ digest, generation: 1 });
}, 60_000);

test('plans a refused generation again, by itself and on request', async () => {
  const source: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'source', namespace: 'default' },
    data: { a: '1' },
  };
  await using fleet = await startControllerWorld({ hub: [source], south: [] });
  const sick = fleet.world.cluster('hub').answer({ status: 503, times: Number.POSITIVE_INFINITY }, { verb: 'get', kind: 'ConfigMap' });
  fleet.startProcess();
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'source' };
  const spec: JsonObject = { template: [{ ref }], placement: { clusters: ['south'] } };
  fleet.world
    .cluster('hub')
    .put({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: { namespace: 'default', name: 'web' }, spec });
  const failed = await fleet.phase('web', 'Failed');
  expect(conditionOf(failed, 'Planned')).toMatchObject({ status: 'False', reason: 'Refused' });
  const refused = await fleet.propagate({ ...place('web'), ...spec });
  expect([refused.result, refused.notes.length > 0]).toEqual(['REFUSED', true]);
  sick[Symbol.dispose]();
  await fleet.phase('web', 'Settled', 330_000);
  expect(fleet.world.cluster('south').get('ConfigMap', 'source', 'default')?.data).toEqual({ a: '1' });

  const again = fleet.world.cluster('hub').answer({ status: 503, times: Number.POSITIVE_INFINITY }, { verb: 'get', kind: 'ConfigMap' });
  const { revision } = fleet.mirrored('web')?.status ?? {};
  fleet.world.cluster('hub').put({ ...source, data: { a: '2' } });
  const stuck = await fleet.phase('web', 'Failed');
  expect(conditionOf(stuck, 'Planned')).toMatchObject({ status: 'False', reason: 'NotPlannedAgain' });
  again[Symbol.dispose]();
  const done = await fleet.phase('web', 'Settled', 330_000);
  expect(fleet.world.cluster('south').get('ConfigMap', 'source', 'default')?.data).toEqual({ a: '2' });
  // The generation was decided once. An unreachable cluster makes no new revision.
  expect(done.status.revision).toBe(revision);
}, 60_000);

test('a repeated request for a refused spec does not return UNCHANGED', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const input = intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] }, strict: true });
  await fleet.propagate(input);
  await fleet.phase('web', 'Settled');
  const before = await fleet.stored('web');
  if (before === undefined) throw new Error('expected web');
  const status = { ...before.status, phase: 'Failed' as const };
  await fleet.world.pumped(fleet.stores.propagations.patchStatus(before, status, fleet.context.signal));
  expect((await fleet.propagate(input)).result).toBe('ACCEPTED');
  const after = await fleet.phase('web', 'Settled');
  expect(after.metadata.generation).toBe(before.metadata.generation + 1);
  expect((await fleet.propagate(input)).result).toBe('UNCHANGED');
  expect(listAt(objectAt({ document: after.document }, 'document'), 'template')).toHaveLength(1);
}, 60_000);
