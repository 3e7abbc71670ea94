import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { intentOf, linesOf, objectAt, propagated, stateWhere } from '../../support/propagate/propagating.ts';
import {
  type EmbeddedFleet,
  type FleetGround,
  fleetKinds,
  startEmbedded,
  type WritingFleet,
} from '../../support/propagate/writing-fleet.ts';

// D17: a manifest that grants more rights than its user has. On real servers RBAC itself refuses it; the gateway's own account could write
// it.

const rbac = { group: 'rbac.authorization.k8s.io', path: '/apis/rbac.authorization.k8s.io/v1' };
const userOf = ({ namespace }: WritingFleet) => `system:serviceaccount:${namespace}:deployer`;

/** Makes a binding that grants the user rights that it does not have. */
function grantOf(fleet: WritingFleet): JsonObject {
  return {
    apiVersion: `${rbac.group}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'grant', namespace: fleet.namespace },
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'deployer', namespace: fleet.namespace }],
  };
}

/** Allows the user to write bindings and nothing else. */
async function mayBind(fleet: WritingFleet): Promise<void> {
  const name = `${fleet.namespace}-binds`;
  const rules = [{ apiGroups: [rbac.group], resources: ['rolebindings'], verbs: ['get', 'list', 'create', 'patch', 'update'] }];
  const roleRef = { apiGroup: rbac.group, kind: 'ClusterRole', name };
  const subjects = [{ kind: 'User', apiGroup: rbac.group, name: userOf(fleet) }];
  const made: readonly (readonly [string, JsonObject])[] = [
    ['clusterroles', { kind: 'ClusterRole', metadata: { name }, rules }],
    ['clusterrolebindings', { kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects }],
  ];
  for (const cluster of fleet.names) {
    for (const [resource, body] of made) {
      const answer = await fleet.send(cluster, 'POST', `${rbac.path}/${resource}`, { body: { apiVersion: `${rbac.group}/v1`, ...body } });
      if (answer.status !== 201) throw new Error(`expected ${resource}, got ${answer.text}`);
    }
  }
}

/** Expects that the copies are DENIED in all clusters, and stay so. */
async function expectDenied(fleet: WritingFleet): Promise<void> {
  const runAs = { serviceAccount: { namespace: fleet.namespace, name: 'deployer' } };
  await propagated(fleet, intentOf(fleet, 'grant', [grantOf(fleet)], { runAs }));
  const isDenied = ({ clusters }: { readonly clusters: readonly { readonly phase: string }[] }) =>
    clusters.length === 3 && clusters.some(({ phase }) => phase === 'DENIED');
  const now = await stateWhere(fleet, 'grant', (state) => isDenied(state) && state.clusters.every(({ phase }) => phase === 'DENIED'));
  expect(linesOf(now)).toEqual(['east', 'north', 'south'].map((cluster) => [cluster, 'DENIED', 'DENIED']));
  await fleet.pass(3_000);
  const path = `${rbac.path}/namespaces/${fleet.namespace}/rolebindings/grant`;
  for (const cluster of fleet.names) expect(await objectAt(fleet, cluster, path)).toBeUndefined();
}

test('D17: a copy that the ServiceAccount may not write is DENIED, and written under no other account (the embedded fleet)', async () => {
  await using fleet: EmbeddedFleet = await startEmbedded();
  for (const name of fleet.names) fleet.cluster(name).forbid({ kind: 'RoleBinding', users: [userOf(fleet)] });
  await expectDenied(fleet);
  const asked = fleet.names
    .flatMap((name) => fleet.cluster(name).requests)
    .filter(({ resource, method }) => resource?.resource === 'rolebindings' && resource.name === 'grant' && method === 'PATCH');
  expect(asked.length).toBeGreaterThanOrEqual(3);
  expect([...new Set(asked.map(({ headers }) => headers['impersonate-user']))]).toEqual([userOf(fleet)]);
}, 60_000);

describe.each(fleetKinds.filter(({ crashes }) => crashes !== 'each'))('$title', ({ available, open }) => {
  let ground: FleetGround;
  beforeAll(async () => {
    if (available) ground = await open();
  }, 120_000);
  afterAll(() => ground?.[Symbol.asyncDispose]());

  test.skipIf(!available)(
    'D17: a manifest that grants cluster-admin is refused by RBAC, though the gateway itself could',
    async () => {
      await using fleet = await ground.start();
      await mayBind(fleet);
      await expectDenied(fleet);
    },
    120_000,
  );
});
