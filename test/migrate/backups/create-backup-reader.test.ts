import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { IdentityVisibility } from '../../../src/changes/acting-clients.ts';
import { fault } from '../../../src/core/faults.ts';
import { textAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createBackupReader } from '../../../src/migrate/backups/create-backup-reader.ts';
import { parseMigrationSpec } from '../../../src/migrate/model/migration.ts';
import { filesOfObject, type TarEntry, tarGz } from '../../support/migrate/tar-gz.ts';
import { type PropagationWorld, startPropagationWorld } from '../../support/propagate/propagation-world.ts';

const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = (kind: string, plural: string): KubernetesObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.velero.io` },
  spec: {
    group: 'velero.io',
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: any, status: any } } } },
    ],
  },
});
const backup = (name: string, hour: number): KubernetesObject => ({
  apiVersion: 'velero.io/v1',
  kind: 'Backup',
  metadata: { name, namespace: 'velero', labels: { 'velero.io/schedule-name': 'east-daily' } },
  status: { phase: 'Completed', completionTimestamp: `2026-11-23T0${hour}:00:00Z` },
});
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', labels: { app: 'web' } },
};
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'key',
    namespace: 'shop',
    uid: 'uid-key',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'canary' },
  },
  type: 'example.com/key',
  data: { token: 'canary' },
};
const entries: readonly TarEntry[] = [{ name: 'metadata/version', text: '1.1.0' }, ...[web, secret].flatMap(filesOfObject)];

let stack: AsyncDisposableStack;
let world: PropagationWorld;
let folder: string;
/** Called with the name of a Backup for each download. */
let answer: (name: string, response: http.ServerResponse) => void;
let url: string;
/** The clusters whose Velero answers DownloadRequests. */
let answering: Set<string>;
let requested: string[];

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  world = stack.use(await startPropagationWorld({ north: [], south: [], east: [] }));
  folder = await mkdtemp(path.join(tmpdir(), 'muster-backups-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  answer = (_, response) => response.end(tarGz(entries));
  const server = http.createServer((incoming, response) => answer(incoming.url?.split(/[/?]/)[1] ?? '', response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answering = new Set(['north', 'south', 'east']);
  requested = [];
  for (const name of ['north', 'south', 'east']) playVelero(name);
});
afterEach(() => stack.disposeAsync());

function playVelero(name: string): void {
  const cluster = world.cluster(name);
  cluster.define(definition('Backup', 'backups'));
  cluster.define(definition('DownloadRequest', 'downloadrequests'));
  cluster.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'velero' } });
  stack.use(
    cluster.observe(({ type, kind, object }) => {
      if (kind.kind !== 'DownloadRequest' || type !== 'ADDED') return;
      const wanted = textAt(object, 'spec', 'target', 'name');
      requested.push(`${name}/${wanted} ${textAt(object, 'spec', 'target', 'kind')}`);
      if (!answering.has(name)) return;
      setImmediate(() => cluster.put({ ...object, status: { phase: 'Processed', downloadURL: `${url}/${wanted}?signature=x` } }));
    }),
  );
}

async function read(more: object, signal = new AbortController().signal) {
  const spec = parseMigrationSpec({ from: 'east', to: 'south', labels: { matchLabels: { app: 'web' } }, source: 'Velero', ...more });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  const { members, clock } = world;
  const config = { folders: [folder], groups: [], allowHttp: false };
  const reader = createBackupReader({ members, clientOf: (name) => world.clientOf(name), config, clock });
  return world.pumped(reader({ namespace: 'shop', spec }, signal));
}

/** The Backups and DownloadRequests that mirrors of these clusters have. */
async function seen(name: string, count: number): Promise<void> {
  const kind = { group: 'velero.io', kind: 'Backup' };
  const { hub } = world;
  const cluster = world.members.get(name)?.name ?? hub.cluster;
  await world.until(() => world.members.objects.all(cluster, kind)?.length === count);
}

const remaining = () => ['north', 'south', 'east'].map((name) => world.cluster(name).objects('DownloadRequest.velero.io').length);
const daily = { backup: { labels: { matchLabels: { 'velero.io/schedule-name': 'east-daily' } } } };

test('reads the newest Backup of another cluster, keeps data of Secrets apart, and deletes its request', async () => {
  world.cluster('north').put(backup('old', 1));
  world.cluster('north').put(backup('new', 3));
  world.cluster('east').put(backup('newest', 5));
  await seen('north', 2);
  const source = await read(daily);
  if (source.result !== 'read') throw new Error(source.note.message);
  const { objects } = source;
  expect(objects.backup?.used).toEqual({ cluster: 'north', name: 'new', completedAt: '2026-11-23T03:00:00Z' });
  expect(objects.all({ group: 'apps', kind: 'Deployment' }, 'shop').map(({ object }) => object)).toEqual([web]);
  const [found] = objects.all({ group: '', kind: 'Secret' });
  expect(found?.object).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'key', namespace: 'shop', uid: 'uid-key', annotations: {} },
    type: 'example.com/key',
  });
  expect(found && objects.backup?.secretData(found.key)).toEqual({ token: 'canary' });
  expect(requested).toEqual(['north/new BackupContents']);
  expect(remaining()).toEqual([0, 0, 0]);
});

interface Rights {
  /** The clusters in which the requester may see Backups, by verb. */
  readonly get?: readonly string[];
  readonly list?: readonly string[];
}

function sightWith({ get = [], list = [] }: Rights): IdentityVisibility {
  return {
    clusters: async () => () => true,
    objects: async (_identity, { cluster, verb }) => ({ has: () => (verb === 'list' ? list : get).includes(cluster) }),
    refusalOf: async (_identity, { cluster }) =>
      get.includes(cluster) ? undefined : fault('FORBIDDEN', 'lena may not get the Backup', { cluster, retry: 'NEVER' }),
  };
}

async function readAs(rights: Rights, more: object, groups: readonly string[] = []) {
  const spec = parseMigrationSpec({
    ...{ from: 'east', to: 'south', labels: { matchLabels: { app: 'web' } }, source: 'Velero', ...more },
    requester: { user: 'lena', groups: ['ops'], at: '2026-11-23T00:00:00Z' },
  });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  const { members, clock } = world;
  const config = { folders: [folder], groups, allowHttp: false };
  const reader = createBackupReader({
    members,
    clientOf: (name) => world.clientOf(name),
    visibility: sightWith(rights),
    config,
    allowPrivate: ['127.0.0.0/8'],
    clock,
  });
  return world.pumped(reader({ namespace: 'shop', spec }, new AbortController().signal));
}

test('finds only Backups that the requester may get by name, or list for labels, and answers the same for hidden and absent ones', async () => {
  world.cluster('north').put(backup('new', 3));
  world.cluster('south').put(backup('new', 3));
  await seen('north', 1);
  await seen('south', 1);
  const named = (name: string) => ({ backup: { name } });
  expect(await readAs({ get: ['south'] }, named('new'))).toMatchObject({ objects: { backup: { used: { cluster: 'south' } } } });
  expect(await readAs({ list: ['north'] }, daily)).toMatchObject({ objects: { backup: { used: { cluster: 'north' } } } });
  requested = [];
  const [hidden, absent] = [await readAs({ list: ['north'] }, named('new')), await readAs({ list: ['north'] }, named('abc'))];
  expect(JSON.stringify(absent).replaceAll('abc', 'new')).toBe(JSON.stringify(hidden));
  expect(hidden).toMatchObject({ note: { code: 'NO_BACKUP' }, fault: { code: 'FORBIDDEN' } });
  expect(await readAs({ get: ['north', 'south'] }, daily)).toMatchObject({ note: { code: 'NO_BACKUP' }, fault: { code: 'FORBIDDEN' } });
  expect(requested).toEqual([]);
});

test('reads archives of the folders only for requesters in a configured group', async () => {
  await writeFile(path.join(folder, 'east.tar.gz'), tarGz(entries));
  const file = { backup: { file: 'east.tar.gz' } };
  expect(await readAs({}, file, ['dev', 'ops'])).toMatchObject({ result: 'read' });
  const denied = await readAs({}, file, ['dev']);
  expect(denied).toMatchObject({ result: 'failed', note: { code: 'DENIED', path: 'backup.file' } });
  expect(await readAs({}, { backup: { file: '../absent.tar.gz' } }, ['dev'])).toEqual(denied);
});

test('says NO_BACKUP if none is found, and if Velero gives no URL within 30 s', async () => {
  world.cluster('north').put(backup('old', 1));
  await seen('north', 1);
  const missing = await read({ backup: { name: 'absent' } });
  expect(missing).toMatchObject({ result: 'failed', note: { code: 'NO_BACKUP', message: expect.stringContaining('"absent"') } });
  answering.clear();
  const beganMs = world.clock.monotonic();
  const silent = await read(daily);
  expect(silent).toMatchObject({ result: 'failed', note: { code: 'NO_BACKUP', message: expect.stringContaining('within 30 s') } });
  expect(world.clock.monotonic() - beganMs).toBeLessThan(32_000);
  expect(remaining()).toEqual([0, 0, 0]);
});

test('says NO_BACKUP for a download that fails, and BACKUP_MALFORMED for an archive with a link, without the URL', async () => {
  world.cluster('north').put(backup('old', 1));
  await seen('north', 1);
  answer = (_, response) => response.writeHead(403).end();
  const denied = await read(daily);
  expect(denied).toMatchObject({ result: 'failed', note: { code: 'NO_BACKUP', message: expect.stringContaining('status 403') } });
  answer = (_, response) => response.end(tarGz([...entries, { name: 'resources/x', type: '2', link: '/etc/passwd' }]));
  const linked = await read(daily);
  expect(linked).toMatchObject({ result: 'failed', note: { code: 'BACKUP_MALFORMED', message: expect.stringContaining('got a link') } });
  expect(JSON.stringify([denied, linked])).not.toMatch(/signature|canary/);
  expect(remaining()).toEqual([0, 0, 0]);
});

test('ends a download that takes longer than its bound', async () => {
  world.cluster('north').put(backup('old', 1));
  await seen('north', 1);
  answer = (_, response) => {
    response.write(tarGz(entries).subarray(0, 20));
    const timer = setInterval(() => response.write(''), 5);
    response.on('close', () => clearInterval(timer));
  };
  const spec = parseMigrationSpec({ from: 'east', to: 'south', labels: { matchLabels: { app: 'web' } }, source: 'Velero', ...daily });
  if ('problems' in spec) throw new Error('expected a spec');
  const { members, clock } = world;
  const limits = {
    archive: { packed: 1 << 20, unpacked: 1 << 20, kept: 1 << 20 },
    mirrorMs: 1_000,
    urlMs: 5_000,
    idleMs: 60_000,
    readMs: 8_000,
  };
  const reader = createBackupReader({
    members,
    clientOf: (name) => world.clientOf(name),
    config: { folders: [], groups: [], allowHttp: false },
    clock,
    limits,
  });
  const late = await world.pumped(reader({ namespace: 'shop', spec }, new AbortController().signal));
  expect(late).toMatchObject({ result: 'failed', note: { code: 'NO_BACKUP', message: expect.stringContaining('within 8 s') } });
  expect(remaining()).toEqual([0, 0, 0]);
});

test('a user reads one archive at a time, and the next one after an abort', async () => {
  world.cluster('north').put(backup('old', 1));
  await seen('north', 1);
  const spec = parseMigrationSpec({ from: 'east', to: 'south', labels: { matchLabels: { app: 'web' } }, source: 'Velero', ...daily });
  if ('problems' in spec) throw new Error('expected a spec');
  const { members, clock } = world;
  const config = { folders: [], groups: [], allowHttp: false };
  const reader = createBackupReader({ members, clientOf: (name) => world.clientOf(name), config, clock });
  let open = 0;
  const most: number[] = [];
  const waiting: (() => void)[] = [];
  answer = (_, response) => {
    open += 1;
    most.push(open);
    waiting.push(() => {
      open -= 1;
      response.end(tarGz(entries));
    });
  };
  const never = new AbortController().signal;
  const left = new AbortController();
  const reads = [never, left.signal, never].map((signal) => reader({ namespace: 'shop', spec }, signal));
  const settled = Promise.allSettled(reads);
  await world.until(() => waiting.length === 1);
  left.abort(new Error('the caller left'));
  waiting[0]?.();
  await world.until(() => waiting.length === 2);
  waiting[1]?.();
  expect((await world.pumped(settled)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(most).toEqual([1, 1]);
});

test('an abort rejects and deletes the request too', async () => {
  world.cluster('north').put(backup('old', 1));
  await seen('north', 1);
  const life = new AbortController();
  answer = () => life.abort(new Error('the caller left'));
  await expect(read(daily, life.signal)).rejects.toThrow('the caller left');
  expect(remaining()).toEqual([0, 0, 0]);
});

test('reads a file below the folders, and refuses one outside', async () => {
  await writeFile(path.join(folder, 'east.tar.gz'), tarGz(entries));
  const source = await read({ backup: { file: 'east.tar.gz' } });
  expect(source).toMatchObject({ result: 'read', objects: { backup: { used: { name: 'east.tar.gz' } } } });
  await writeFile(path.join(folder, 'broken.tar.gz'), 'x');
  expect(await read({ backup: { file: 'broken.tar.gz' } })).toMatchObject({ note: { code: 'BACKUP_MALFORMED' } });
  expect(await read({ backup: { file: 'absent.tar.gz' } })).toMatchObject({ note: { code: 'NO_BACKUP' } });
  await expect(read({ backup: { file: '../east.tar.gz' } })).rejects.toMatchObject({ code: 'BAD_INPUT' });
});
