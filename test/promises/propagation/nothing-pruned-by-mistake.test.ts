import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  configMapAt,
  configMapOf,
  dataIn,
  intentOf,
  linesOf,
  objectAt,
  othersApply,
  othersDelete,
  othersMerge,
  phaseOf,
  propagate,
  propagated,
  stateOf,
  stateWhere,
  told,
} from '../../support/propagate/propagating.ts';
import { type EmbeddedFleet, startEmbedded } from '../../support/propagate/writing-fleet.ts';

// No object is deleted by mistake: D10 to D12, D18, as a client of GraphQL sees it. All cases are enumerated in test/propagate/controller.

const many = (fleet: EmbeddedFleet, count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => configMapOf(fleet, `m${index}`, { a: '1' }));

const countIn = (fleet: EmbeddedFleet) => fleet.names.map((name) => fleet.cluster(name).objects('ConfigMap', fleet.namespace).length);

test('D10: a copy that others recreate between our read and our deletion stays: the server answers 409, and the deletion is given up', async () => {
  await using fleet = await startEmbedded();
  const south = fleet.cluster('south');
  await propagated(fleet, intentOf(fleet, 'race', [configMapOf(fleet, 'race', { a: '1' })], { placement: { clusters: ['south'] } }));
  await phaseOf(fleet, 'race', 'SETTLED');
  using _late = south.delay(3_000, { verb: 'delete', kind: 'ConfigMap' });
  await told(fleet, 'delete', 'race');
  await fleet.until(() => south.requests.some(({ resource }) => resource?.verb === 'delete' && resource.name === 'race'));
  const anew = south.recreate('ConfigMap', 'race', fleet.namespace);
  await fleet.until(async () => (await stateOf(fleet, 'race')) === null);
  expect(await objectAt(fleet, 'south', configMapAt(fleet, 'race'))).toEqual(anew);
  expect(south.requests.filter(({ resource, status }) => resource?.verb === 'delete' && status === 409)).toHaveLength(1);
});

test('D11: more than 30 % and more than 3 objects are deleted only after this prune was confirmed', async () => {
  await using fleet = await startEmbedded();
  await propagated(fleet, intentOf(fleet, 'many', many(fleet, 5)));
  await phaseOf(fleet, 'many', 'SETTLED');
  const fewer = intentOf(fleet, 'many', many(fleet, 3));
  expect((await propagate(fleet, fewer)).result).toBe('ACCEPTED');
  const held = await phaseOf(fleet, 'many', 'HELD');
  expect(linesOf(held).map(([, , reason]) => reason)).toEqual(['PRUNE_HELD', 'PRUNE_HELD', 'PRUNE_HELD']);
  expect(held.clusters[0]?.message).toContain('6 of 15 objects');
  await fleet.pass(30_000);
  expect(countIn(fleet)).toEqual([5, 5, 5]);

  // The confirmation applies to the held prune only, not to another one.
  await propagated(fleet, intentOf(fleet, 'many', many(fleet, 2)));
  await stateWhere(fleet, 'many', ({ phase, clusters }) => phase === 'HELD' && clusters[0]?.message?.includes('9 of 15') === true);
  expect((await told(fleet, 'resume', 'many', 'confirmPrune: true')).result).toBe('ACCEPTED');
  await fleet.until(() => countIn(fleet).every((count) => count === 2));
  expect(linesOf(await phaseOf(fleet, 'many', 'SETTLED')).map(([, phase]) => phase)).toEqual(['SETTLED', 'SETTLED', 'SETTLED']);
});

test('D11: a placement that matches nothing any more is refused; written past us, by kubectl, it takes nothing away until that is confirmed', async () => {
  await using fleet = await startEmbedded();
  const input = intentOf(fleet, 'nowhere', [configMapOf(fleet, 'nowhere', { a: '1' })]);
  await propagated(fleet, input);
  await phaseOf(fleet, 'nowhere', 'SETTLED');
  const { result, notes } = await propagate(fleet, { ...input, placement: { selector: 'tier=none' } });
  expect([result, notes.map(({ code }) => code)]).toEqual(['REFUSED', ['NOTHING_CHOSEN', 'PRUNE_HELD']]);

  const path = `/apis/muster.dev/v1alpha1/namespaces/${fleet.namespace}/propagations/nowhere`;
  await othersMerge(fleet, 'north', path, { spec: { placement: { selector: { matchLabels: { tier: 'none' } } } } });
  await phaseOf(fleet, 'nowhere', 'HELD');
  await fleet.pass(15_000);
  expect(await dataIn(fleet, 'nowhere')).toEqual([{ a: '1' }, { a: '1' }, { a: '1' }]);
  await told(fleet, 'resume', 'nowhere', 'confirmPrune: true');
  await fleet.until(async () => (await dataIn(fleet, 'nowhere')).every((data) => data === undefined));
});

test('D11: a template that cannot be read any more takes nothing away', async () => {
  await using fleet = await startEmbedded();
  await othersApply(fleet, 'north', { path: configMapAt(fleet, 'source'), body: configMapOf(fleet, 'source', { a: '1' }) });
  const ref = { cluster: 'north', apiVersion: 'v1', kind: 'ConfigMap', namespace: fleet.namespace, name: 'source' };
  const input = { ...intentOf(fleet, 'followed', []), template: [{ ref }], placement: { clusters: ['south', 'east'] } };
  await propagated(fleet, input);
  await phaseOf(fleet, 'followed', 'SETTLED');
  await othersDelete(fleet, 'north', configMapAt(fleet, 'source'));
  await fleet.pass(20_000);
  expect((await dataIn(fleet, 'source')).slice(1)).toEqual([{ a: '1' }, { a: '1' }]);
});

test('D12: copies in a cluster that left are pending until it is back, and are deleted then by their uid', async () => {
  await using fleet = await startEmbedded();
  await propagated(fleet, intentOf(fleet, 'away', [configMapOf(fleet, 'away', { a: '1' })]));
  await phaseOf(fleet, 'away', 'SETTLED');
  await fleet.gateway.setMembers(['north', 'south']);
  await stateWhere(fleet, 'away', ({ clusters }) => clusters.find(({ cluster }) => cluster.name === 'east')?.phase !== 'SETTLED');
  await told(fleet, 'delete', 'away');
  const pending = await stateWhere(
    fleet,
    'away',
    ({ clusters }) => clusters.length === 1 && clusters[0]?.objects[0]?.state === 'PENDING_DELETION',
  );
  expect([pending.phase, pending.clusters[0]?.cluster.name]).toEqual(['DELETING', 'east']);
  await fleet.pass(60_000);
  expect(await stateOf(fleet, 'away')).not.toBeNull();

  await fleet.gateway.setMembers(['north', 'south', 'east']);
  await fleet.until(async () => (await stateOf(fleet, 'away')) === null, 400_000);
  expect(await dataIn(fleet, 'away')).toEqual([undefined, undefined, undefined]);
});

test('D12: pending work in a lost cluster is given up only on request, and its objects stay there', async () => {
  await using fleet = await startEmbedded();
  await propagated(fleet, intentOf(fleet, 'lost', [configMapOf(fleet, 'lost', { a: '1' })]));
  await phaseOf(fleet, 'lost', 'SETTLED');
  await fleet.gateway.setMembers(['north', 'south']);
  await stateWhere(fleet, 'lost', ({ clusters }) => clusters.find(({ cluster }) => cluster.name === 'east')?.phase !== 'SETTLED');
  await told(fleet, 'delete', 'lost');
  await stateWhere(fleet, 'lost', ({ clusters }) => clusters.length === 1);
  expect((await told(fleet, 'resume', 'lost', 'abandon: ["nowhere"]')).result).toBe('REFUSED');
  expect((await told(fleet, 'resume', 'lost', 'abandon: ["east"]')).result).toBe('ACCEPTED');
  await fleet.until(async () => (await stateOf(fleet, 'lost')) === null);
  await fleet.gateway.setMembers(['north', 'south', 'east']);
  await fleet.pass(20_000);
  expect(await dataIn(fleet, 'lost')).toEqual([undefined, undefined, { a: '1' }]);
});

test('D12: while a cluster is unreachable its copies wait, and the others are deleted', async () => {
  await using fleet = await startEmbedded();
  await propagated(fleet, intentOf(fleet, 'silent', [configMapOf(fleet, 'silent', { a: '1' })]));
  await phaseOf(fleet, 'silent', 'SETTLED');
  const east = fleet.cluster('east');
  {
    using _down = east.refuse();
    east.disconnect();
    await told(fleet, 'delete', 'silent');
    await stateWhere(fleet, 'silent', ({ clusters }) => clusters.length === 1 && clusters[0]?.cluster.name === 'east', 120_000);
    for (const name of ['north', 'south']) expect(fleet.cluster(name).get('ConfigMap', 'silent', fleet.namespace)).toBeUndefined();
    expect(east.get('ConfigMap', 'silent', fleet.namespace)).toBeDefined();
  }
  await fleet.until(async () => (await stateOf(fleet, 'silent')) === null, 400_000);
  expect(east.get('ConfigMap', 'silent', fleet.namespace)).toBeUndefined();
});

test.each([
  ['goes on', false],
  ['is another', true],
])(
  'D18: after the hub is restored from a backup, copies that are newer than its inventory are not pruned; the process %s',
  async (_what, isAnother) => {
    await using fleet = await startEmbedded();
    const north = fleet.cluster('north');
    const only = (clusters: readonly string[], data: Readonly<Record<string, string>>) =>
      intentOf(fleet, 'restored', [configMapOf(fleet, 'restored', data)], { placement: { clusters: [...clusters] } });
    await propagated(fleet, only(['south'], { a: '1' }));
    await phaseOf(fleet, 'restored', 'SETTLED');
    const yesterday = north.backup();
    await propagated(fleet, only(['south', 'east'], { a: '2' }));
    await phaseOf(fleet, 'restored', 'SETTLED');
    north.restore(yesterday);
    if (isAnother) await fleet.restart();
    await fleet.pass(30_000);
    const [, south, east] = await dataIn(fleet, 'restored');
    // Objects that the inventory never had stay. The older generation does not overwrite the copies of a later one.
    expect([south, east]).toEqual([{ a: '2' }, { a: '2' }]);
    if (isAnother) {
      const told = await stateWhere(fleet, 'restored', ({ clusters }) => clusters[0]?.reason === 'STALE');
      expect(told.clusters[0]?.message).toContain('a later generation wrote it');
    }
  },
);
