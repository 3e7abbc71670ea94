import { beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { isFailure } from '../../../src/inventories/adapters/found.ts';
import { endpointOrFailure } from '../../../src/inventories/endpoints/checked-endpoint.ts';
import { readKubeconfigEndpoint } from '../../../src/inventories/endpoints/kubeconfig-endpoint.ts';
import { createCertificate, type ServingCertificate } from '../../../src/sim/certificate.ts';

let pems: ServingCertificate;
beforeAll(async () => {
  pems = await createCertificate();
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

type Values = Readonly<Record<string, unknown>>;

interface Changes {
  readonly cluster?: Values;
  readonly user?: Values;
  readonly document?: Values;
}

/** A good kubeconfig with another context before the current one. `changes` are laid over it; an undefined value removes a key. */
function kubeconfig({ cluster, user, document }: Changes = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    contexts: [
      { name: 'other', context: { cluster: 'other', user: 'other' } },
      { name: 'it', context: { cluster: 'it', user: 'it', namespace: 'team' } },
    ],
    clusters: [
      { name: 'other', cluster: { 'insecure-skip-tls-verify': true } },
      { name: 'it', cluster: { server: 'https://api.test:6443/', 'certificate-authority-data': base64(pems.ca), ...cluster } },
    ],
    users: [
      { name: 'other', user: { exec: { command: 'sh' } } },
      { name: 'it', user: { token: 'secret-canary', ...user } },
    ],
    ...document,
  });
}

function read(text: string, allowPrivate: readonly string[] = []) {
  return endpointOrFailure(() => readKubeconfigEndpoint(Buffer.from(text), allowPrivate));
}

test('only the current context counts, with its namespace', () => {
  expect(read(kubeconfig({ cluster: { 'tls-server-name': 'kubernetes' } }))).toMatchObject({
    server: 'https://api.test:6443',
    tlsServerName: 'kubernetes',
    trust: { type: 'authority' },
    credentials: { type: 'token', token: 'secret-canary' },
    namespace: 'team',
  });
});

test('a value that is false or empty counts as not given', () => {
  const unset = { cluster: { 'insecure-skip-tls-verify': false, 'proxy-url': '' }, user: { username: '' } };
  expect(isFailure(read(kubeconfig(unset)))).toBe(false);
});

test.each<[string, string]>([
  ['brackets', '['.repeat(400_000)],
  ['comments', '#\n'.repeat(200_000)],
  ['mappings', '- {a: 1}\n'.repeat(50_000)],
  ['keys that are lists', '? [a]\n: b\n'.repeat(40_000)],
])('YAML that would take seconds to parse is refused unread: %s', (_, text) => {
  expect(read(text)).toMatchObject({
    code: 'INVALID',
    message: expect.stringMatching(/^kubeconfig: expected JSON, or YAML with at most 10000 lines/),
  });
});

test('YAML with large certificates is read', () => {
  const large = { cluster: { 'certificate-authority-data': base64(`${pems.ca}\n`.repeat(300)) } };
  const text = stringify(JSON.parse(kubeconfig(large)));
  expect(text.length).toBeGreaterThan(150_000);
  expect(read(text)).toMatchObject({ server: 'https://api.test:6443' });
});

test('certificates in DER, and a key of another certificate, are refused', async () => {
  const der = Buffer.from(pems.ca.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64').toString('base64');
  expect(read(kubeconfig({ cluster: { 'certificate-authority-data': der } }))).toMatchObject({
    code: 'INVALID',
    message: 'clusters[1].cluster.certificate-authority-data: expected certificates in PEM',
  });
  const { key } = await createCertificate();
  const user = { 'client-certificate-data': base64(pems.certificate), 'client-key-data': base64(key) };
  expect(read(kubeconfig({ user }))).toMatchObject({
    code: 'INVALID',
    message: 'users[1].user.client-key-data: expected the key of the client certificate',
  });
});

test('a client certificate with its key is enough, and so is a server that public authorities have signed', () => {
  const user = { token: undefined, 'client-certificate-data': base64(pems.certificate), 'client-key-data': base64(pems.key) };
  expect(read(kubeconfig({ user, cluster: { 'certificate-authority-data': undefined } }))).toMatchObject({
    trust: { type: 'system' },
    credentials: { type: 'none' },
    clientCertificate: { certificate: { type: 'data' }, key: { type: 'data' } },
  });
});

const cluster = 'clusters[1].cluster';
const user = 'users[1].user';

test.each<[string, Changes]>([
  [`${user}.exec`, { user: { exec: { command: 'sh' } } }],
  [`${user}.auth-provider`, { user: { 'auth-provider': { name: 'gcp' } } }],
  [`${user}.tokenFile`, { user: { tokenFile: '/etc/passwd' } }],
  [`${user}.client-certificate`, { user: { 'client-certificate': '/x' } }],
  [`${user}.username`, { user: { username: 'me', password: 'x' } }],
  [`${user}.as`, { user: { as: 'system:admin' } }],
  [`${user}.token`, { user: { token: { secret: 'secret-canary' } } }],
  [`${user}.token`, { user: { token: 'secret-canary with a space' } }],
  [`${user}: expected a token`, { user: { token: undefined } }],
  [`${user}: expected a client certificate together`, { user: { 'client-key-data': 'c2VjcmV0LWNhbmFyeQ==' } }],
  [`${user}.client-key-data`, { user: { 'client-key-data': 'c2VjcmV0LWNhbmFyeQ==', 'client-certificate-data': 'c2VjcmV0LWNhbmFyeQ==' } }],
  [`${cluster}.certificate-authority`, { cluster: { 'certificate-authority': '/x' } }],
  [`${cluster}.certificate-authority-data: expected base64`, { cluster: { 'certificate-authority-data': 'secret-canary' } }],
  [`${cluster}.certificate-authority-data: expected certificates`, { cluster: { 'certificate-authority-data': 'c2VjcmV0' } }],
  [`${cluster}.insecure-skip-tls-verify`, { cluster: { 'insecure-skip-tls-verify': true } }],
  [`${cluster}.proxy-url`, { cluster: { 'proxy-url': 'http://proxy.test' } }],
  [`${cluster}.server`, { cluster: { server: undefined } }],
  [`${cluster}.server`, { cluster: { server: 'http://api.test' } }],
  [`${cluster}.server`, { cluster: { server: 'https://me:secret-canary@api.test' } }],
  [`${cluster}.server`, { cluster: { server: 'https://api.test/?secret-canary' } }],
  [`${cluster}.server`, { cluster: { server: 'https://api.test/#' } }],
  ['current-context', { document: { 'current-context': 'absent' } }],
  ['current-context', { document: { 'current-context': undefined } }],
  ['contexts[0].context.cluster', { document: { contexts: [{ name: 'it', context: { cluster: 'absent', user: 'it' } }] } }],
  ['contexts[0].context', { document: { contexts: [{ name: 'it', context: 'it' }] } }],
  ['users', { document: { users: 'it' } }],
])('%s is refused without showing its value', (path, changes) => {
  const access = read(kubeconfig(changes));
  expect(access).toMatchObject({ code: 'INVALID', retry: 'NEVER', message: expect.stringContaining(path) });
  expect(JSON.stringify(access)).not.toMatch(/canary/);
});

test.each([
  ['https://127.0.0.1', 'https://127.1', 'https://2130706433', 'https://[::1]', 'https://[::]', 'https://0.0.0.0'],
  ['https://169.254.169.254', 'https://[fe80::1]', 'https://[fd00:ec2::254]', 'https://[::ffff:127.0.0.1]', 'https://[::ffff:7f00:1]'],
])('the private address %s is refused unless allowPrivate allows it', (...servers) => {
  const everything = ['0.0.0.0/0', '::/0'];
  for (const server of servers) {
    expect(read(kubeconfig({ cluster: { server } })), server).toMatchObject({ code: 'INVALID' });
    expect(isFailure(read(kubeconfig({ cluster: { server } }), everything)), server).toBe(false);
  }
});

test.each([
  ['no YAML', 'clusters: ['],
  ['a list', '[]'],
  ['empty', ''],
  ['more than 512 KiB', 'x'.repeat((512 << 10) + 1)],
  [
    'YAML with many nested aliases',
    `a: &a [x, x]\n${Array.from(
      { length: 9 },
      (_, at) =>
        `b${at}: &b${at} [${Array(9)
          .fill(at === 0 ? '*a' : `*b${at - 1}`)
          .join(', ')}]`,
    ).join('\n')}`,
  ],
  ['a key twice', 'current-context: a\ncurrent-context: b'],
])('a text that is %s is no kubeconfig', (_what, text) => {
  expect(read(text)).toMatchObject({ code: 'INVALID', message: expect.stringMatching(/^kubeconfig: expected/) });
});

test('A14: YAML with thousands of keys is read in one pass', () => {
  const text = Array.from({ length: 4_900 }, (_, at) => `k${at}: 1`).join('\n');
  expect(read(text)).toMatchObject({ code: 'INVALID', message: 'current-context: expected a name' });
});
