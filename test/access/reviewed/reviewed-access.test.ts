import { describe, expect, test } from 'vitest';
import type { Visibility } from '../../../src/access/access.ts';
import { turns } from '../../support/manual-clock.ts';
import { bindingOf, createAccessWorld, readsPods, requestOf, roleOf, ruleOf, settled, userNamed } from './access-world.ts';

const ann = userNamed('oidc:ann', 'oidc:dev');
const shopReader = [roleOf('shop', 'reader', readsPods), bindingOf('shop', 'ann', 'Role/reader', 'User/oidc:ann')] as const;
const namespaces = (...names: readonly string[]): Visibility => ({ type: 'namespaces', namespaces: new Set(names), fault: undefined });
const askedIn = (reviews: readonly { readonly resourceAttributes: { readonly namespace?: string } }[]) =>
  reviews.map(({ resourceAttributes }) => resourceAttributes.namespace ?? '*');

describe('asks the API server', () => {
  test('about all namespaces first, and then about those where a binding allows it to the user or a group', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader, roleOf('bank', 'reader', readsPods), bindingOf('bank', 'dev', 'Role/reader', 'Group/oidc:dev'));
    north.put(bindingOf('open', 'other', 'Role/none', 'User/oidc:ann'), bindingOf('web', 'bob', 'ClusterRole/reader', 'User/bob'));
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual(namespaces('shop', 'bank'));
    expect(askedIn(north.reviews)).toEqual(['*', 'shop', 'bank']);
    expect(north.reviews[0]).toEqual({
      user: 'oidc:ann',
      groups: ['oidc:dev', 'system:authenticated'],
      resourceAttributes: { verb: 'list', group: '', resource: 'pods' },
    });
  });

  test('once for a caller who may see all namespaces, and then answers at once', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(roleOf(undefined, 'reader', readsPods), bindingOf(undefined, 'ann', 'ClusterRole/reader', 'User/oidc:ann'));
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual({ type: 'all' });
    expect(world.access.visibilityOf(requestOf(ann, north.name), world.end.signal)).toEqual({ type: 'all' });
    expect(north.reviews).toHaveLength(1);
  });

  test('about no name that is too long for Kubernetes, and hides it without a fault', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(roleOf(undefined, 'reader', readsPods), bindingOf(undefined, 'ann', 'ClusterRole/reader', 'User/oidc:ann'));
    await turns();
    const get = { ...requestOf(ann, north.name), verb: 'get' } as const;
    const long = (length: number) => 'a'.repeat(length);
    expect(await world.see({ ...get, object: { namespace: 'shop', name: long(254) } })).toEqual(namespaces());
    expect(await world.see({ ...get, object: { namespace: long(64), name: 'web' } })).toEqual(namespaces());
    expect(north.reviews).toEqual([]);
    expect(await world.see({ ...get, object: { namespace: 'shop', name: long(253) } })).toEqual(namespaces('shop'));
  });

  test('equal questions once, also those in flight', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    north.delayMs = 50;
    await turns();
    const all = await settled(world.clock, () =>
      Promise.all(Array.from({ length: 20 }, async () => world.access.visibilityOf(requestOf(ann, north.name), world.end.signal))),
    );
    expect(all.every((one) => one.type === 'namespaces')).toBe(true);
    expect(north.reviews).toHaveLength(2);
  });

  test('with the prefixes of the cluster, the groups of an account, uid and extra', async () => {
    const world = createAccessWorld();
    const north = world.join('north', { identity: { userPrefix: 'corp:', groupPrefix: 'corp-' } });
    const south = world.join('south');
    const user = {
      user: 'system:serviceaccount:shop:builder',
      uid: '1',
      groups: ['team'],
      extra: { 'example.com/a': ['b'] },
      issuer: 'tokenreview',
    };
    const caller = { key: 'builder', user };
    await world.see(requestOf(caller, north.name));
    await world.see(requestOf(caller, south.name));
    expect(north.reviews[0]).toMatchObject({
      user: 'corp:system:serviceaccount:shop:builder',
      groups: ['corp-team', 'system:authenticated'],
    });
    expect(south.reviews[0]).toMatchObject({
      user: 'system:serviceaccount:shop:builder',
      uid: '1',
      groups: ['team', 'system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      extra: { 'example.com/a': ['b'] },
    });
  });

  test('about named namespaces that no binding names, because other authorizers than RBAC may allow them', async () => {
    const world = createAccessWorld();
    const north = world.join('north', { mirrorsRbac: false });
    north.alsoAllow = ({ resourceAttributes }) => resourceAttributes.namespace === 'web';
    expect(await world.see(requestOf(ann, north.name, { namespaces: ['web', 'bank'] }))).toEqual(namespaces('web'));
    expect(await world.see(requestOf(ann, north.name))).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN' } });
  });

  test('about subresources, each with its own decision', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(
      roleOf(undefined, 'logs', ruleOf(['get'], [''], ['pods/log'])),
      bindingOf(undefined, 'ann', 'ClusterRole/logs', 'User/oidc:ann'),
    );
    await turns();
    expect(await world.see(requestOf(ann, north.name, { verb: 'get', subresource: 'log' }))).toEqual({ type: 'all' });
    expect(await world.see(requestOf(ann, north.name, { verb: 'get' }))).toMatchObject({ type: 'none' });
  });
});

describe('tells a caller', () => {
  test('FORBIDDEN without addresses where the kind may be listed nowhere, and nothing for a named namespace that is hidden', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    await turns();
    expect(await world.see(requestOf(ann, north.name, { namespaces: ['bank'] }))).toEqual(namespaces());
    const nodes = await world.see(requestOf(ann, north.name, { kind: { group: '', kind: 'Node' } }));
    expect(nodes).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN', cluster: 'north', kind: { group: '', kind: 'Node' } } });
  });

  test('one object by name: also with resourceNames, and a Namespace to each user with a binding in it', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(
      roleOf('shop', 'one', ruleOf(['get'], [''], ['configmaps'], ['settings'])),
      bindingOf('shop', 'ann', 'Role/one', 'User/oidc:ann'),
    );
    north.put(
      roleOf(undefined, 'view', ruleOf(['get'], [''], ['namespaces'])),
      bindingOf('shop', 'view', 'ClusterRole/view', 'User/oidc:ann'),
    );
    await turns();
    const get = (kind: string, object: { readonly namespace?: string; readonly name: string }) =>
      world.see(requestOf(ann, north.name, { kind: { group: '', kind }, verb: 'get', object }));
    expect(await get('ConfigMap', { namespace: 'shop', name: 'settings' })).toEqual({ type: 'namespaces', namespaces: new Set(['shop']) });
    const hidden = await get('ConfigMap', { namespace: 'shop', name: 'rates' });
    expect(hidden).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN' } });
    expect(await get('ConfigMap', { namespace: 'none-such', name: 'settings' })).toEqual(hidden);
    expect(await get('Namespace', { name: 'shop' })).toEqual({ type: 'all' });
    expect(await get('Namespace', { name: 'bank' })).toEqual({ type: 'namespaces', namespaces: new Set() });
  });

  test('one object by name, only if bound: asks about named objects, and costs no review for others', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(
      roleOf(undefined, 'one', ruleOf(['get'], [''], ['nodes'], ['n1'])),
      bindingOf(undefined, 'ann', 'ClusterRole/one', 'User/oidc:ann'),
    );
    north.alsoAllow = ({ resourceAttributes: { name } }) => name === 'n2';
    await turns();
    const get = (name: string) =>
      world.see(requestOf(ann, north.name, { kind: { group: '', kind: 'Node' }, verb: 'get', object: { name }, onlyIfBound: true }));
    expect(await get('n1')).toEqual({ type: 'all' });
    const asked = north.reviews.length;
    expect(await get('n2')).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN' } });
    const [kind, ...more] = north.reviews.slice(asked);
    expect([kind?.resourceAttributes.name, more]).toEqual([undefined, []]);
    for (const name of ['n3', 'n4', 'n5']) await get(name);
    expect(north.reviews.length).toBe(asked + 1);
    // A binding proposes, and the API server decides.
    north.mirror(roleOf(undefined, 'one', ruleOf(['get'], [''], ['nodes'], ['n1', 'n6'])));
    await turns();
    expect(await get('n6')).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN' } });
    expect(north.reviews.at(-1)?.resourceAttributes.name ?? north.reviews.at(-2)?.resourceAttributes.name).toBe('n6');
  });

  test('a fault and no object while the cluster does not answer', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    north.isAway = true;
    await turns();
    const seen = await world.see(requestOf(ann, north.name));
    expect(seen).toMatchObject({ type: 'none', fault: { code: 'UNREACHABLE', cluster: 'north', retry: 'LATER' } });
    expect(JSON.stringify(seen)).not.toMatch(/ECONNREFUSED/);
    north.isAway = false;
    expect(await world.see(requestOf(ann, north.name))).toEqual(seen);
    await world.clock.advance(5_100);
    expect(await world.see(requestOf(ann, north.name))).toEqual(namespaces('shop'));
  });

  test('TIMED_OUT if the cluster does not answer within 10 s', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.delayMs = 60_000;
    const started = world.clock.monotonic();
    expect(await world.see(requestOf(ann, north.name))).toMatchObject({ type: 'none', fault: { code: 'TIMED_OUT' } });
    expect(world.clock.monotonic() - started).toBeLessThanOrEqual(10_001);
  });
});

describe('remembers', () => {
  const count = async (mirrorsRbac: boolean, isAllowed: boolean, afterMs: number): Promise<number> => {
    const world = createAccessWorld();
    const north = world.join('north', { mirrorsRbac });
    north.alsoAllow = () => isAllowed;
    // The first lists of the RBAC objects count as a change.
    await world.clock.advance(2_000);
    await world.see(requestOf(ann, north.name));
    await world.clock.advance(afterMs);
    await world.see(requestOf(ann, north.name));
    return north.reviews.length;
  };

  test.each([
    ['what is allowed for 30 s', true, true, 29_000, 1],
    ['and asks again then', true, true, 31_000, 2],
    ['what is allowed for 10 s without a mirror of RBAC objects', false, true, 9_000, 1],
    ['and asks again then, without that mirror', false, true, 11_000, 2],
    ['what is denied for 5 s', true, false, 4_000, 1],
    ['and asks again then, what was denied', true, false, 6_000, 2],
  ])('%s', async (_, mirrorsRbac, isAllowed, afterMs, reviews) => {
    expect(await count(mirrorsRbac, isAllowed, afterMs)).toBe(reviews);
  });

  test('nothing of a cluster that has left, for one of the same name', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.alsoAllow = () => true;
    expect(await world.see(requestOf(ann, north.name))).toEqual({ type: 'all' });
    north.leave();
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual({ type: 'namespaces', namespaces: new Set() });
    const other = world.join('north');
    expect(await world.see(requestOf(ann, other.name))).toMatchObject({ type: 'none' });
  });

  test('the decisions of each user apart', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual(namespaces('shop'));
    expect(await world.see(requestOf(userNamed('oidc:bob'), north.name))).toMatchObject({ type: 'none' });
    expect(await world.see(requestOf(userNamed('oidc:bob', 'oidc:ann'), north.name))).toMatchObject({ type: 'none' });
  });
});

test('asks for one user at most 8 at the same time and 150 within a second, so that others have room', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  north.delayMs = 5;
  // The mirror proposes 450 namespaces, of which the API server knows nothing.
  north.mirror(
    roleOf(undefined, 'reader', readsPods),
    ...Array.from({ length: 450 }, (_, index) => bindingOf(`ns-${index}`, 'ann', 'ClusterRole/reader', 'User/oidc:ann')),
  );
  await turns();
  const startedMs = world.clock.monotonic();
  const seen = world.see(requestOf(ann, north.name));
  await world.clock.advance(999);
  expect(north.reviews.length).toBe(150);
  expect(await seen).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN' } });
  expect(north.inFlight.most).toBe(8);
  expect(north.reviews).toHaveLength(451);
  expect(world.clock.monotonic() - startedMs).toBeGreaterThan(3_000);
  expect(world.clock.monotonic() - startedMs).toBeLessThan(3_500);
});

describe('a change of RBAC objects', () => {
  test('ends the decisions of the subjects that it touches, and no others', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    const bob = userNamed('oidc:bob');
    north.put(...shopReader, bindingOf('shop', 'bob', 'Role/reader', 'User/oidc:bob'));
    await turns();
    await world.clock.advance(2_000);
    for (const caller of [ann, bob]) expect(await world.see(requestOf(caller, north.name))).toEqual(namespaces('shop'));
    const before = north.reviews.length;
    north.remove(shopReader[1]);
    await turns();
    expect(await world.see(requestOf(bob, north.name))).toEqual(namespaces('shop'));
    expect(north.reviews).toHaveLength(before);
    expect(await world.see(requestOf(ann, north.name))).toMatchObject({ type: 'none', fault: { code: 'FORBIDDEN' } });
    await world.clock.advance(100);
    expect(world.changed).toContain(north.name);
  });

  test('causes another review after a second, because an API server may learn of it late', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    await turns();
    await world.clock.advance(2_000);
    // The mirror is ahead of the API server, which still allows the access.
    north.alsoAllow = () => true;
    north.remove(shopReader[1]);
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual({ type: 'all' });
    north.alsoAllow = () => false;
    await world.clock.advance(1_100);
    expect(await world.see(requestOf(ann, north.name))).toMatchObject({ type: 'none' });
  });

  test('grants at once what was denied', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    expect(await world.see(requestOf(ann, north.name))).toMatchObject({ type: 'none' });
    expect(await world.clustersOf(ann)).toEqual([]);
    north.put(...shopReader);
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual(namespaces('shop'));
    expect(await world.clustersOf(ann)).toEqual(['north']);
  });

  test('of a role ends the decisions of all its users', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toEqual(namespaces('shop'));
    north.put(roleOf('shop', 'reader', ruleOf(['get'], [''], ['secrets'])));
    await turns();
    expect(await world.see(requestOf(ann, north.name))).toMatchObject({ type: 'none' });
  });
});

describe('a cluster is visible', () => {
  test.each([
    ['by a right in one namespace', roleOf('shop', 'r', readsPods), true],
    ['by a right to one object', roleOf('shop', 'r', ruleOf(['get'], [''], ['configmaps'], ['settings'])), true],
    ['by *', roleOf('shop', 'r', ruleOf(['*'], ['*'], ['*'])), true],
    ['not by a right to write', roleOf('shop', 'r', ruleOf(['create', 'delete'], [''], ['pods'])), false],
    ['not by a subresource', roleOf('shop', 'r', ruleOf(['get'], [''], ['pods/log'])), false],
    ['not by a role without rules', roleOf('shop', 'r'), false],
  ])('%s', async (_, role, isVisible) => {
    const world = createAccessWorld();
    world.join('south');
    const north = world.join('north');
    north.put(role, bindingOf('shop', 'ann', 'Role/r', 'User/oidc:ann'));
    await turns();
    expect(await world.clustersOf(ann)).toEqual(isVisible ? ['north'] : []);
  });

  test('to a caller whom another authorizer lets list Pods', async () => {
    const world = createAccessWorld();
    const north = world.join('north', { mirrorsRbac: false });
    north.alsoAllow = ({ resourceAttributes }) => resourceAttributes.resource === 'pods';
    expect(await world.clustersOf(ann)).toEqual(['north']);
  });

  test('is hidden while it has never answered, and stays visible while it is away', async () => {
    const world = createAccessWorld();
    const [north, south] = [world.join('north'), world.join('south')];
    for (const one of [north, south]) one.put(...shopReader);
    south.isAway = true;
    await turns();
    expect(await world.clustersOf(ann)).toEqual(['north']);
    north.isAway = true;
    await world.clock.advance(120_000);
    expect(await world.clustersOf(ann)).toEqual(['north']);
  });

  test('is waited for at most 2 s', async () => {
    const world = createAccessWorld();
    const [north, south] = [world.join('north'), world.join('south')];
    for (const one of [north, south]) one.put(...shopReader);
    south.delayMs = 8_000;
    await turns();
    const startedMs = world.clock.monotonic();
    expect(await world.clustersOf(ann)).toEqual(['north']);
    expect(world.clock.monotonic() - startedMs).toBeLessThanOrEqual(2_001);
    await world.clock.advance(8_000);
    expect(await world.clustersOf(ann)).toEqual(['north', 'south']);
  });

  test('is hidden again with the last right', async () => {
    const world = createAccessWorld();
    const north = world.join('north');
    north.put(...shopReader);
    await turns();
    expect(await world.clustersOf(ann)).toEqual(['north']);
    north.remove(shopReader[1]);
    await turns();
    expect(await world.clustersOf(ann)).toEqual([]);
  });
});

test('a caller without a user sees nothing', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  north.alsoAllow = () => true;
  expect(await world.see(requestOf({ key: 'local' }, north.name))).toMatchObject({ type: 'none' });
  expect(await world.clustersOf({ key: 'local' })).toEqual([]);
});

test('nothing is left running at the end', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  north.put(...shopReader);
  await turns();
  await world.see(requestOf(ann, north.name));
  world.end.abort();
  await turns();
  expect(world.clock.sleepers).toBe(0);
  expect(north.mirrors.leases).toBe(0);
});
