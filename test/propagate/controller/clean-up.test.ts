import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { listAt } from '../../../src/core/json-at.ts';
import { marks, type Propagation } from '../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

const place = (name: string) => ({ namespace: 'default', name });
const south = { clusters: ['south'] };
const settings = ({ world }: ControllerWorld) => world.cluster('south').get('ConfigMap', 'settings', 'default');

test.each(['deleted', 'without it'] as const)(
  'an object that another Propagation took over stays when the first is %s',
  async (how) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    const input = (name: string, more = {}) => intent(name, [configMap('settings', { a: '1' })], { placement: south, ...more });
    await fleet.propagate(input('first'));
    await fleet.phase('first', 'Settled');
    await fleet.propagate(input('second', { conflict: 'OVERWRITE' }));
    await fleet.phase('second', 'Settled');
    const uid = settings(fleet)?.metadata.uid;
    // The first Propagation names the new owner, and does not correct the copy as drift.
    const told = await fleet.phase('first', 'Degraded');
    expect(JSON.stringify(told)).toContain('it belongs to another Propagation: default/second');
    expect(
      fleet.world
        .cluster('south')
        .writes()
        .filter(({ name, isDry }) => name === 'settings' && !isDry),
    ).toHaveLength(2);
    if (how === 'deleted') {
      await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('first'), undefined));
      await fleet.gone('first');
    } else {
      await fleet.propagate(intent('first', [configMap('other', { a: '1' })], { placement: south }));
      await fleet.phase('first', 'Settled');
    }
    await fleet.world.pass(30_000);
    expect(settings(fleet)).toMatchObject({ metadata: { uid, annotations: { 'muster.dev/source': 'default/second' } } });
  },
  60_000,
);

const documentOf = ({ document }: Propagation, change: JsonObject) => ({ template: listAt(document, 'template'), ...document, ...change });

/** Edits like `kubectl edit`: any change that the definition accepts. */
async function edit({ world, stores, context, stored }: ControllerWorld, change: JsonObject): Promise<void> {
  const before = await stored('web');
  if (before === undefined) throw new Error('expected web');
  const edited = await world.pumped(stores.propagations.update(before, { document: documentOf(before, change) }, context.signal));
  expect(edited.result).toBe('written');
}

const broken = { template: [{ yaml: 'kind: [' }] };
const orphan = { deletion: { policy: 'Orphan' }, runAs: null };

test.each<[what: string, first: JsonObject, change: JsonObject, isLeft: boolean]>([
  ['has Orphan', {}, { ...broken, ...orphan }, true],
  ['has no policy, and its revision has Orphan', { deletion: { policy: 'ORPHAN' } }, { ...broken, deletion: null }, true],
  ['has no policy, and neither does its revision', {}, broken, false],
  ['has Delete, and its revision has Orphan', { deletion: { policy: 'ORPHAN' } }, { ...broken, deletion: { policy: 'Delete' } }, false],
])('an intent that is no spec any more and %s is deleted', async (_, first, change, isLeft) => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('settings', { a: '1' })], { placement: south, ...first }));
  await fleet.phase('web', 'Settled');
  await edit(fleet, change);
  await fleet.phase('web', 'Failed');
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('web'), undefined));
  await fleet.gone('web');
  expect(settings(fleet)?.data).toEqual(isLeft ? { a: '1' } : undefined);
});

test.each<[what: string, change: JsonObject, says: string]>([
  ['the spec has invalid deletion members', { runAs: { requester: false } }, 'runAs.requester: expected true'],
  ['the spec has no deletion and its revisions are lost', broken, 'deletion: is missing'],
])('if %s, a deleted intent keeps its copies until the spec says how to delete them', async (_, change, says) => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const hub = fleet.world.cluster('hub');
  await fleet.propagate(intent('web', [configMap('settings', { a: '1' })], { placement: south }));
  await fleet.phase('web', 'Settled');
  await edit(fleet, change);
  for (const { metadata } of hub.objects('ControllerRevision.apps')) hub.remove('ControllerRevision.apps', metadata.name, 'default');
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('web'), undefined));
  const held = await fleet.phase('web', 'Deleting');
  const message = expect.stringContaining(`no copy is deleted, because the spec does not say how: ${says}`);
  expect(held.status.clusters).toMatchObject([{ cluster: 'south', phase: 'Draining', reason: 'Invalid', message }]);
  expect(held.status.conditions?.[0]).toMatchObject({ type: 'Accepted', status: 'False', message });
  await fleet.world.pass(60_000);
  expect(settings(fleet)?.data).toEqual({ a: '1' });
  await edit(fleet, orphan);
  await fleet.gone('web');
  expect([settings(fleet)?.data, settings(fleet)?.metadata.labels?.[marks.propagation]]).toEqual([{ a: '1' }, undefined]);
});
