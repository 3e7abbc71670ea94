import { expect, test } from 'vitest';
import type { Access, AccessRequest } from '../../src/access/access.ts';
import type { CallerMember } from '../../src/access/caller-api.ts';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { type Accounts, createActingClients, impersonationOf } from '../../src/changes/acting-clients.ts';
import type { ActingFor } from '../../src/cluster/endpoint.ts';
import { fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';

const never = new AbortController().signal;
const north = clusterName('north');
const requester = { user: 'oidc:lena', uid: 'u', groups: ['oidc:editors'], extra: { team: ['a'] }, at: '2026-01-01T00:00:00Z' };
const asRequester = { runAs: { type: 'requester' }, requester } as const;
const asAccount = { runAs: { type: 'serviceAccount', namespace: 'shop', name: 'deployer' }, requester } as const;
const account = { user: 'system:serviceaccount:shop:deployer', groups: [], extra: {} };
const lena = { user: 'oidc:lena', uid: 'u', groups: ['oidc:editors'], extra: { team: ['a'] } };
const configMaps = {
  ...{ group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true, verbs: [], versions: ['v1'] },
  ...{ singular: 'configmap', shortNames: [], categories: [] },
};
const address = { resource: configMaps, namespace: 'shop', name: 'settings' };

/** Clients of one cluster. `sent` has the identity of each request, and `asked` the rights that were checked. */
function clientsWith(
  accounts: Accounts,
  allows: (request: AccessRequest) => boolean = () => true,
  identity?: CallerMember['settings']['identity'],
) {
  const sent: ActingFor[] = [];
  const asked: unknown[] = [];
  const nothing = async function* () {
    yield* [];
  };
  const member: CallerMember = {
    settings: { identity },
    api: {
      ...{ cluster: north, connectionFaults: [], list: nothing, watch: nothing, logs: nothing },
      send: async ({ as, requestId }) => {
        sent.push({ as, requestId });
        return { type: 'failed', fault: fault('NOT_FOUND', 'absent', { cluster: north, retry: 'NEVER' }) };
      },
    },
  };
  const access: Access = {
    ...createLocalAccess(),
    visibilityOf(request) {
      const { caller, cluster: _, ...rest } = request;
      asked.push({ user: caller.user?.user, ...rest });
      if (allows(request)) return { type: 'all' };
      return { type: 'none', fault: fault('FORBIDDEN', 'no', { cluster: north, retry: 'NEVER' }) };
    },
  };
  const clients = createActingClients({ member: (name) => (name === north ? member : undefined), access, accounts });
  return { clients, sent, asked };
}

test('acts as the ServiceAccount or as the requester with uid, groups and extra, and as nobody without one', () => {
  expect(impersonationOf(asAccount)).toEqual(account);
  expect(impersonationOf(asRequester)).toEqual(lena);
  expect(impersonationOf({ runAs: { type: 'requester' } })).toBeUndefined();
  expect(impersonationOf(asRequester, { userPrefix: 'corp:', groupPrefix: 'corp:' })).toMatchObject({ user: 'corp:oidc:lena' });
  expect(impersonationOf(asAccount, { userPrefix: 'corp:', groupPrefix: 'corp:' })).toEqual(account);
});

test('in local mode uses the account of the gateway for requesters, and impersonates ServiceAccounts', async () => {
  const { clients, sent, asked } = clientsWith('one', () => false);
  await clients.clientOf(north, asRequester)?.get(address, never);
  await clients.clientOf(north, asAccount)?.get(address, never);
  await clients.ofCaller(north, { caller: { key: 'local' }, requestId: 'r-1' })?.get(address, never);
  expect(sent).toEqual([
    { as: undefined, requestId: undefined },
    { as: account, requestId: undefined },
    { as: undefined, requestId: 'r-1' },
  ]);
  expect(asked).toEqual([]);
  expect(clients.own(clusterName('moon'))).toBeUndefined();
});

test('with authentication acts as the caller or the requester, with the prefixes of the cluster', async () => {
  const { clients, sent, asked } = clientsWith('many', () => false, { userPrefix: 'corp:', groupPrefix: '' });
  await clients.ofCaller(north, { caller: { key: 'lena', user: { ...lena, issuer: 'i' } }, requestId: 'r-1' })?.get(address, never);
  await clients.clientOf(north, asRequester)?.get(address, never);
  const as = { ...lena, user: 'corp:oidc:lena' };
  expect(sent).toEqual([
    { as, requestId: 'r-1' },
    { as, requestId: undefined },
  ]);
  expect(asked).toEqual([]);
});

test('asks before each call whether the requester may impersonate the ServiceAccount', async () => {
  let isAllowed = true;
  const { clients, sent, asked } = clientsWith('many', () => isAllowed);
  const client = clients.clientOf(north, asAccount);
  await client?.get(address, never);
  expect(sent).toEqual([{ as: account, requestId: undefined }]);
  const object = { namespace: 'shop', name: 'deployer' };
  expect(asked).toEqual([{ user: 'oidc:lena', kind: { group: '', kind: 'ServiceAccount' }, verb: 'impersonate', object }]);
  isAllowed = false;
  const write = { ...address, manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } }, preconditions: {} };
  expect(await client?.apply({ ...write, force: false, run: 'real' }, never)).toMatchObject({
    result: 'failed',
    fault: { code: 'FORBIDDEN' },
  });
  expect(await client?.serves({ apiVersion: 'v1', kind: 'ConfigMap' }, never)).toMatchObject({ fault: { code: 'FORBIDDEN' } });
  expect(sent.length).toBe(1);
});

test('lets a ServiceAccount act as itself without a question, unless the cluster knows it as another user', async () => {
  const itself = { ...asAccount, requester: { user: 'system:serviceaccount:shop:deployer', groups: [], extra: {} } };
  const same = clientsWith('many', () => false);
  await same.clients.clientOf(north, itself)?.get(address, never);
  expect([same.sent, same.asked]).toEqual([[{ as: account, requestId: undefined }], []]);
  const other = clientsWith('many', () => false, { userPrefix: 'corp:', groupPrefix: '' });
  expect(await other.clients.clientOf(north, itself)?.get(address, never)).toMatchObject({ fault: { code: 'FORBIDDEN' } });
  expect([other.sent.length, other.asked.length]).toEqual([0, 1]);
});

test('P15: never uses the account of the gateway for an identity without a requester', async () => {
  const { clients, sent } = clientsWith('many');
  for (const runAs of [asRequester.runAs, asAccount.runAs]) {
    const answer = await clients.clientOf(north, { runAs })?.get(address, never);
    expect(answer).toMatchObject({ result: 'failed', fault: { code: 'FORBIDDEN' } });
  }
  expect(sent).toEqual([]);
});
