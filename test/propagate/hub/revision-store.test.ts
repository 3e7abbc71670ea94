import { describe, expect, test } from 'vitest';
import { createHubStores } from '../../../src/propagate/hub/hub-stores.ts';
import type { OldValues } from '../../../src/propagate/model/inventory.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';
import { type PropagationWorld, startPropagationWorld } from '../../support/propagate/propagation-world.ts';

const never = new AbortController().signal;

async function start() {
  const world = await startPropagationWorld({ hub: [] });
  const { propagations, revisions } = createHubStores(world.hub, never);
  const make = async (name: string): Promise<Propagation> => {
    const document = { template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } } }], placement: {} };
    const created = await world.pumped(propagations.create({ namespace: 'default', name }, { document }, never));
    if (created.result !== 'written') throw new Error(`expected ${name}, got ${JSON.stringify(created)}`);
    return created.propagation;
  };
  return { world, revisions, make, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const revision = (number: number) => ({ revision: number, digest: `d${number}`, document: { template: [{ json: { n: number } }] } });
const held = (world: PropagationWorld) => world.cluster('hub').objects('ControllerRevision').length;

describe('revisions on the hub', () => {
  test('are listed newest first, at most ten, for one Propagation', async () => {
    await using hub = await start();
    const { world, revisions } = hub;
    const [web, other] = [await hub.make('web'), await hub.make('other')];
    await world.pumped(revisions.record(other, { ...revision(1), requester: 'alice' }, never));
    for (let number = 1; number <= 12; number++) {
      expect(await world.pumped(revisions.record(web, revision(number), never))).toEqual({ result: 'written' });
    }
    const kept = await world.pumped(revisions.list(web, never));
    if ('fault' in kept) throw new Error('expected revisions');
    expect(kept.map((one) => one.revision)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    expect(kept[0]).toEqual({ ...revision(12), createdAt: expect.stringMatching(/^2026-/), isRolledBack: false });
    expect(await world.pumped(revisions.list(other, never))).toMatchObject([{ revision: 1, requester: 'alice' }]);
  });

  test('are recorded once, also on repeated calls', async () => {
    await using hub = await start();
    const web = await hub.make('web');
    await hub.world.pumped(hub.revisions.record(web, { ...revision(1), hadNoCopies: true }, never));
    const again = { ...revision(1), hadNoCopies: false };
    expect(await hub.world.pumped(hub.revisions.record(web, again, never))).toEqual({ result: 'written' });
    expect(held(hub.world)).toBe(1);
    await hub.world.pumped(hub.revisions.record(web, { ...revision(2), hadNoCopies: false }, never));
    const kept = await hub.world.pumped(hub.revisions.list(web, never));
    expect('fault' in kept ? kept : kept.map(({ revision: number, hadNoCopies }) => [number, hadNoCopies])).toEqual([
      [2, undefined],
      [1, true],
    ]);
  });

  test('have the hash of the sources that were accepted last', async () => {
    await using hub = await start();
    const web = await hub.make('web');
    for (const sources of ['first', 'second']) await hub.world.pumped(hub.revisions.record(web, { ...revision(1), sources }, never));
    await hub.world.pumped(hub.revisions.record(web, revision(2), never));
    const kept = await hub.world.pumped(hub.revisions.list(web, never));
    expect('fault' in kept ? kept : kept.map((one) => [one.revision, one.sources])).toEqual([
      [2, undefined],
      [1, 'second'],
    ]);
  });

  test('stay marked as rolled back until they are in effect again; the newest in effect is never deleted', async () => {
    await using hub = await start();
    const { world, revisions } = hub;
    const web = await hub.make('web');
    const record = (number: number) => world.pumped(revisions.record(web, revision(number), never));
    const mark = (from: number, to: number, as: 'inEffect' | 'rolledBack') =>
      world.pumped(revisions.markRange(web, { from, to, as }, never));
    const told = async () => {
      const kept = await world.pumped(revisions.list(web, never));
      return 'fault' in kept ? [] : kept.map((one) => `${one.revision}${one.isRolledBack ? ' back' : ''}`);
    };
    for (const number of [1, 2, 3]) await record(number);
    expect(await mark(2, 3, 'rolledBack')).toEqual({ result: 'written' });
    expect(await told()).toEqual(['3 back', '2 back', '1']);
    await record(3);
    await mark(2, 2, 'inEffect');
    expect(await told()).toEqual(['3', '2', '1']);

    await mark(2, 3, 'rolledBack');
    for (let number = 4; number <= 13; number++) {
      await record(number);
      await mark(number, number, 'rolledBack');
    }
    await record(14);
    expect(await told()).toEqual(['14', ...[13, 12, 11, 10, 9, 8, 7, 6, 5].map((number) => `${number} back`), '1']);
    await record(15);
    expect((await told()).at(-1)).toBe('6 back');
  });

  test('are deleted with their Propagation', async () => {
    await using hub = await start();
    const web = await hub.make('web');
    await hub.world.pumped(hub.revisions.record(web, revision(1), never));
    hub.world.cluster('hub').remove('Propagation', 'web', 'default');
    await hub.world.until(() => held(hub.world) === 0);
  });

  test('keep the old values of objects, each once', async () => {
    await using hub = await start();
    const { world, revisions } = hub;
    const web = await hub.make('web');
    const old = (cluster: string, replicas: number): OldValues => ({
      cluster,
      key: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
      uid: `${cluster}-uid`,
      values: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas } },
    });
    await world.pumped(revisions.record(web, revision(1), never));
    const keep = (number: number, values: readonly OldValues[]) =>
      world.pumped(revisions.recordOldValues(web, { revision: number, values }, never));
    expect(await keep(1, [])).toEqual({ result: 'written' });
    expect(held(world)).toBe(1);
    expect(await keep(1, [old('west', 3)])).toEqual({ result: 'written' });
    expect(await keep(1, [old('west', 3)])).toEqual({ result: 'written' });
    await world.pass(2_000);
    await keep(1, [old('west', 9), old('east', 5)]);
    await keep(2, [old('west', 1)]);

    const kept = await world.pumped(revisions.oldValues(web, 1, never));
    if ('fault' in kept) throw new Error('expected old values');
    expect(kept).toHaveLength(3);
    expect(kept).toEqual(expect.arrayContaining([old('west', 3), old('west', 9), old('east', 5)]));
    expect(await world.pumped(revisions.oldValues(web, 2, never))).toEqual([old('west', 1)]);
    expect(await world.pumped(revisions.list(web, never))).toHaveLength(1);
    for (let number = 2; number <= 11; number++) await world.pumped(revisions.record(web, revision(number), never));
    expect(await world.pumped(revisions.oldValues(web, 1, never))).toEqual([]);
  });

  test('keep large old values in several resources, and find them all', async () => {
    await using hub = await start();
    const { world, revisions } = hub;
    const web = await hub.make('web');
    const large = ['a', 'b', 'c', 'd'].map(
      (name): OldValues => ({
        cluster: 'west',
        key: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name },
        uid: `${name}-uid`,
        values: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: name.repeat(500_000) } },
        ...(name === 'a' ? { whole: true } : {}),
      }),
    );
    expect(await world.pumped(revisions.recordOldValues(web, { revision: 1, values: large }, never))).toEqual({ result: 'written' });
    expect(held(world)).toBe(2);
    const kept = await world.pumped(revisions.oldValues(web, 1, never));
    expect(kept).toHaveLength(4);
    expect(kept).toEqual(expect.arrayContaining(large));
  });

  test('that cannot be written or read give a fault', async () => {
    await using hub = await start();
    const web = await hub.make('web');
    hub.world.cluster('hub').answer({ status: 500, times: Number.POSITIVE_INFINITY }, { kind: 'ControllerRevision' });
    expect(await hub.world.pumped(hub.revisions.record(web, revision(1), never))).toMatchObject({ result: 'failed' });
    expect(await hub.world.pumped(hub.revisions.list(web, never))).toHaveProperty('fault');
    expect(await hub.world.pumped(hub.revisions.oldValues(web, 1, never))).toHaveProperty('fault');
  });
});
