import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createPropagationStore, type PropagationStore, type PropagationWrite } from '../../../src/propagate/hub/propagation-store.ts';
import { marks, type Propagation } from '../../../src/propagate/model/propagation.ts';
import type { SpecDocument } from '../../../src/propagate/model/spec.ts';
import { type PropagationWorld, startPropagationWorld } from '../../support/propagate/propagation-world.ts';

const never = new AbortController().signal;
const place = { namespace: 'default', name: 'web' };

function document(a: string): SpecDocument {
  return { template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a } } }], placement: {} };
}

async function written(world: PropagationWorld, write: Promise<PropagationWrite>): Promise<Propagation> {
  const answer = await world.pumped(write);
  if (answer.result !== 'written') throw new Error(`expected a write, got ${JSON.stringify(answer)}`);
  return answer.propagation;
}

async function withOne(): Promise<AsyncDisposable & { world: PropagationWorld; store: PropagationStore; one: Propagation }> {
  const world = await startPropagationWorld({ hub: [] });
  const store = createPropagationStore(world.hub, never);
  const one = await written(world, store.create(place, { document: document('1') }, never));
  return { world, store, one, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const writesOf = (world: PropagationWorld) => world.cluster('hub').writes().length;

describe('Propagations on the hub', () => {
  test('are equal in the mirror and on the hub', async () => {
    await using hub = await withOne();
    const { world, store, one } = hub;
    await world.until(() => store.read(place).result === 'held');
    const read = store.read(place);
    expect(read).toMatchObject({ result: 'held', asOfMs: expect.any(Number) });
    if (read.result !== 'held') throw new Error('expected it');
    expect(read.propagation.metadata).toEqual(one.metadata);
    expect(store.all()).toEqual([read.propagation]);
    expect(store.all()?.[0]).toBe(read.propagation);
    expect(await world.pumped(store.fetch(place, never))).toEqual(one);
    expect(await world.pumped(store.fetch({ ...place, name: 'other' }, never))).toBe('absent');
    expect(store.read({ ...place, name: 'other' }).result).toBe('absent');
  });

  test('are created only if there is none of this name', async () => {
    await using hub = await withOne();
    const { world, store } = hub;
    expect(await world.pumped(store.create(place, { document: document('2') }, never))).toEqual({ result: 'conflict' });
    expect(await world.pumped(store.fetch(place, never))).toMatchObject({ document: document('1') });
  });

  test('get a new spec as a whole, with the given labels and annotations', async () => {
    await using hub = await withOne();
    const { world, store, one } = hub;
    const annotated = await written(world, store.annotate(one, { 'example.com/kept': 'yes', [marks.paused]: 'yes' }, never));
    const change = { document: document('2'), labels: { team: 'a' }, annotations: { [marks.paused]: null, [marks.planDigest]: 'd' } };
    const updated = await written(world, store.update(annotated, change, never));
    expect(updated).toMatchObject({ document: document('2'), metadata: { generation: 2, labels: { team: 'a' } } });
    expect(updated.metadata.annotations).toEqual({ 'example.com/kept': 'yes', [marks.planDigest]: 'd' });
    const again = await written(world, store.update(updated, { document: document('3') }, never));
    expect(again.metadata).toMatchObject({ labels: { team: 'a' }, annotations: updated.metadata.annotations });
  });

  test('refuse an outdated write of spec, status or finalizer, but accept annotations', async () => {
    await using hub = await withOne();
    const { world, store, one } = hub;
    await written(world, store.annotate(one, { a: 'b' }, never));
    expect(await world.pumped(store.update(one, { document: document('2') }, never))).toEqual({ result: 'conflict' });
    expect(await world.pumped(store.patchStatus(one, { phase: 'Settled' }, never))).toEqual({ result: 'conflict' });
    expect(await world.pumped(store.setFinalizer(one, 'present', never))).toEqual({ result: 'conflict' });
    expect((await written(world, store.annotate(one, { c: 'd' }, never))).metadata.annotations).toEqual({ a: 'b', c: 'd' });
  });

  test('are distinguished from others of the same name by their uid', async () => {
    await using hub = await withOne();
    const { world, store, one } = hub;
    world.cluster('hub').remove('Propagation', place.name, place.namespace);
    await written(world, store.create(place, { document: document('2') }, never));
    expect(await world.pumped(store.annotate(one, { a: 'b' }, never))).toEqual({ result: 'conflict' });
    expect(await world.pumped(store.delete(one, never))).toEqual({ result: 'conflict' });
  });

  test('have only the changed parts of their status written', async () => {
    await using hub = await withOne();
    const { world, store, one } = hub;
    const line = { cluster: 'west', phase: 'Settled', health: 'Healthy', since: '2026-01-01T00:00:00Z' } as const;
    const aggregate = [
      { key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' }, status: { a: 1 }, observed: true, health: 'Healthy', conditions: [] },
    ] as const;
    const status = {
      observedGeneration: 1,
      phase: 'Rolling',
      clusters: [line],
      aggregate,
      progress: { wave: 0, waves: 1, clusters: 1, done: 0, failed: 0 },
    } as const;
    const first = await written(world, store.patchStatus(one, status, never));
    expect(first.status).toEqual(status);
    expect(first.metadata.generation).toBe(1);

    const before = writesOf(world);
    expect(await written(world, store.patchStatus(first, { ...status }, never))).toBe(first);
    expect(writesOf(world)).toBe(before);

    const next = { ...status, phase: 'Settled', progress: { ...status.progress, done: 1 } } as const;
    const second = await written(world, store.patchStatus(first, next, never));
    expect(second.status).toEqual(next);
    const request = world.cluster('hub').requests.at(-1);
    expect(request).toMatchObject({ method: 'PATCH', path: expect.stringMatching(/\/status$/) });
    const { clusters: _, ...without } = next;
    expect((await written(world, store.patchStatus(second, without, never))).status).toEqual(without);
  });

  test('keep other finalizers', async () => {
    await using hub = await withOne();
    const { world, store } = hub;
    const object = world.cluster('hub').get('Propagation', place.name, place.namespace);
    if (object === undefined) throw new Error('expected it');
    world.cluster('hub').put({ ...object, metadata: { ...object.metadata, finalizers: ['example.com/other'] } } as KubernetesObject);
    const found = await world.pumped(store.fetch(place, never));
    if (found === 'absent' || 'fault' in found) throw new Error('expected it');

    const held = await written(world, store.setFinalizer(found, 'present', never));
    expect(held.metadata.finalizers).toEqual(['example.com/other', marks.finalizer]);
    const before = writesOf(world);
    expect(await written(world, store.setFinalizer(held, 'present', never))).toBe(held);
    expect(writesOf(world)).toBe(before);
    const going = await written(world, store.delete(held, never));
    expect(going.metadata.deletionTimestamp).toBeDefined();
    expect((await written(world, store.setFinalizer(going, 'absent', never))).metadata.finalizers).toEqual(['example.com/other']);
  });

  test('with an invalid spec report its problems, and an invalid status is parsed as far as possible', async () => {
    await using hub = await withOne();
    const { world, store } = hub;
    const wrong = { template: [], placement: {}, conflict: 'Fight' };
    const status = { phase: 'Dancing', observedGeneration: 3, clusters: [{ cluster: 1 }], digest: 'd' };
    world
      .cluster('hub')
      .put({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: { ...place, name: 'wrong' }, spec: wrong, status });
    const found = await world.pumped(store.fetch({ ...place, name: 'wrong' }, never));
    expect(found).toMatchObject({ spec: { problems: [{ path: 'template' }, { path: 'conflict' }] } });
    expect(found).toHaveProperty('status', { observedGeneration: 3, digest: 'd' });
  });
});
