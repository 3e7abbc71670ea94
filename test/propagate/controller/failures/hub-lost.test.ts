import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, deployment, intent, job, startControllerWorld } from '../controller-world.ts';

const south = { clusters: ['south'] };
const place = (name: string) => ({ namespace: 'default', name });
const kinds = ['ConfigMap', 'Deployment.apps', 'Job.batch'] as const;

/** Returns the copies of `web` in the south. */
function copies({ world }: ControllerWorld): readonly (KubernetesObject | undefined)[] {
  return kinds.map((kind) =>
    world.cluster('south').get(kind, kind === 'ConfigMap' ? 'settings' : kind === 'Job.batch' ? 'once' : 'web', 'default'),
  );
}

const uidsOf = (fleet: ControllerWorld) => copies(fleet).map((copy) => copy?.metadata.uid);
const ownersOf = (fleet: ControllerWorld) => [...new Set(copies(fleet).map((copy) => copy?.metadata.labels?.[marks.propagation]))];

/** Deletes everything that Muster keeps on the hub, as if a new cluster had replaced it. */
function loseHub({ world, freeLease }: ControllerWorld): void {
  const hub = world.cluster('hub');
  freeLease();
  for (const kind of ['Propagation.muster.dev', 'ClusterShare.muster.dev', 'ControllerRevision.apps']) {
    for (const { metadata } of hub.objects(kind)) hub.remove(kind, metadata.name, metadata.namespace);
  }
}

const template = [configMap('settings', { a: '1' }), deployment('web', 1), job('once')];
const web = intent('web', template, { placement: south });

test('intents that are applied again after the loss of the hub adopt their copies, as docs/guide/operate.md describes', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  const first = fleet.startProcess();
  await fleet.propagate(web);
  await fleet.phase('web', 'Settled', 120_000);
  const [uids, owners] = [uidsOf(fleet), ownersOf(fleet)];
  first.kill();
  loseHub(fleet);
  fleet.startProcess();
  // Applied again without changes: no object is changed, and the conflict says what to do.
  const planned = await fleet.world.pumped(fleet.propagations.plan(fleet.context, web));
  const faults = planned.clusters.flatMap(({ objects }) => objects.map(({ fault }) => fault?.message ?? ''));
  expect(faults.every((message) => message.includes('conflict Adopt takes it over again'))).toBe(true);
  await fleet.propagate(web);
  await fleet.world.until(() => fleet.mirrored('web')?.status.clusters?.[0]?.reason === 'Conflict');
  expect(fleet.mirrored('web')?.status.clusters?.[0]?.message).toContain('conflict Adopt takes it over again');
  expect([uidsOf(fleet), ownersOf(fleet)]).toEqual([uids, owners]);
  // With ADOPT the same objects become copies again, and the Job does not run again.
  await fleet.propagate({ ...web, conflict: 'ADOPT' });
  await fleet.phase('web', 'Settled', 120_000);
  expect(uidsOf(fleet)).toEqual(uids);
  expect(ownersOf(fleet)).toEqual([fleet.mirrored('web')?.metadata.uid]);
  // A field that the intent drops is removed, and a deletion deletes all copies.
  const changed = [configMap('settings', { b: '2' }), deployment('web', 1), job('once')].map((json) => ({ json }));
  await fleet.propagate({ ...web, conflict: 'ADOPT', template: changed });
  await fleet.phase('web', 'Settled', 120_000);
  expect(copies(fleet)[0]?.data).toEqual({ b: '2' });
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('web'), undefined));
  await fleet.gone('web');
  expect(uidsOf(fleet)).toEqual([undefined, undefined, undefined]);
}, 60_000);

test('does not adopt copies of an intent of another name, also after the loss of the hub', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { living: true });
  const first = fleet.startProcess();
  await fleet.propagate(web);
  await fleet.phase('web', 'Settled', 120_000);
  const owners = ownersOf(fleet);
  first.kill();
  loseHub(fleet);
  fleet.startProcess();
  await fleet.propagate(intent('other', template, { placement: south, conflict: 'ADOPT' }));
  await fleet.world.until(() => fleet.mirrored('other')?.status.clusters?.[0]?.reason === 'Conflict');
  expect(ownersOf(fleet)).toEqual(owners);
}, 60_000);
