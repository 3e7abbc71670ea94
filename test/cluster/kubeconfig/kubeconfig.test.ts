import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint, PemMaterial } from '../../../src/cluster/endpoint.ts';
import { type Kubeconfig, loadKubeconfig } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import { readKubeconfigFiles } from '../../../src/cluster/kubeconfig/kubeconfig-files.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-kubeconfig-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const at = path.join(folder, name);
  await mkdir(path.dirname(at), { recursive: true });
  await writeFile(at, text);
  return at;
}

async function load(text: string, environment: Readonly<Record<string, string>> = {}): Promise<Kubeconfig> {
  const kubeconfig = await loadKubeconfig({ file: await file('config', text), environment });
  if (kubeconfig === undefined) throw new Error('expected a kubeconfig');
  return kubeconfig;
}

/** Makes a kubeconfig with one context. Its cluster and user have these keys, one per line. */
function configOf({
  cluster = 'server: https://a.example:6443',
  user = 'token: t',
  context = '',
}: {
  cluster?: string;
  user?: string;
  context?: string;
}): string {
  const indented = (text: string) =>
    text
      .split('\n')
      .map((line) => `    ${line}`)
      .join('\n');
  return [
    'apiVersion: v1',
    'kind: Config',
    'current-context: a',
    'clusters:',
    '- name: a',
    '  cluster:',
    indented(cluster),
    'users:',
    '- name: a',
    '  user:',
    indented(user),
    'contexts:',
    '- name: a',
    '  context:',
    indented(`cluster: a\nuser: a\n${context}`),
  ].join('\n');
}

async function endpoint(parts: Parameters<typeof configOf>[0], environment: Readonly<Record<string, string>> = {}): Promise<Endpoint> {
  const { contexts } = await load(configOf(parts), environment);
  if (contexts[0]?.result !== 'usable') throw new Error(`expected a usable context: ${contexts[0]?.problem}`);
  return contexts[0].endpoint;
}

async function problem(parts: Parameters<typeof configOf>[0]): Promise<string> {
  const { contexts } = await load(configOf(parts));
  return contexts[0]?.result === 'broken' ? contexts[0].problem.replace(folder, '') : 'usable';
}

const textOf = (material: PemMaterial | undefined) =>
  material?.type === 'data' ? Buffer.from(material.data).toString() : material?.path.replace(folder, '');
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('where it is found', () => {
  test('A14: a named file that is not there, is no YAML, or no kubeconfig: one line that names it', async () => {
    await expect(loadKubeconfig({ file: path.join(folder, 'nope'), environment: {} })).rejects.toMatchObject({
      name: 'MusterError',
      code: 'BAD_INPUT',
      message: expect.stringMatching(/nope: there is no such file$/),
    });
    await expect(load('clusters: [\n  oops')).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringMatching(/^the kubeconfig .*config: expected YAML: line \d+: [^\n]+$/),
    });
    await expect(load('hello')).rejects.toMatchObject({ message: expect.stringContaining('expected a kubeconfig') });
    await expect(load('kind: Pod')).rejects.toMatchObject({ message: expect.stringContaining('expected kind Config, got "Pod"') });
    await expect(load('contexts: {}')).rejects.toMatchObject({ message: expect.stringContaining('contexts: expected a list') });
    await expect(load('contexts: [{context: {}}]')).rejects.toMatchObject({
      message: expect.stringContaining('contexts[0].name: expected a name'),
    });
    await expect(loadKubeconfig({ file: folder, environment: {} })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be read (EISDIR)'),
    });
  });

  test('A14: a file of 10 MB and one of 1,000 contexts are read, and one past 16 MiB is refused', async () => {
    const padding = `# ${'x'.repeat(98)}\n`;
    expect(await load(`${padding.repeat(100_000)}kind: Config\n`)).toMatchObject({ contexts: [] });
    await expect(load(padding.repeat(170_000))).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringContaining('expected at most 16 MiB'),
    });
    const contexts = Array.from({ length: 1_000 }, (_, index) => `  - { name: c${index}, context: { cluster: c${index}, user: u } }`);
    const clusters = contexts.map((_, index) => `  - { name: c${index}, cluster: { server: "https://c${index}.test" } }`);
    const read = await load(['clusters:', ...clusters, 'contexts:', ...contexts, 'users: [ { name: u, user: { token: t } } ]'].join('\n'));
    expect(read.contexts.filter(({ result }) => result === 'usable')).toHaveLength(1_000);
  });

  test('a file with too many aliases is refused', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) =>
        `l${level}: &l${level} [${
          level === 0
            ? 'x'
            : Array(9)
                .fill(`*l${level - 1}`)
                .join(', ')
        }]`,
    );
    await expect(load(levels.join('\n'))).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });

  test('A14: no file at all is none, and an empty one has no contexts', async () => {
    expect(await loadKubeconfig({ environment: { HOME: path.join(folder, 'nobody') }, serviceAccountFolder: folder })).toBeUndefined();
    expect(await load('')).toMatchObject({ contexts: [] });
  });

  test('of several files, the first one that sets a value wins, and missing files are skipped', async () => {
    const first = await file('first', configOf({ cluster: 'server: https://first' }).replace('current-context: a', ''));
    const second = await file('second', `${configOf({ cluster: 'server: https://second' })}\n- name: b\n  context: {cluster: a}\n`);
    const KUBECONFIG = [path.join(folder, 'missing'), first, second].join(path.delimiter);
    const found = await loadKubeconfig({ environment: { KUBECONFIG } });
    expect(found).toMatchObject({ origin: 'named', paths: [first, second], currentContext: 'a' });
    expect(found?.contexts).toMatchObject([
      { name: 'a', endpoint: { server: 'https://first' } },
      { name: 'b', endpoint: { server: 'https://first', credentials: { type: 'none' } } },
    ]);
    await expect(
      loadKubeconfig({ environment: { KUBECONFIG: `${path.join(folder, 'x')}${path.delimiter}${path.join(folder, 'y')}` } }),
    ).rejects.toMatchObject({ code: 'BAD_INPUT' });
    await expect(loadKubeconfig({ environment: { KUBECONFIG: path.join(folder, 'x') } })).rejects.toMatchObject({ code: 'BAD_INPUT' });
  });

  test('else the one in the home folder, else the service account of our own pod', async () => {
    await file('home/.kube/config', configOf({}));
    expect(await loadKubeconfig({ environment: { HOME: path.join(folder, 'home') } })).toMatchObject({
      origin: 'home',
      currentContext: 'a',
    });
    await file('sa/token', 't');
    await file('sa/namespace', 'muster\n');
    const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const own = await loadKubeconfig({ environment, serviceAccountFolder: path.join(folder, 'sa') });
    expect(own).toMatchObject({
      origin: 'inCluster',
      contexts: [
        {
          endpoint: {
            server: 'https://[fd00::1]:443',
            namespace: 'muster',
            compression: 'off',
            credentials: { type: 'tokenFile' },
            trust: { type: 'authority' },
          },
        },
      ],
    });
  });
});

describe('the entry of a cluster', () => {
  test('server, authority, name, proxy, compression and namespace', async () => {
    const cluster = `server: https://a.example:6443/prefix/\ncertificate-authority-data: ${base64('CA')}\ntls-server-name: other\nproxy-url: http://proxy:3128\ndisable-compression: true`;
    const found = await endpoint({ cluster, context: 'namespace: team' });
    expect(found).toMatchObject({
      name: 'a',
      server: 'https://a.example:6443/prefix',
      tlsServerName: 'other',
      proxyUrl: 'http://proxy:3128/',
      compression: 'off',
      namespace: 'team',
    });
    expect(found.trust.type === 'authority' ? textOf(found.trust.certificates) : found.trust).toBe('CA');
  });

  test('the file of an authority is relative to the kubeconfig, and inline data wins over it', async () => {
    const beside = await endpoint({ cluster: 'server: https://a\ncertificate-authority: pki/ca.crt' });
    expect(beside.trust.type === 'authority' && textOf(beside.trust.certificates)).toBe('/pki/ca.crt');
    const both = await endpoint({
      cluster: `server: https://a\ncertificate-authority: ca.crt\ncertificate-authority-data: ${base64('CA')}`,
    });
    expect(both.trust.type === 'authority' && textOf(both.trust.certificates)).toBe('CA');
    expect((await endpoint({})).trust).toEqual({ type: 'system' });
    expect((await endpoint({ cluster: 'server: https://a\ninsecure-skip-tls-verify: true' })).trust).toEqual({ type: 'unverified' });
  });

  test.each([
    ['no server', 'tls-server-name: x', 'clusters[0].cluster.server: expected the URL of an API server'],
    ['no URL', 'server: nonsense', 'clusters[0].cluster.server: expected an https URL'],
    ['another scheme', 'server: ftp://a', 'clusters[0].cluster.server: expected an https URL'],
    ['userinfo', 'server: https://u:p@a', 'without user, query and fragment'],
    ['plain http', 'server: http://a.example', 'http is allowed to loopback only'],
    ['rubbish for an authority', 'server: https://a\ncertificate-authority-data: "%%"', 'certificate-authority-data: expected base64'],
    [
      'insecure beside an authority',
      `server: https://a\ninsecure-skip-tls-verify: true\ncertificate-authority-data: ${base64('CA')}`,
      'expected either this or a certificate authority',
    ],
    ['a number for a server', 'server: 7', 'clusters[0].cluster.server: expected text, got a number'],
    ['text for a flag', 'server: https://a\ninsecure-skip-tls-verify: "true"', 'expected true or false'],
    ['a socks proxy', 'server: https://a\nproxy-url: socks5://p', 'proxy-url: expected an http or https URL'],
  ])('%s makes the context invalid', async (_name, cluster, expected) => {
    expect(await problem({ cluster })).toContain(expected);
  });

  test('plain http to loopback is accepted', async () => {
    for (const server of ['http://localhost:8001', 'http://127.0.0.1:8001', 'http://[::1]:8001'])
      expect((await endpoint({ cluster: `server: ${server}` })).server).toBe(server);
  });

  test('a context with a missing cluster or user is the only broken one', async () => {
    const { contexts } = await load(
      `${configOf({})}\n- name: b\n  context: {cluster: nope}\n- name: c\n  context: {cluster: a, user: nope}\n- name: d\n  context: {}\n`,
    );
    expect(contexts.map(({ name, result }) => `${name} ${result}`)).toEqual(['a usable', 'b broken', 'c broken', 'd broken']);
    expect(contexts[1]).toMatchObject({ problem: expect.stringContaining('contexts[1].context.cluster: there is no cluster "nope"') });
  });
});

describe('the entry of a user', () => {
  test('certificates, as data or as files relative to the kubeconfig', async () => {
    const data = await endpoint({ user: `client-certificate-data: ${base64('C')}\nclient-key-data: ${base64('K')}` });
    expect([textOf(data.clientCertificate?.certificate), textOf(data.clientCertificate?.key)]).toEqual(['C', 'K']);
    const files = await endpoint({ user: 'client-certificate: c.pem\nclient-key: /k.pem' });
    expect([textOf(files.clientCertificate?.certificate), textOf(files.clientCertificate?.key)]).toEqual(['/c.pem', '/k.pem']);
    expect(await problem({ user: 'client-certificate: c.pem' })).toContain('expected a client certificate and its key');
  });

  test('of several proofs the first of client-go counts', async () => {
    expect((await endpoint({ user: 'token: t\ntokenFile: token' })).credentials).toMatchObject({
      type: 'tokenFile',
      path: path.join(folder, 'token'),
    });
    expect((await endpoint({ user: 'token: t\nusername: u' })).credentials).toEqual({ type: 'token', token: 't' });
    expect((await endpoint({ user: 'username: u\npassword: p' })).credentials).toEqual({ type: 'basic', username: 'u', password: 'p' });
    expect((await endpoint({ user: '{}' })).credentials).toEqual({ type: 'none' });
  });

  test('impersonation includes uid, groups and extra', async () => {
    const user = 'as: alice\nas-uid: u-1\nas-groups: [dev, ops]\nas-user-extra: {example.com/team: [a, b]}';
    expect((await endpoint({ user })).impersonation).toEqual({
      user: 'alice',
      uid: 'u-1',
      groups: ['dev', 'ops'],
      extra: { 'example.com/team': ['a', 'b'] },
    });
    expect(await problem({ user: 'as-groups: [dev]' })).toContain('users[0].user.as: expected a user');
    expect(await problem({ user: 'as: "a\\nb"' })).toContain('without control characters');
    expect(await problem({ user: 'as: alice\nas-groups: [1]' })).toContain('as-groups[0]: expected text');
  });

  test('an exec plugin gets our environment with its own on top', async () => {
    const user =
      'exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: bin/get-token\n  args: [a, "b c"]\n  env: [{name: X, value: "2"}]\n  installHint: get it\n  provideClusterInfo: true';
    expect((await endpoint({ user }, { X: '1', PATH: '/bin' })).credentials).toEqual({
      type: 'exec',
      plugin: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: path.join(folder, 'bin/get-token'),
        args: ['a', 'b c'],
        environment: { X: '2', PATH: '/bin' },
        provideClusterInfo: true,
        installHint: 'get it',
      },
    });
    const named = await endpoint({ user: 'exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws, env: null}' });
    expect(named.credentials).toMatchObject({ plugin: { command: 'aws', args: [] } });
  });

  test.each([
    ['exec: {apiVersion: client.authentication.k8s.io/v1}', 'exec.command: expected a command'],
    [
      'exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}',
      'exec.apiVersion: expected client.authentication.k8s.io/v1 or',
    ],
    ['exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}', 'there is no terminal'],
    ['exec: 1', 'user.exec: expected an object'],
    ['auth-provider: {name: gcp}', 'auth-provider.name: expected oidc'],
  ])('%s is refused', async (user, expected) => {
    expect(await problem({ user })).toContain(expected);
  });

  test('auth-provider oidc keeps its settings', async () => {
    const user = 'auth-provider:\n  name: oidc\n  config: {client-id: c, id-token: i, idp-issuer-url: https://idp}';
    expect((await endpoint({ user })).credentials).toEqual({
      type: 'oidc',
      settings: { 'client-id': 'c', 'id-token': 'i', 'idp-issuer-url': 'https://idp' },
    });
  });

  test('dates and base 60 stay text, as kubectl reads them', async () => {
    expect((await endpoint({ user: 'token: 2024-01-01' })).credentials).toEqual({ type: 'token', token: '2024-01-01' });
    expect((await endpoint({ user: 'token: 1:30' })).credentials).toEqual({ type: 'token', token: '1:30' });
  });
});

test('reads the same from a file as client-node', async () => {
  const cluster = `server: https://a.example:6443\ncertificate-authority: ca.crt\ntls-server-name: other\nproxy-url: http://proxy:3128`;
  const user = `client-certificate: c.pem\nclient-key-data: ${base64('K')}\nas: alice`;
  const text = configOf({ cluster, user, context: 'namespace: team' });
  const found = await endpoint({ cluster, user, context: 'namespace: team' });
  const theirs = new KubeConfig();
  theirs.loadFromFile(await file('config', text));
  const [theirCluster, theirUser] = [theirs.getCurrentCluster(), theirs.getCurrentUser()];
  expect({
    server: found.server,
    name: found.tlsServerName,
    proxy: found.proxyUrl?.replace(/\/$/, ''),
    namespace: found.namespace,
    as: found.impersonation?.user,
  }).toEqual({
    server: theirCluster?.server,
    name: theirCluster?.tlsServerName,
    proxy: theirCluster?.proxyUrl,
    namespace: theirs.getContextObject('a')?.namespace,
    as: theirUser?.impersonateUser,
  });
  expect(found.trust).toEqual({ type: 'authority', certificates: { type: 'file', path: theirCluster?.caFile } });
  expect(found.clientCertificate?.certificate).toEqual({ type: 'file', path: theirUser?.certFile });
  expect(textOf(found.clientCertificate?.key)).toBe(Buffer.from(theirUser?.keyData ?? '', 'base64').toString());
});

describe('the proxy of the environment', () => {
  const proxyOf = async (environment: Readonly<Record<string, string>>, server = 'https://a.example.com:6443') =>
    (await endpoint({ cluster: `server: ${server}` }, environment)).proxyUrl;

  test('is taken, under either name, unless the kubeconfig has its own', async () => {
    expect(await proxyOf({ HTTPS_PROXY: 'http://p:1' })).toBe('http://p:1');
    expect(await proxyOf({ https_proxy: 'p:1' })).toBe('http://p:1');
    expect(await proxyOf({ HTTP_PROXY: 'http://p:1' })).toBeUndefined();
    expect((await endpoint({ cluster: 'server: https://a\nproxy-url: http://own:2/' }, { HTTPS_PROXY: 'http://p:1' })).proxyUrl).toBe(
      'http://own:2/',
    );
  });

  test.each([
    ['*', true],
    ['a.example.com', true],
    ['example.com', true],
    ['.example.com', true],
    ['*.example.com', true],
    ['a.example.com:6443', true],
    ['a.example.com:443', false],
    ['.a.example.com', false],
    ['ample.com', false],
    ['other, example.com ', true],
    ['', false],
  ])('NO_PROXY=%s', async (NO_PROXY, spared) => {
    expect((await proxyOf({ HTTPS_PROXY: 'http://p:1', NO_PROXY })) === undefined).toBe(spared);
  });

  test.each([
    ['https://10.1.2.3:6443', '10.0.0.0/8', true],
    ['https://11.1.2.3:6443', '10.0.0.0/8', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://[fd00::1]:6443', 'fd00::/8', true],
    ['https://[fd00::1]:6443', 'fd00::1', true],
    ['https://10.1.2.3', '10.0.0.0/99', false],
    ['https://127.0.0.1:6443', '', true],
    ['https://localhost:6443', '', true],
  ])('%s with NO_PROXY=%s', async (server, no_proxy, spared) => {
    expect((await proxyOf({ HTTPS_PROXY: 'http://p:1', no_proxy }, server)) === undefined).toBe(spared);
  });
});

test('an unchanged file is not parsed again, and a changed one is', async () => {
  const at = await file('kept', configOf({ user: 'token: one' }));
  const userOf = async () => [...(await readKubeconfigFiles([at], 'refuse')).users.values()][0]?.value;
  const first = await userOf();
  expect(await userOf()).toBe(first);
  await writeFile(at, configOf({ user: 'token: two' }));
  expect(await userOf()).toEqual({ token: 'two' });
  await writeFile(at, 'no: [');
  await expect(userOf()).rejects.toThrow('expected YAML');
  await writeFile(at, configOf({ user: 'token: two' }));
  expect(await userOf()).toEqual({ token: 'two' });
});
