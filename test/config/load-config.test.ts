import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Flags } from '../../src/config/config.ts';
import { loadConfig, reloadClusters } from '../../src/config/load-config.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const header = 'apiVersion: config.muster.dev/v1alpha1\n';
const load = (flags: Flags = {}, environment: Record<string, string> = {}) => loadConfig({ flags, environment, directory: folder });
const problem = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'accepted',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message.replaceAll(folder, '')}`,
  );

async function loadFile(text: string, flags: Flags = {}, environment: Record<string, string> = {}) {
  await writeFile(path.join(folder, 'muster.yaml'), text);
  return load({ config: 'muster.yaml', ...flags }, environment);
}

test('has a default for everything', async () => {
  const config = await load({}, { HOME: '/home/ada' });
  expect(config).toMatchObject({
    demo: false,
    contexts: [],
    clusters: [],
    host: '127.0.0.1',
    port: 4000,
    allowOrigins: [],
    logLevel: 'info',
    secrets: 'live',
    shutdownDelaySeconds: 0,
    stateDirectory: '/home/ada/.local/state/muster',
  });
  expect(config.limits).toEqual({
    bodyBytes: 4_194_304,
    requestsInFlight: 400,
    querySeconds: 30,
    mutationSeconds: 60,
    streams: 5_000,
    answerBytes: 64 << 20,
    unsentBytes: 256 << 20,
  });
  expect(config.kubeconfig).toBeUndefined();
});

test('flags win over variables, variables over the file, the file over the defaults', async () => {
  const text = `${header}port: 1001\nhost: 127.0.0.2\nlogLevel: warn\nallowOrigins: [https://a.example.com]\nlimits: { querySeconds: 5 }\n`;
  const environment = { MUSTER_PORT: '1002', MUSTER_HOST: '127.0.0.3', MUSTER_CONTEXT: 'north,south', XDG_STATE_HOME: '/state' };
  const config = await loadFile(text, { port: '1003' }, environment);
  expect(config).toMatchObject({ port: 1003, host: '127.0.0.3', logLevel: 'warn', contexts: ['north', 'south'] });
  expect(config.allowOrigins).toEqual(['https://a.example.com']);
  expect(config.limits).toMatchObject({ querySeconds: 5, requestsInFlight: 400 });
  expect(config.stateDirectory).toBe('/state/muster');
});

test("relative paths start from the working directory for flags, and from the file's folder for its own settings", async () => {
  const text = `${header}tokenFile: secret/token\nschemaLock: lock.json\nclusters:\n  - { name: north, kubeconfig: ../north.yaml }\n  - { name: south, kubeconfig: /etc/south.yaml }\n`;
  await writeFile(path.join(folder, 'muster.yaml'), text);
  const config = await loadConfig({
    flags: { config: path.join(folder, 'muster.yaml'), kubeconfig: 'k' },
    environment: {},
    directory: '/elsewhere',
  });
  expect(config.kubeconfig).toBe('/elsewhere/k');
  expect(config.tokenFile).toBe(path.join(folder, 'secret/token'));
  expect(config.schemaLock).toBe(path.join(folder, 'lock.json'));
  expect(config.clusters.map(({ kubeconfig }) => kubeconfig)).toEqual([path.join(path.dirname(folder), 'north.yaml'), '/etc/south.yaml']);
});

test('the schema lock is the path of a flag, a variable or the file, else undefined', async () => {
  expect((await load({ schemaLock: 'a.json' }, { MUSTER_SCHEMA_LOCK: 'b.json' })).schemaLock).toBe(path.join(folder, 'a.json'));
  expect((await load({}, { MUSTER_SCHEMA_LOCK: 'b.json' })).schemaLock).toBe(path.join(folder, 'b.json'));
  expect((await load()).schemaLock).toBeUndefined();
});

test('clusters inherit settings of the file unless they have their own', async () => {
  const config = await loadFile(
    `${header}secrets: none\nclusters:\n  - name: north\n    labels: { tier: 1, live: true }\n  - { name: south, secrets: metadata }\n`,
  );
  expect(config.clusters).toEqual([
    { name: 'north', insecure: false, labels: { tier: '1', live: 'true' }, namespaces: [], secrets: 'none', authorization: 'sar' },
    { name: 'south', insecure: false, labels: {}, namespaces: [], secrets: 'metadata', authorization: 'sar' },
  ]);
  expect(await reloadClusters(path.join(folder, 'muster.yaml'), config)).toEqual(config.clusters);
});

test('is frozen all the way down', async () => {
  const config = await loadFile(`${header}clusters: [{ name: north, labels: { a: b } }]\n`);
  for (const part of [config, config.limits, config.clusters, config.clusters[0], config.clusters[0]?.labels, config.environment])
    expect(Object.isFrozen(part)).toBe(true);
});

test('ignores the MUSTER_PORT that Kubernetes sets for a Service called muster', async () => {
  expect((await load({}, { MUSTER_PORT: 'tcp://10.0.0.1:4000' })).port).toBe(4000);
});

test.each([
  [
    'an unknown key, with the one that was meant',
    `${header}clusters:\n  - name: a\n    kubconfig: x\n`,
    'unknown key clusters[0].kubconfig; did you mean clusters[0].kubeconfig?',
  ],
  ['an unknown key far from any', `${header}zzzzzzzz: 1\n`, 'unknown key zzzzzzzz; expected one of apiVersion, clusters,'],
  ['a key of a later release', `${header}hub: north\n`, 'unknown key hub;'],
  ['a wrong type', `${header}port: many\n`, 'port: expected an integer from 0 to 65535, got "many"'],
  [
    'a number out of bounds',
    `${header}limits: { querySeconds: 1000 }\n`,
    'limits.querySeconds: expected an integer from 1 to 600, got 1000',
  ],
  ['another version', 'apiVersion: config.muster.dev/v2\n', 'apiVersion: expected config.muster.dev/v1alpha1, got "config.muster.dev/v2"'],
  ['no version', 'port: 4000\n', 'apiVersion is missing'],
  ['no name', `${header}clusters: [{ context: a }]\n`, 'clusters[0].name is missing'],
  [
    'a name twice',
    `${header}clusters: [{ name: a }, { name: b }, { name: a }]\n`,
    'clusters[2].name: "a" is already the name of clusters[0]',
  ],
  ['a list', '- a\n', 'the file: expected a mapping, got a list'],
  ['nothing', '', 'the file: expected a mapping, got null'],
  ['a key twice', `${header}port: 1\nport: 2\n`, 'Map keys must be unique at line 3, column 1'],
  [
    'what is not YAML',
    `${header}clusters: [\n`,
    'Flow sequence in block collection must be sufficiently indented and end with a ] at line 3',
  ],
  ['an own __proto__', `${header}__proto__: { port: 1 }\n`, 'unknown key __proto__;'],
  ['an alias bomb', bomb(), 'Excessive alias count'],
  ['a path where an origin belongs', `${header}allowOrigins: [https://a.example.com/x]\n`, 'allowOrigins[0]: expected an origin such as'],
])('refuses %s in the file, in one line', async (_, text, message) => {
  const refused = await problem(loadFile(text));
  expect(refused).toContain(message);
  expect(refused).toMatch(/^BAD_INPUT: [^\n]+$/);
  expect(({} as { port?: unknown }).port).toBeUndefined();
});

test.each([
  ['--port', { port: '65536' }, '--port: expected a port from 0 to 65535, got "65536"'],
  ['--port', { port: '4e3' }, '--port: expected a port from 0 to 65535, got "4e3"'],
  ['--log-level', { logLevel: 'loud' }, '--log-level: expected debug, info, warn, error, silent, got "loud"'],
  ['--allow-origin', { allowOrigin: ['*'] }, '--allow-origin: expected an origin such as https://portal.example.com, got "*"'],
  ['--kubeconfig', { kubeconfig: '' }, '--kubeconfig: expected a value, got empty text'],
  ['--config', { config: 'absent.yaml' }, 'the config file /absent.yaml cannot be read: there is no such file'],
  ['--host', { host: '0.0.0.0' }, 'the host "0.0.0.0" is not loopback: expected --token-file'],
  ['--demo', { demo: true, kubeconfig: 'x' }, '--demo is the embedded fleet: expected no --kubeconfig'],
] satisfies [string, Flags, string][])('refuses a wrong %s', async (_, flags, message) => {
  expect(await problem(load(flags))).toContain(message);
});

test('names the variable that is wrong', async () => {
  expect(await problem(load({}, { MUSTER_LOG_LEVEL: 'loud' }))).toContain('MUSTER_LOG_LEVEL: expected debug');
  expect(await problem(load({}, { MUSTER_DEMO: 'perhaps' }))).toContain('MUSTER_DEMO: expected true or false');
});

test('a token file allows any host', async () => {
  expect(await load({ host: '0.0.0.0', tokenFile: 'token' })).toMatchObject({ host: '0.0.0.0', tokenFile: path.join(folder, 'token') });
});

function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, level) => `l${level + 1}: &l${level + 1} [${Array(10).fill(`*l${level}`).join(', ')}]`);
  return `${header}l0: &l0 [x]\n${levels.join('\n')}\n`;
}

test('names sensitive kinds and groups, checked for how they are written only: a kind may appear later', async () => {
  const config = await loadFile(
    `${header}sensitiveKinds: [Widget.example.com, ConfigMap]\nkinds: { allow: ["*.crossplane.io", example.com, "*"], deny: [x.io] }\n`,
  );
  expect(config.sensitiveKinds).toEqual(['Widget.example.com', 'ConfigMap']);
  expect(config.kinds).toEqual({ allow: ['*.crossplane.io', 'example.com', '*'], deny: ['x.io'] });
  expect(await load()).toMatchObject({ sensitiveKinds: [], kinds: {} });
});

test.each([
  [
    'sensitiveKinds: [widgets.example.com]',
    'sensitiveKinds[0]: expected a kind with its group, such as Widget.example.com, got "widgets.example.com"',
  ],
  ['sensitiveKinds: [CustomResourceDefinition.apiextensions.k8s.io]', 'sensitiveKinds[0]: expected a kind with its group'],
  ['sensitiveKinds: [Widget.]', 'sensitiveKinds[0]: expected a kind with its group, such as Widget.example.com, got "Widget."'],
  ['sensitiveKinds: ["Widget.example.com\\n"]', 'sensitiveKinds[0]: expected a kind'],
  [
    'kinds: { deny: ["a.*.io"] }',
    'kinds.deny[0]: expected an API group such as example.com, or all below one such as *.example.com, got "a.*.io"',
  ],
  ['kinds: { allow: [""] }', 'kinds.allow[0]: expected an API group'],
  ['kinds: { dney: [a.io] }', 'unknown key kinds.dney; did you mean kinds.deny?'],
])('refuses %s', async (line, message) => {
  expect(await problem(loadFile(`${header}${line}\n`))).toContain(message);
});

test('the hub is that of a flag, a variable or the file, in this order, and the file names one at most', async () => {
  const one = `${header}clusters:\n  - { name: north }\n  - { name: south, hub: true }\n`;
  expect((await loadFile(one)).hub).toBe('south');
  expect((await loadFile(one, { hub: 'north' })).hub).toBe('north');
  expect((await loadFile(one, {}, { MUSTER_HUB: 'north' })).hub).toBe('north');
  expect((await load({})).hub).toBeUndefined();
  const two = `${header}clusters:\n  - { name: north, hub: true }\n  - { name: south, hub: true }\n`;
  await expect(loadFile(two)).rejects.toThrow('clusters[1].hub: clusters[0] is the hub already');
  await expect(load({ demo: true, hub: 'north' })).rejects.toThrow('expected no --hub with it');
  await expect(load({ hub: '' })).rejects.toThrow('--hub: expected a value, got empty text');
});

const hub = 'clusters: [{ name: north, hub: true }]\n';

test('importers are names of systems, or mappings with a service account', async () => {
  expect((await loadFile(`${header}${hub}importers: [MultiClusterResource]\n`)).importers).toEqual([{ system: 'MultiClusterResource' }]);
  const withAccount = { system: 'MultiClusterResource', serviceAccount: 'deployer' };
  expect((await loadFile(`${header}${hub}importers: [${JSON.stringify(withAccount)}]\n`)).importers).toEqual([withAccount]);
  expect((await load()).importers).toEqual([]);
});

test.each([
  [
    'importers: [Karmada]',
    'importers[0]: expected MultiClusterResource, or { system: MultiClusterResource, serviceAccount: NAME }, got "Karmada"',
  ],
  ['importers: [{ system: MultiClusterResource }]', 'importers[0]: expected MultiClusterResource, or {'],
  ['importers: [{ system: MultiClusterResource, serviceAccount: Not_A_Name }]', 'importers[0]: expected MultiClusterResource, or {'],
  ['importers: [MultiClusterResource, MultiClusterResource]', 'importers: expected 0 to 1 members, got 2'],
])('refuses %s', async (line, message) => {
  expect(await problem(loadFile(`${header}${hub}${line}\n`))).toContain(message);
});

test('importers need a hub, of the file, a flag or the embedded fleet', async () => {
  const text = `${header}clusters: [{ name: north }]\nimporters: [MultiClusterResource]\n`;
  expect(await problem(loadFile(text))).toBe(
    'BAD_INPUT: /muster.yaml: importers: expected a hub, which keeps their Propagations: set `hub: true` for a cluster, or --hub',
  );
  expect((await loadFile(text, { hub: 'north' })).hub).toBe('north');
  expect((await loadFile(`${header}importers: [MultiClusterResource]\n`, { demo: true })).importers).toHaveLength(1);
});

test('importers with authentication need a service account', async () => {
  const oidc = 'authentication: { oidc: [{ issuer: "https://login.example.com", audiences: [muster] }] }\n';
  expect(await problem(loadFile(`${header}${hub}${oidc}importers: [MultiClusterResource]\n`))).toBe(
    'BAD_INPUT: /muster.yaml: importers: with `authentication` expected { system: MultiClusterResource, serviceAccount: NAME }: copies are written with the rights of that account',
  );
  const withAccount = 'importers: [{ system: MultiClusterResource, serviceAccount: deployer }]\n';
  expect((await loadFile(`${header}${hub}${oidc}${withAccount}`)).importers).toHaveLength(1);
});

test('hooks and backups have absolute paths and defaults', async () => {
  const hooks = 'hooks:\n  - { name: plain, url: "http://[::1]:8080/moved" }\n';
  const full = '  - { name: full, url: "https://lb.example.com/x?a=b", timeout: 1m, tokenFile: token, caFile: /ca.pem }\n';
  const config = await loadFile(`${header}${hooks}${full}backups: { folders: [dumps, /var/dumps], groups: [oidc:ops], allowHttp: true }\n`);
  expect(config.hooks).toEqual([
    { name: 'plain', url: 'http://[::1]:8080/moved', timeoutMs: 10_000 },
    { name: 'full', url: 'https://lb.example.com/x?a=b', timeoutMs: 60_000, tokenFile: path.join(folder, 'token'), caFile: '/ca.pem' },
  ]);
  expect(config.backups).toEqual({ folders: [path.join(folder, 'dumps'), '/var/dumps'], groups: ['oidc:ops'], allowHttp: true });
  expect(await load()).toMatchObject({ hooks: [], backups: { folders: [], groups: [], allowHttp: false } });
});

test.each([
  ['{ name: Upper, url: "https://a" }', 'hooks[0].name: expected a name such as load-balancer'],
  ['{ name: a.b, url: "https://a" }', 'hooks[0].name: expected a name such as load-balancer'],
  ['{ name: a, url: "http://lb.example.com" }', 'hooks[0].url: expected a URL with https, or with http to this machine'],
  ['{ name: a, url: "http://127.0.0.1.example.com" }', 'hooks[0].url: expected a URL with https, or with http to this machine'],
  ['{ name: a, url: "file:///etc/passwd" }', 'hooks[0].url: expected a URL with https'],
  ['{ name: a, url: lb.example.com }', 'hooks[0].url: expected a URL with https'],
  ['{ name: a, url: "https://ada:secret@lb.example.com" }', 'hooks[0].url: expected a URL without user and password'],
  ['{ name: a, url: "https://a", timeout: 999ms }', 'hooks[0].timeout: expected a duration from 1s to 60s'],
  ['{ name: a, url: "https://a", timeout: 61s }', 'hooks[0].timeout: expected a duration from 1s to 60s'],
  ['{ name: a, url: "https://a", timeout: 10 }', 'hooks[0].timeout: expected a duration such as 90s'],
  ['{ name: a }', 'hooks[0].url is missing'],
  ['{ name: a, url: "https://a" }, { name: a, url: "https://b" }', 'hooks[1].name: "a" is already the name of hooks[0]'],
])('refuses the hook %s', async (hook, message) => {
  const refused = await problem(loadFile(`${header}hooks: [${hook}]\n`));
  expect(refused).toContain(message);
  expect(refused).not.toContain('secret');
});
