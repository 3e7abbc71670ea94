import { describe, expect, test } from 'vitest';
import type { User } from '../../src/access/access.ts';
import { apiForCaller, impersonationIn } from '../../src/access/caller-api.ts';
import type { ClusterApi } from '../../src/cluster/cluster-api.ts';
import type { ActingFor } from '../../src/cluster/endpoint.ts';
import { clusterName } from '../../src/core/names.ts';
import { turns } from '../support/manual-clock.ts';

const never = new AbortController().signal;
const alice: User = { user: 'oidc:alice', uid: 'u-1', groups: ['oidc:dev'], extra: { team: ['a'] }, issuer: 'https://login.example.com' };
const builder: User = {
  user: 'system:serviceaccount:shop:builder',
  uid: 'u-2',
  groups: ['system:serviceaccounts'],
  extra: {},
  issuer: 'tokenreview',
};
const prefixes = { userPrefix: 'corp:', groupPrefix: 'firm:' };

test.each<[string, Parameters<typeof impersonationIn>, ReturnType<typeof impersonationIn>]>([
  [
    'a user with all groups, uid and extra',
    [undefined, alice],
    { user: 'oidc:alice', uid: 'u-1', groups: ['oidc:dev'], extra: alice.extra },
  ],
  [
    'a user with the prefixes of the cluster in front of whole names',
    [prefixes, alice],
    { user: 'corp:oidc:alice', uid: 'u-1', groups: ['firm:oidc:dev'], extra: alice.extra },
  ],
  ['a ServiceAccount by its name alone', [undefined, builder], { user: builder.user, groups: [], extra: {} }],
  [
    'a ServiceAccount with a prefix as an ordinary user',
    [prefixes, builder],
    { user: `corp:${builder.user}`, uid: 'u-2', groups: ['firm:system:serviceaccounts'], extra: {} },
  ],
])('impersonates %s', (_who, given, expected) => {
  expect(impersonationIn(...given)).toEqual(expected);
});

describe('the API of a caller', () => {
  function recorded() {
    const sent: ActingFor[] = [];
    const take = async function* ({ as, requestId }: ActingFor) {
      sent.push({ as, requestId });
      yield* [];
    };
    const api: ClusterApi = {
      cluster: clusterName('north'),
      connectionFaults: [],
      list: take,
      watch: take,
      logs: take,
      send: async ({ as, requestId }) => {
        sent.push({ as, requestId });
        return { type: 'answered', status: 200, body: new Uint8Array() };
      },
    };
    return { api, sent };
  }
  const resource = {
    group: '',
    version: 'v1',
    kind: 'Pod',
    resource: 'pods',
    namespaced: true,
    singular: 'pod',
    shortNames: [],
    categories: [],
    verbs: [],
    versions: ['v1'],
  };

  test('sends each request as the user, with the id of the operation', async () => {
    const { api, sent } = recorded();
    const acting = apiForCaller({ api, settings: {} }, { caller: { key: 'a', user: alice }, requestId: 'r-1' });
    await acting.send({ method: 'GET', path: ['api'] }, never);
    const requests = [
      acting.list({ resource, form: 'object' }, never),
      acting.watch({ resource, form: 'object', version: '', initialEvents: false, timeoutSeconds: 1 }, never),
      acting.logs({ namespace: 'a', pod: 'b', container: 'c', follow: false, previous: false, timestamps: true }, never),
    ];
    for (const request of requests) for await (const _part of request);
    expect(sent).toEqual(Array.from({ length: 4 }, () => ({ as: impersonationIn(undefined, alice), requestId: 'r-1' })));
  });

  test('has 20 requests, pages of lists and logs in flight, so that a user with many delays no other; a followed log does not count', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const hold = async ({ as }: ActingFor) => {
      begun.push(as?.user ?? '');
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    const { api } = recorded();
    const slow: ClusterApi = {
      ...api,
      send: (request) => hold(request).then(() => ({ type: 'answered', status: 200, body: new Uint8Array() })),
      async *logs(request) {
        await hold(request);
        yield { type: 'closed' };
      },
      async *list(page) {
        await hold(page);
        yield { type: 'pageEnded' };
      },
    };
    const of = (user: string) => apiForCaller({ api: slow, settings: {} }, { caller: { key: user, user: { ...alice, user } } });
    const log = { namespace: 'a', pod: 'b', container: 'c', previous: false, timestamps: true };
    const read = async (user: string, follow: boolean) => {
      for await (const _part of of(user).logs({ ...log, follow }, never));
    };
    const all = Array.from({ length: 25 }, () => of('eve').send({ method: 'GET', path: ['api'] }, never));
    const list = async (user: string) => {
      for await (const _part of of(user).list({ resource, form: 'object' }, never));
    };
    const logs = [read('eve', false), read('eve', true), read('ann', false), list('eve'), list('ann')];
    await turns();
    expect(begun).toEqual([...Array.from({ length: 20 }, () => 'eve'), 'eve', 'ann', 'ann']);
    const gone = new AbortController();
    const aborted = of('eve').send({ method: 'GET', path: ['api'] }, gone.signal);
    gone.abort();
    await turns();
    expect(begun).toHaveLength(24);
    while (begun.length < 30 + 1) {
      ends.shift()?.();
      await turns();
    }
    for (const end of ends) end();
    await Promise.all([...all, ...logs, aborted]);
  });

  test('is that of the gateway in local mode', async () => {
    const { api, sent } = recorded();
    expect(apiForCaller({ api, settings: { identity: prefixes } }, { caller: { key: 'local' } })).toBe(api);
    await apiForCaller({ api, settings: {} }, { caller: { key: 'local' }, requestId: 'r-2' }).send({ method: 'GET', path: [] }, never);
    expect(sent).toEqual([{ as: undefined, requestId: 'r-2' }]);
  });
});
