import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deployment, intentFile, manifestFile, settings, standing } from '../../support/cli/intent-files.ts';
import { type CliOptions, runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway({ north: [standing('shared', { a: '1' })], south: [standing('shared', { a: '1' })], east: [] });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], input = '', options: CliOptions = {}) => runCli(gateway, args, { input, ...options });

const settingsIn = (cluster: string, name: string, namespace = 'default') =>
  gateway.cluster(cluster).get({ group: '', kind: 'ConfigMap' }, name, namespace);

const workloadIn = (cluster: string, name: string) => gateway.cluster(cluster).get({ group: 'apps', kind: 'Deployment' }, name, 'default');

const web = manifestFile(settings('settings'), deployment('web', 1));

const lines = (...told: readonly string[]) => told.map((line) => `${line}\n`).join('');

describe('apply', () => {
  test('writes each object in each cluster, and prints the results', async () => {
    expect(await run(['apply', '-f', '-'], web)).toEqual({
      code: 0,
      out: lines(
        'configmap/settings created (east)',
        'configmap/settings created (north)',
        'configmap/settings created (south)',
        'deployment.apps/web created (east)',
        'deployment.apps/web created (north)',
        'deployment.apps/web created (south)',
      ),
      err: '',
    });
    const changed = manifestFile(settings('settings', { mode: '0600' }));
    await run(['apply', '-f', '-', '--context', 'south'], changed);
    expect((await run(['apply', '-f', '-'], changed)).out).toBe(
      lines('configmap/settings configured (east)', 'configmap/settings configured (north)', 'configmap/settings unchanged (south)'),
    );
    expect(settingsIn('south', 'settings')?.data).toEqual({ mode: '0600' });
  });

  test('reads YAML as kubectl does', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata: {mode: "0644", y: "2", time: "1:30"}\n';
    await run(['apply', '-f', '-', '--context', 'north'], text);
    expect(settingsIn('north', 'odd')?.data).toEqual({ mode: '0644', true: '2', time: '1:30' });
  });

  test('reads a directory, sets the namespace, and writes only in named clusters', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'muster-apply-'));
    await writeFile(path.join(directory, '1.yaml'), manifestFile({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }));
    await writeFile(path.join(directory, '2.json'), JSON.stringify(settings('settings')));
    const { code, out } = await run(['apply', '-f', directory, '-n', 'shop', '--context', 'south', '--context', 'east']);
    await rm(directory, { recursive: true });
    expect([code, out]).toEqual([
      0,
      lines(
        'namespace/shop created (south)',
        'namespace/shop created (east)',
        'configmap/settings created (south)',
        'configmap/settings created (east)',
      ),
    ]);
    expect(settingsIn('south', 'settings', 'shop')).toBeDefined();
    expect(settingsIn('north', 'settings', 'shop')).toBeUndefined();
  });

  test('--dry-run writes nothing, and shows the changes', async () => {
    const { code, out } = await run(['apply', '-f', '-', '--dry-run', '--context', 'north'], manifestFile(settings('shared', { b: '2' })));
    expect(code).toBe(0);
    expect(out).toMatch(/^configmap\/shared configured \(north\) \(server dry run\)\n--- live\n\+\+\+ planned\n/);
    expect(out).toContain('\n   a: "1"\n+  b: "2"\n');
    expect(settingsIn('north', 'shared')?.data).toEqual({ a: '1' });
  });

  test('reports a field of another manager as a conflict, which --force takes', async () => {
    const theirs = { ...settings('owned', { a: 'theirs' }) };
    await gateway.query(
      `mutation ($ref: ResourceRef!) { patch(targets: [{ ref: $ref }], type: MERGE, patch: { data: { a: "theirs" } }) { ok } }`,
      { ref: { cluster: 'north', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'shared' } },
    );
    const args = ['apply', '-f', '-', '--context', 'north'];
    const conflicts = await run(args, manifestFile(settings('shared', { a: 'ours' })));
    expect([conflicts.code, conflicts.out]).toEqual([1, '']);
    expect(conflicts.err).toMatch(/^warning: north: configmap\/shared: CONFLICT .*\n$/);
    expect((await run([...args, '--force'], manifestFile(settings('shared', { a: 'ours' })))).out).toBe(
      'configmap/shared configured (north)\n',
    );
    expect((await run(args, manifestFile(theirs))).out).toBe('configmap/owned created (north)\n');
  });

  test('writes the other clusters if one fails', async () => {
    using _down = gateway.cluster('east').refuse();
    gateway.cluster('east').disconnect();
    await gateway.pass(2_000);
    const { code, out, err } = await run(['apply', '-f', '-'], manifestFile(settings('settings')));
    expect([code, out]).toEqual([1, lines('configmap/settings created (north)', 'configmap/settings created (south)')]);
    expect(err).toMatch(/^warning: east: configmap\/settings: UNREACHABLE .*\n$/);
  });

  test.each([
    ['nothing', ['apply'], '', "required option '-f, --filename <file>' not specified"],
    ['an intent', ['apply', '-f', '-'], intentFile('web'), 'expected objects for clusters, got the Propagation web: record it on the hub'],
    ['a name', ['apply', '-f', '-', 'web'], '', "too many arguments for 'apply'"],
    ['a cluster that is not there', ['apply', '-f', '-', '--context', 'nroth'], web, 'no cluster named "nroth"; did you mean north?'],
    ['an output of another command', ['apply', '-f', '-', '-o', 'wide'], web, "argument 'wide' is invalid"],
  ])('refuses %s with 2', async (_, args, input, message) => {
    const { code, out, err } = await run(args, input);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });
});

describe('delete', () => {
  test('deletes named objects in the clusters that have them', async () => {
    expect(await run(['delete', 'cm', 'shared'])).toEqual({
      code: 0,
      out: lines('configmap/shared deleted (north)', 'configmap/shared deleted (south)'),
      err: 'warning: east: configmap/shared: NOT_FOUND there is no ConfigMap named "shared" in the namespace "default"\n',
    });
    expect(settingsIn('north', 'shared')).toBeUndefined();
    expect((await run(['delete', 'cm/shared'])).code).toBe(1);
    expect(await run(['delete', 'cm/shared', '--ignore-not-found', '--context', 'north'])).toEqual({ code: 0, out: '', err: '' });
  });

  test('--dry-run shows what a file would delete', async () => {
    const { code, out } = await run(['delete', '-f', '-', '--dry-run', '--context', 'north'], manifestFile(settings('shared')));
    expect(code).toBe(0);
    expect(out).toMatch(/^configmap\/shared deleted \(north\) \(server dry run\)\n--- live\n[\s\S]*\n- {2}a: "1"\n/);
    expect(settingsIn('north', 'shared')).toBeDefined();
  });

  test('--cascade decides what happens to owned objects', async () => {
    const owned = (name: string, uid = '') => ({
      ...standing(name, {}),
      metadata: { name, namespace: 'default', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'shared', uid }] },
    });
    for (const cluster of ['north', 'south']) gateway.cluster(cluster).put(owned('owned', settingsIn(cluster, 'shared')?.metadata.uid));
    await run(['delete', 'cm/shared', '--context', 'north', '--cascade', 'orphan']);
    await run(['delete', 'cm/shared', '--context', 'south']);
    await gateway.until(() => settingsIn('south', 'owned') === undefined);
    expect(settingsIn('north', 'owned')?.metadata.ownerReferences ?? []).toEqual([]);
    expect(settingsIn('north', 'owned')).toBeDefined();
    const wrong = await run(['delete', 'deploy/web', '--cascade', 'everything']);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("argument 'everything' is invalid")]);
  });
});

describe('scale and restart', () => {
  beforeEach(async () => {
    for (const cluster of ['north', 'south']) expect((await run(['apply', '-f', '-', '--context', cluster], web)).code).toBe(0);
  });

  test('change workloads in the clusters that have them', async () => {
    const absent = 'warning: east: deployment.apps/web: NOT_FOUND there is no Deployment named "web" in the namespace "default"\n';
    expect(await run(['scale', 'deploy/web', '--replicas', '3'])).toEqual({
      code: 0,
      out: lines('deployment.apps/web scaled (north)', 'deployment.apps/web scaled (south)'),
      err: absent,
    });
    expect(workloadIn('south', 'web')?.spec).toMatchObject({ replicas: 3 });
    expect((await run(['scale', 'deployments', 'web', '--replicas', '3', '--context', 'north'])).out).toBe(
      'deployment.apps/web unchanged (north)\n',
    );
    expect((await run(['restart', 'Deployment/web', '--context', 'south'])).out).toBe('deployment.apps/web restarted (south)\n');
    expect(JSON.stringify(workloadIn('south', 'web')?.spec)).toContain('kubectl.kubernetes.io/restartedAt');
    expect(JSON.stringify(workloadIn('north', 'web')?.spec)).not.toContain('restartedAt');
  });

  test('show the changes of a dry run', async () => {
    const { out } = await run(['scale', 'deploy/web', '--replicas', '7', '--dry-run', '--context', 'north']);
    expect(out).toMatch(/^deployment\.apps\/web scaled \(north\) \(server dry run\)\n[\s\S]*\n- {2}replicas: 1\n\+ {2}replicas: 7\n/);
    expect(workloadIn('north', 'web')?.spec).toMatchObject({ replicas: 1 });
  });

  test('take the objects of a file', async () => {
    const { code, out } = await run(['restart', '-f', '-', '--context', 'north', '-o', 'name'], manifestFile(deployment('web')));
    expect([code, out]).toEqual([0, 'north/default/deployment.apps/web\n']);
  });

  test('fail if a named cluster does not have the object', async () => {
    const { code, out } = await run(['scale', 'deploy/web', '--replicas', '2', '--context', 'north', '--context', 'east']);
    expect([code, out]).toEqual([1, 'deployment.apps/web scaled (north)\n']);
  });

  test.each([
    ['what has no count', ['scale', 'cm/shared', '--replicas', '2'], 1, 'cm/shared'.slice(3)],
    ['no count', ['scale', 'deploy/web'], 2, "required option '--replicas <count>' not specified"],
    ['a count below nothing', ['scale', 'deploy/web', '--replicas', '-1'], 2, 'Expected a whole number from 0'],
    ['a kind that nobody knows', ['restart', 'deploymnet/web'], 2, 'no kind deploymnet; did you mean '],
    ['a Propagation', ['scale', 'prop/web', '--replicas', '1'], 2, 'expected workloads to scale, got a Propagation: change its intent'],
    ['nothing', ['restart'], 2, 'expected KIND NAME, KIND/NAME or -f'],
  ])('refuse %s', async (_, args, exitCode, message) => {
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([exitCode, '']);
    expect(err).toContain(message);
  });
});

describe('--dry-run', () => {
  test('=client sends no request to an API server, and lists what would be written where', async () => {
    const all = (line: string) => lines(...['east', 'north', 'south'].map((cluster) => `${line} (${cluster}) (dry run)`));
    expect(await run(['apply', '-f', '-', '--dry-run=client'], web)).toEqual({
      code: 0,
      out: all('configmap/settings applied') + all('deployment.apps/web applied'),
      err: '',
    });
    expect((await run(['delete', 'cm/shared', '--dry-run=client', '--context', 'north'])).out).toBe(
      'configmap/shared deleted (north) (dry run)\n',
    );
    expect((await run(['scale', 'deploy/web', '--replicas', '2', '--dry-run=client'])).out).toBe(all('deployment.apps/web scaled'));
    expect((await run(['restart', 'deploy/web', '--dry-run=client', '-o', 'name', '--context', 'east'])).out).toBe(
      'east/default/deployment.apps/web\n',
    );
    expect(settingsIn('north', 'settings')).toBeUndefined();
    expect(settingsIn('north', 'shared')).toBeDefined();
  });

  test('=server is the default value, and the next word is no value', async () => {
    const { out } = await run(['delete', '--dry-run', 'cm', 'shared', '--context', 'north']);
    expect(out).toMatch(/^configmap\/shared deleted \(north\) \(server dry run\)\n/);
    expect((await run(['delete', 'cm', 'shared', '--context', 'north', '--dry-run=server'])).out).toBe(out);
    expect(settingsIn('north', 'shared')).toBeDefined();
  });

  test('=none writes', async () => {
    expect((await run(['delete', 'cm', 'shared', '--context', 'north', '--dry-run=none'])).out).toBe('configmap/shared deleted (north)\n');
    expect(settingsIn('north', 'shared')).toBeUndefined();
  });

  test.each([
    ['another word', ['delete', 'cm', 'shared', '--dry-run=maybe'], 'Allowed choices are server, client, none'],
    ['whole objects of the client', ['delete', 'cm', 'shared', '--dry-run=client', '-o', 'json'], 'expected --dry-run=server with -o json'],
  ])('refuses %s', async (_, args, message) => {
    const { code, out, err } = await run(args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
  });
});

test('-o json prints the whole result, with objects', async () => {
  const { out } = await run(['apply', '-f', '-', '--context', 'north', '-o', 'json'], manifestFile(settings('settings')));
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    results: [{ cluster: { name: 'north' }, action: 'CREATED', fault: null, resource: { object: { data: { mode: '0644' } } } }],
  });
});
