import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import {
  configMapAt,
  configMapOf,
  dataIn,
  intentOf,
  linesOf,
  objectAt,
  othersDelete,
  othersMerge,
  phaseOf,
  propagate,
  propagated,
  stateOf,
  stateWhere,
} from '../../support/propagate/propagating.ts';
import { type EmbeddedFleet, startEmbedded } from '../../support/propagate/writing-fleet.ts';

// Changes, freezes and refusals during a propagation: D3 to D5, D14. The cases of two leaders and of the Lease are enumerated in
// test/propagate/controller (crashes.test.ts, lease.test.ts).

const five = ['north', 'south', 'east', 'west', 'middle'];
const crPath = ({ namespace }: EmbeddedFleet, name: string) => `/apis/muster.dev/v1alpha1/namespaces/${namespace}/propagations/${name}`;

/** Runs `act` once: after the first copy was written in the cluster, and before that write is answered. */
function onFirstCopy(fleet: EmbeddedFleet, cluster: string, act: () => Promise<unknown>): Disposable & { readonly done: Promise<unknown> } {
  const done = Promise.withResolvers<unknown>();
  let isFirst = true;
  const hook = fleet.cluster(cluster).onWrite(async ({ kind, manager }) => {
    if (!isFirst || kind !== 'ConfigMap' || manager !== 'muster') return undefined;
    isFirst = false;
    await act().then(done.resolve, done.reject);
    return undefined;
  });
  return { done: done.promise, [Symbol.dispose]: () => hook[Symbol.dispose]() };
}

test('D5: of five clusters three refuse, each in its own way; two are done, and each of the others is tried again alone', {
  timeout: 120_000,
}, async () => {
  await using fleet = await startEmbedded({ names: five });
  const invalid = fleet.cluster('east').refuseWrites({ type: 'invalid', field: 'data.a' }, { kind: 'ConfigMap' });
  const refusals = [await fleet.refuse('south', 'quota'), await fleet.refuse('west', 'webhook')];
  await propagated(fleet, intentOf(fleet, 'five', [configMapOf(fleet, 'five', { a: '1' })], { rollout: { onFailure: 'CONTINUE' } }));
  const now = await stateWhere(
    fleet,
    'five',
    ({ clusters }) =>
      clusters.filter(({ reason }) => reason !== null).length === 3 && clusters.filter(({ phase }) => phase === 'SETTLED').length === 2,
  );
  expect(linesOf(now).map(([cluster, , reason]) => [cluster, reason])).toEqual([
    ['east', 'INVALID'],
    ['middle', ''],
    ['north', ''],
    ['south', 'QUOTA'],
    ['west', 'DENIED'],
  ]);
  expect(now.conditions.find(({ type }) => type === 'Applied')).toMatchObject({ status: 'False', message: 'east, south, west' });
  const writes = fleet.written();
  invalid[Symbol.dispose]();
  for (const refusal of refusals) await refusal.end();
  await phaseOf(fleet, 'five', 'SETTLED', 400_000);
  expect(await dataIn(fleet, 'five')).toEqual(five.map(() => ({ a: '1' })));
  // Completed copies are not written again. Only the three missing copies are written.
  expect(fleet.written() - writes).toBeLessThan(20);
  for (const name of ['north', 'middle'])
    expect(
      fleet
        .cluster(name)
        .writes()
        .filter(({ kind, isDry }) => kind === 'ConfigMap' && !isDry),
    ).toHaveLength(1);
});

test('D14: after a change of the spec during a rollout, every cluster ends on the newest generation, and none returns to an older one', async () => {
  await using fleet = await startEmbedded({ names: five });
  const input = (a: string) => intentOf(fleet, 'moving', [configMapOf(fleet, 'moving', { a })]);
  using changed = onFirstCopy(fleet, 'south', () => othersMerge(fleet, 'north', crPath(fleet, 'moving'), templateOf(fleet, '2')));
  await propagated(fleet, input('1'));
  await changed.done;
  await phaseOf(fleet, 'moving', 'SETTLED');
  expect(await dataIn(fleet, 'moving')).toEqual(five.map(() => ({ a: '2' })));
  const generations = five.map(
    (name) => fleet.cluster(name).get('ConfigMap', 'moving', fleet.namespace)?.metadata.annotations?.[marks.generation],
  );
  expect(new Set(generations)).toEqual(new Set(['2']));
});

function templateOf(fleet: EmbeddedFleet, a: string): JsonObject {
  return { spec: { template: [{ json: configMapOf(fleet, 'moving', { a }) }] } };
}

test('D14: a Propagation deleted with kubectl in mid fan-out: the finalizer keeps it until all copies are gone; none comes back', async () => {
  await using fleet = await startEmbedded({ names: five });
  using deleted = onFirstCopy(fleet, 'east', () => othersDelete(fleet, 'north', crPath(fleet, 'moving')));
  const going: string[] = [];
  using _seen = fleet.cluster('north').observe(({ type, kind }) => {
    if (type !== 'DELETED' || kind.kind !== 'Propagation') return;
    // When it is deleted, no copy is left in any cluster.
    going.push(...five.filter((name) => fleet.cluster(name).get('ConfigMap', 'moving', fleet.namespace) !== undefined));
    going.push('gone');
  });
  await propagated(fleet, intentOf(fleet, 'moving', [configMapOf(fleet, 'moving', { a: '1' })]));
  await deleted.done;
  await fleet.until(async () => (await stateOf(fleet, 'moving')) === null);
  expect(going).toEqual(['gone']);
  await fleet.pass(20_000);
  expect(await dataIn(fleet, 'moving')).toEqual(five.map(() => undefined));
  expect(fleet.cluster('north').objects('ClusterShare.muster.dev')).toEqual([]);
});

test('D4: a leader that cannot renew its Lease stops before another may lead; requests meanwhile are accepted, and carried out afterwards', async () => {
  await using fleet = await startEmbedded();
  await propagated(fleet, intentOf(fleet, 'before', [configMapOf(fleet, 'before', { a: '1' })]));
  await phaseOf(fleet, 'before', 'SETTLED');
  {
    using _sick = fleet.cluster('north').answer({ status: 500, times: Number.POSITIVE_INFINITY }, { resource: 'leases' });
    await fleet.pass(11_000);
    const writes = fleet.written();
    expect((await propagate(fleet, intentOf(fleet, 'meanwhile', [configMapOf(fleet, 'meanwhile', { a: '1' })]))).result).toBe('ACCEPTED');
    await fleet.pass(20_000);
    // Only the intent itself is written.
    expect(fleet.written() - writes).toBe(1);
    expect((await stateOf(fleet, 'meanwhile'))?.phase).toBe('PLANNING');
  }
  await phaseOf(fleet, 'meanwhile', 'SETTLED');
  expect(await dataIn(fleet, 'meanwhile')).toEqual([{ a: '1' }, { a: '1' }, { a: '1' }]);
});

test('B18: while the hub is down reads continue, writes are UNAVAILABLE, and no controller writes; afterwards everything continues', async () => {
  await using fleet = await startEmbedded();
  const north = fleet.cluster('north');
  const input = intentOf(fleet, 'hubless', [configMapOf(fleet, 'hubless', { a: '1' })], { placement: { clusters: ['south'] } });
  await propagated(fleet, input);
  await phaseOf(fleet, 'hubless', 'SETTLED');
  {
    using _down = north.refuse();
    north.disconnect();
    await fleet.pass(15_000);
    const text = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result } }';
    const { errors } = await fleet.ask(text, { input: { ...input, template: [{ json: configMapOf(fleet, 'hubless', { a: '2' }) }] } });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAVAILABLE']);
    expect((await fleet.ask('{ configMaps { totalCount } }')).errors).toBeUndefined();
    fleet.cluster('south').remove('ConfigMap', 'hubless', fleet.namespace);
    await fleet.pass(20_000);
    expect(await objectAt(fleet, 'south', configMapAt(fleet, 'hubless'))).toBeUndefined();
  }
  await fleet.until(async () => (await objectAt(fleet, 'south', configMapAt(fleet, 'hubless')))?.data?.a === '1', 400_000);
});
