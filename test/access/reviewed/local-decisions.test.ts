import { expect, test } from 'vitest';
import { callerOf } from '../../../src/access/caller-of-user.ts';
import { turns } from '../../support/manual-clock.ts';
import { bindingOf, createAccessWorld, readsPods, requestOf, roleOf, userNamed } from './access-world.ts';

const ann = userNamed('ann');
const role = roleOf('shop', 'reader', readsPods);
const binding = bindingOf('shop', 'ann', 'Role/reader', 'User/ann');
const shop = { type: 'namespaces', namespaces: new Set(['shop']) };

async function rbacWorld() {
  const world = createAccessWorld();
  const north = world.join('north', { authorization: 'rbac' });
  north.put(role, binding);
  await turns();
  await world.clock.advance(2_000);
  return { world, north };
}

test('`rbac` decides at once, and compares the first decision in each namespace with the API server', async () => {
  const { world, north } = await rbacWorld();
  expect(world.access.visibilityOf(requestOf(ann, north.name), world.end.signal)).toMatchObject(shop);
  // The first review loads the code that sends it, which takes more turns on a busy machine.
  while (north.reviews.length < 2) await turns();
  expect(north.reviews.map(({ resourceAttributes }) => resourceAttributes.namespace ?? '*')).toEqual(['*', 'shop']);
  await world.clock.advance(31_000);
  expect(world.access.visibilityOf(requestOf(ann, north.name), world.end.signal)).toMatchObject(shop);
  expect(await world.clustersOf(ann)).toEqual(['north']);
  await turns();
  expect(north.reviews.length).toBeLessThanOrEqual(4);
});

test('a removed binding counts at once', async () => {
  const { world, north } = await rbacWorld();
  expect(await world.see(requestOf(ann, north.name))).toMatchObject(shop);
  north.remove(binding);
  await turns();
  expect(world.access.visibilityOf(requestOf(ann, north.name), world.end.signal)).toMatchObject({ type: 'none' });
});

test('a decision that differs makes the API server decide for all callers within 10 s', async () => {
  const { world, north } = await rbacWorld();
  // RBAC objects that the API server does not go by, as another authorizer may deny what they allow.
  north.mirror(bindingOf('bank', 'ann', 'ClusterRole/all', 'User/ann'), roleOf(undefined, 'all', readsPods));
  await turns();
  expect(await world.see(requestOf(ann, north.name))).toMatchObject({ namespaces: new Set(['shop', 'bank']) });
  await world.clock.advance(5_000);
  expect(await world.see(requestOf(ann, north.name))).toMatchObject(shop);
  expect(world.changed).toContain(north.name);
  const bob = userNamed('bob');
  const before = north.reviews.length;
  expect(await world.see(requestOf(bob, north.name))).toMatchObject({ type: 'none' });
  expect(north.reviews.length).toBeGreaterThan(before);
  expect(world.access.counts.disagreements).toEqual([{ cluster: north.name, count: 1 }]);
  const decided = world.access.counts.decisions.map(({ mode, result }) => `${mode} ${result}`);
  expect(decided).toEqual(expect.arrayContaining(['rbac allowed', 'sar allowed', 'sar denied']));
});

test('an API server that learns of a change late does not count as a difference', async () => {
  const { world, north } = await rbacWorld();
  const late = bindingOf('bank', 'ann', 'ClusterRole/all', 'User/ann');
  north.mirror(late, roleOf(undefined, 'all', readsPods));
  await turns();
  expect(await world.see(requestOf(ann, north.name))).toMatchObject({ namespaces: new Set(['shop', 'bank']) });
  await turns();
  north.put(late, roleOf(undefined, 'all', readsPods));
  await world.clock.advance(5_000);
  await world.clock.advance(31_000);
  expect(world.access.visibilityOf(requestOf(ann, north.name), world.end.signal)).toMatchObject({ namespaces: new Set(['shop', 'bank']) });
  expect(world.access.counts.disagreements).toEqual([]);
});

test('a user with extra values is decided by the API server', async () => {
  const { world, north } = await rbacWorld();
  const scoped = callerOf({ user: 'ann', groups: [], extra: { 'example.com/scopes': ['none'] }, issuer: 'tokenreview' });
  expect(world.access.visibilityOf(requestOf(scoped, north.name), world.end.signal)).toBeInstanceOf(Promise);
  expect(await world.see(requestOf(scoped, north.name))).toMatchObject(shop);
});
