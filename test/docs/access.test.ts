import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { kubeconfigOf } from '../../src/sim/start-demo-fleet.ts';
import { blocksOf, commandsOf, pageText, repository, sessionsOf } from '../support/documentation.ts';
import { createAuthority } from '../support/identity/authority.ts';
import { startIssuer, type TestIssuer } from '../support/identity/issuer.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';
import { comparableText } from '../support/shell-sessions.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

// Runs the sessions of docs/guide/access.md with its config file, against an issuer of this test and clusters that decide by RBAC.

const page = 'docs/guide/access.md';
const blocks = blocksOf([page]);
const session = sessionsOf(blocks);
const shownIssuer = 'https://dex.example.com';

/** The roles of Kubernetes that the page binds, as far as the page needs them. */
const roles = [
  roleNamed('view', ['get', 'list', 'watch']),
  roleNamed('edit', ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']),
];

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } };
const workload: readonly KubernetesObject[] = [
  ...['shop', 'bank'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  ...['shop', 'bank'].map(podIn),
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
  },
];

let folder: string;
let url: string;
let issuer: TestIssuer;
let gateway: RunningProcess;
const clusters: SimCluster[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-access-'));
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  for (const name of ['eu-prod', 'us-prod']) clusters.push(await startSimCluster({ name, authorization: 'rbac' }));
  for (const cluster of clusters) for (const object of [...roles, ...workload]) cluster.put(object);
  const authority = createAuthority('test');
  issuer = await startIssuer(authority);
  const { cert, key } = authority.issue({ cn: 'muster', hosts: ['127.0.0.1'] });
  await Promise.all([
    write('tls.pem', cert),
    write('tls.key', key),
    write('dex-ca.pem', authority.ca),
    write('gateway.kubeconfig', kubeconfigOf(clusters)),
    write('alice.token', issuer.token({ sub: '1', name: 'alice', groups: ['team-shop'] })),
    write('bob.token', issuer.token({ sub: '2', name: 'bob', groups: ['ops'] })),
  ]);
  const config = blocks.find(({ language, text }) => language === 'yaml' && text.includes('oidc:\n'))?.text ?? '';
  await write('muster.yaml', config.replace(shownIssuer, issuer.url).replace('0.0.0.0', '127.0.0.1').replace('4443', '0'));
  for (const { command } of commandsOf(blocks)) applyExample(command);
  gateway = runMuster(['--config', path.join(folder, 'muster.yaml'), '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (https\S+)$/m))[1] ?? '';
}, 60_000);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
  for (const cluster of clusters) await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test.each(session)('alice: $command', { timeout: 60_000 }, async ({ command, printed }) => {
  const { text } = await run(command, 'alice.token');
  expect(printed.map(comparableText).filter((line) => !text.includes(line))).toEqual([]);
});

test('bob sees both clusters, and can-i exits with 0 only if both allow the verb', { timeout: 60_000 }, async () => {
  expect((await run('muster list pods', 'bob.token')).text.match(/^\S+ (?:shop|bank)/gm)).toEqual([
    'eu-prod bank',
    'us-prod bank',
    'eu-prod shop',
    'us-prod shop',
  ]);
  expect(await run('muster auth can-i list pods', 'bob.token')).toMatchObject({ code: 0, text: expect.stringContaining('us-prod yes') });
  expect((await run('muster auth can-i delete pods', 'bob.token')).code).toBe(1);
});

test('E3: a hidden cluster is unknown to can-i', { timeout: 60_000 }, async () => {
  const hidden = await run('muster auth can-i list pods --context us-prod', 'alice.token');
  const absent = await run('muster auth can-i list pods --context zz-prod', 'alice.token');
  expect(hidden).toEqual({ code: 2, text: expect.stringContaining('no cluster named "us-prod"') });
  expect(hidden.text.replace('us-prod', '')).toBe(absent.text.replace('zz-prod', ''));
});

test('a command without a token says how to send one', { timeout: 60_000 }, async () => {
  expect(await run('muster auth whoami', undefined)).toMatchObject({ code: 2, text: expect.stringContaining('requires a token') });
});

test('the audit line on the page equals the line that the gateway wrote for the session', async () => {
  const shown = JSON.parse(blocks.find(({ language }) => language === 'json')?.text ?? '') as JsonObject;
  const lines = (await readFile(path.join(folder, 'audit.jsonl'), 'utf8')).trim().split('\n');
  const [written] = lines.map((line) => JSON.parse(line.replaceAll(issuer.url, shownIssuer)) as JsonObject);
  expect(written).toMatchObject({ ...shown, time: expect.any(String), requestId: expect.any(String) });
});

test('the part of the Dex config on the page has the audience of the config file', () => {
  const { staticClients } = parse(pageText('deploy/examples/dex.yaml')) as { readonly staticClients: readonly { readonly id: string }[] };
  expect(staticClients.map(({ id }) => id)).toEqual(['muster']);
});

async function run(command: string, token: string | undefined) {
  const environment = {
    HOME: folder,
    MUSTER_GATEWAY: url,
    NODE_EXTRA_CA_CERTS: path.join(folder, 'dex-ca.pem'),
    ...(token === undefined ? {} : { MUSTER_TOKEN_FILE: path.join(folder, token) }),
  };
  await using muster = runMuster(command.split(' ').slice(1), environment, repository);
  const code = await muster.ended;
  return { code, text: comparableText(`${muster.out()}${muster.err()}`.replaceAll(issuer.url, shownIssuer)) };
}

/** Puts the objects of a manifest that the page applies with kubectl. A selector of labels leaves out the team. */
function applyExample(command: string): void {
  const [, context, file = ''] = /^kubectl --context (\S+) apply -f (\S+)/.exec(command) ?? [];
  const cluster = clusters.find(({ name }) => name === context);
  if (cluster === undefined) return;
  const objects = parseAllDocuments(pageText(file)).map((document) => document.toJS() as KubernetesObject);
  const labels = ({ metadata }: KubernetesObject) => JSON.stringify(metadata.labels ?? {});
  for (const object of objects) if (!command.includes('!=shop') || !labels(object).includes('shop')) cluster.put(object);
}

function roleNamed(name: string, verbs: readonly string[]): KubernetesObject {
  const resources = ['pods', 'pods/log', 'services', 'configmaps', 'deployments', 'deployments/scale'];
  const rules = [{ apiGroups: ['', 'apps'], resources, verbs: [...verbs] }];
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules };
}

function podIn(namespace: string): KubernetesObject {
  const status = { phase: 'Running', containerStatuses: [{ name: 'web', ready: true, restartCount: 0, state: { running: {} } }] };
  const spec = { containers: [{ name: 'web', image: 'nginx:1' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace, labels: { app: 'web' } }, spec, status };
}
