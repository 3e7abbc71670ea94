import { expect, test } from 'vitest';
import type { Caller } from '../../../src/access/access.ts';
import type { RightAnswer, RightQuestion } from '../../../src/access/rights/own-rights.ts';
import { turns } from '../../support/manual-clock.ts';
import { type AccessWorld, bindingOf, createAccessWorld, readsPods, roleOf, ruleOf, settled, userNamed } from './access-world.ts';

const ann = userNamed('oidc:ann', 'oidc:dev');
const view = roleOf(undefined, 'view', readsPods);

type Joined = ReturnType<AccessWorld['join']>;

async function explained(world: AccessWorld, { name }: Joined, question: Partial<RightQuestion> & { readonly caller?: Caller } = {}) {
  const full = { caller: ann, cluster: name, verb: 'list', kind: { group: '', kind: 'Pod' }, ...question };
  return settled(world.clock, (): Promise<RightAnswer> => world.access.explain(full, world.end.signal));
}

test('a right comes with the binding, the subject and the rule that give it', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  north.put(view, bindingOf('shop', 'devs', 'ClusterRole/view', 'Group/oidc:dev'));
  await turns();
  expect(await explained(world, north, { namespace: 'shop' })).toEqual({
    isAllowed: true,
    reason: 'RoleBinding shop/devs gives the group oidc:dev the ClusterRole view (get, list, watch: pods, configmaps)',
    namespaces: [],
  });
  expect(north.reviews).toMatchObject([{ user: 'oidc:ann', resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'shop' } }]);
});

test('a right in some namespaces is none in all, and the answer names them', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  for (const namespace of ['shop', 'bank']) north.put(view, bindingOf(namespace, 'devs', 'ClusterRole/view', 'Group/oidc:dev'));
  await turns();
  expect(await explained(world, north)).toEqual({
    isAllowed: false,
    reason: 'only in the namespaces bank, shop',
    namespaces: ['bank', 'shop'],
  });
});

test.each([
  ['no binding', [], 'no binding for this namespace names the user oidc:ann or the groups oidc:dev'],
  [
    'a role without this rule',
    [view, bindingOf('shop', 'devs', 'ClusterRole/view', 'Group/oidc:dev')],
    'no rule of the roles of this caller allows it: ClusterRole view in shop',
  ],
  [
    'a right of another group',
    [roleOf('shop', 'admin', ruleOf(['*'], ['*'], ['*'])), bindingOf('shop', 'ops', 'Role/admin', 'Group/oidc:ops')],
    'no binding for this namespace names the user oidc:ann or the groups oidc:dev',
  ],
])('a denial without %s says so', async (_, objects, reason) => {
  const world = createAccessWorld();
  const north = world.join('north');
  north.put(...objects);
  await turns();
  expect(await explained(world, north, { verb: 'delete', namespace: 'shop' })).toEqual({ isAllowed: false, reason, namespaces: [] });
});

test('the groups that have the right are named to a caller who may list bindings, and only bindings of these namespaces', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  const admin = ruleOf(['*'], ['*'], ['*']);
  const bindings = ruleOf(['list'], ['rbac.authorization.k8s.io'], ['rolebindings']);
  north.put(roleOf('shop', 'admin', admin), bindingOf('shop', 'ops', 'Role/admin', 'Group/oidc:ops', 'User/oidc:root'));
  north.put(roleOf('shop', 'auditor', bindings), bindingOf('shop', 'ann', 'Role/auditor', 'User/oidc:ann'));
  north.put(roleOf(undefined, 'all', admin), bindingOf(undefined, 'root', 'ClusterRole/all', 'Group/oidc:root'));
  await turns();
  const { reason } = await explained(world, north, { verb: 'delete', namespace: 'shop' });
  expect(reason).toBe(
    'no rule of the roles of this caller allows it: Role shop/auditor in shop; it is given to the group oidc:ops (by RoleBinding shop/ops)',
  );
});

test('the API server decides: the RBAC objects only explain', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  north.mirror(view, bindingOf(undefined, 'devs', 'ClusterRole/view', 'Group/oidc:dev'));
  north.alsoAllow = ({ resourceAttributes }) => resourceAttributes.verb === 'delete';
  await turns();
  const denied = await explained(world, north);
  expect(denied).toMatchObject({ isAllowed: false, reason: expect.stringContaining('but the cluster denies it and gives no reason') });
  const allowed = await explained(world, north, { verb: 'delete' });
  expect(allowed).toEqual({ isAllowed: true, reason: 'the cluster allows it, and gives no reason', namespaces: [] });
});

test('a cluster that does not answer, and a kind that it does not serve, have their own answers', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  expect(await explained(world, north, { kind: { group: 'example.com', kind: 'Widget' } })).toMatchObject({
    isAllowed: false,
    reason: 'the cluster does not serve this kind',
  });
  north.isAway = true;
  expect(await explained(world, north)).toMatchObject({ isAllowed: undefined, reason: expect.stringMatching(/^UNREACHABLE: the cluster/) });
  north.isAway = false;
  north.leave();
  expect(await explained(world, north)).toMatchObject({ isAllowed: undefined, reason: 'the cluster has left the fleet' });
});

test('the gateway without a mirror of RBAC objects says that it knows no reason', async () => {
  const world = createAccessWorld();
  const north = world.join('north', { mirrorsRbac: false });
  await turns();
  const { reason } = await explained(world, north, { namespace: 'shop' });
  expect(reason).toBe('the cluster gives no reason, and the gateway cannot read all its RBAC objects');
});

test('names are those of the cluster, and a Namespace is asked about with its name as namespace', async () => {
  const world = createAccessWorld();
  const north = world.join('north', { identity: { userPrefix: 'corp:', groupPrefix: 'corp:' } });
  await turns();
  const { reason } = await explained(world, north, {
    verb: 'get',
    kind: { group: '', kind: 'Namespace' },
    name: 'shop',
    namespace: 'bank',
  });
  expect(reason).toBe('no binding for this namespace names the user corp:oidc:ann or the groups corp:oidc:dev');
  expect(north.reviews[0]).toMatchObject({ resourceAttributes: { namespace: 'shop', name: 'shop' } });
});

test('a caller without an identity gets no answer about rights', async () => {
  const world = createAccessWorld();
  const north = world.join('north');
  await turns();
  expect((await explained(world, north, { caller: { key: 'local' } })).isAllowed).toBeUndefined();
  expect(north.reviews).toEqual([]);
});
