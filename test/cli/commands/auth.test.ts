import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [], south: [] });
  gateway.cluster('south').forbid({ verbs: ['delete'] });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const auth = (...args: string[]) => runCli(gateway, ['auth', ...args]);

test('whoami says that there is no authentication in local mode', async () => {
  expect(await auth('whoami')).toEqual({
    code: 0,
    out: 'local mode: no authentication, every caller has the rights of the kubeconfig of the gateway\n',
    err: '',
  });
  const { out } = await auth('whoami', '-o', 'json');
  expect(JSON.parse(out)).toEqual({ local: true, name: null, uid: null, groups: [], issuer: null });
});

test('can-i reviews the right in every cluster with the account of the kubeconfig, and exits with 0 only if all allow it', async () => {
  const allowed = await auth('can-i', 'list', 'pods');
  expect(allowed).toEqual({
    code: 0,
    out: [
      'CLUSTER   ANSWER   WHY\n',
      'north     yes      the cluster allows it, and gives no reason\n',
      'south     yes      the cluster allows it, and gives no reason\n',
    ].join(''),
    err: '',
  });
  const denied = await auth('can-i', 'delete', 'deploy/web', '-n', 'shop');
  expect(denied).toMatchObject({
    code: 1,
    out: expect.stringContaining('south     no       no rule of the cluster allows it to the account'),
  });
  expect((await auth('can-i', 'delete', 'deploy', '--context', 'north')).code).toBe(0);
  const { out } = await auth('can-i', 'get', 'pods', '--subresource', 'log', '-o', 'json', '--context', 'south');
  expect(JSON.parse(out)).toEqual([{ cluster: { name: 'south' }, allowed: true, reason: expect.any(String), namespaces: [] }]);
});

test.each([
  [['can-i', 'list', 'pods/a/b'], 'expected KIND or KIND/NAME, got pods/a/b'],
  [['can-i', 'list', 'pods', '--context', 'nowhere'], 'no cluster named "nowhere"'],
  [['can-i', 'LIST', 'pods'], 'verb: expected a word in lower case such as list, got "LIST"'],
  [['can-i', 'list', 'gadgets'], 'no kind gadgets'],
  [['can-i', 'list', 'pods', '-n', 'a b'], 'namespace: expected a name of 1 to 253 characters, got "a b"'],
])('%j is refused', async (args, message) => {
  expect(await auth(...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
});

test('a cluster that does not answer is unknown', async () => {
  using _ = gateway.cluster('south').refuse();
  gateway.cluster('south').disconnect();
  const { code, out } = await auth('can-i', 'list', 'pods');
  expect([code, out]).toEqual([1, expect.stringMatching(/^south +unknown +[A-Z_]+: .+$/m)]);
});
