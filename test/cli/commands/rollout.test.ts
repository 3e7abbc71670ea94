import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OwnGateway } from '../../../src/cli/program.ts';
import { deployment, intentFile, settings } from '../../support/cli/intent-files.ts';
import { type CliOptions, runCli, startCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [], south: [] }, { hub: 'north', living: true });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], input = '', options: CliOptions = {}) => runCli(gateway, args, { input, ...options });

const propagate = async (intent: string) => expect((await run(['propagate', '-f', '-', '--wait'], intent)).err).toContain('Settled');

const own: CliOptions = {
  environment: {},
  start: async (): Promise<OwnGateway> => ({ address: { url: gateway.url }, [Symbol.asyncDispose]: async () => undefined }),
};

const settingsIntent = (name: string, data = { mode: '0644' }) =>
  intentFile(name, { template: [{ json: settings(name, data) }], replicas: { mode: 'Duplicated' } });

const dataIn = (cluster: string, name: string) => gateway.cluster(cluster).get({ group: '', kind: 'ConfigMap' }, name, 'default')?.data;

describe('status', () => {
  test('without watching prints a table of the state', async () => {
    await propagate(intentFile('once'));
    const { code, out, err } = await run(['rollout', 'status', 'once', '--watch=false']);
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n').map((line) => line.split(/ {3,}/).slice(0, 6))).toEqual([
      ['default/once: Settled, 2 of 2 clusters done, 4 of 4 replicas ready'],
      ['CLUSTER', 'WAVE', 'PHASE', 'REPLICAS', 'READY', 'HEALTH'],
      ['north', '1', 'Settled', '2', '2', 'Healthy'],
      ['south', '1', 'Settled', '2', '2', 'Healthy'],
      [''],
    ]);
  });

  test('waits until the rollout ends', async () => {
    expect((await run(['propagate', '-f', '-'], intentFile('waits'))).code).toBe(0);
    const { ended, terminal } = startCli(gateway, ['rollout', 'status', 'propagation/waits', '-n', 'default'], { isInteractive: true });
    expect(await ended()).toBe(0);
    expect(terminal.frames.length).toBeGreaterThan(1);
    expect(terminal.told).toBe('default/waits: Settled, 2 of 2 clusters done, 4 of 4 replicas ready\n');
  });

  test.each(['json', 'yaml', 'name'])('-o %s prints the state at once', async (output) => {
    const { out } = await run(['rollout', 'status', 'once', '-o', output]);
    if (output === 'json') expect(JSON.parse(out)).toMatchObject({ name: 'once', phase: 'SETTLED', progress: { done: 2 } });
    else if (output === 'yaml') expect(out).toMatch(/^namespace: default\nname: once\n/);
    else expect(out).toBe('propagation.muster.dev/once\n');
  });
});

test('history lists the revisions, newest first, and shows the spec of one', async () => {
  await propagate(settingsIntent('aged'));
  await propagate(settingsIntent('aged', { mode: '0600' }));
  const { code, out, err } = await run(['rollout', 'history', 'aged']);
  expect([code, err]).toEqual([0, '']);
  const rows = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  expect(rows).toEqual([
    ['REVISION', 'CREATED', 'REQUESTER', 'DIGEST'],
    ['2', expect.any(String), expect.any(String), expect.any(String)],
    ['1', expect.any(String), expect.any(String), expect.any(String)],
  ]);
  expect((await run(['rollout', 'history', 'aged', '--revision', '1'])).out).toContain('0644');
  expect(await run(['rollout', 'history', 'aged', '--revision', '7'])).toMatchObject({
    code: 1,
    out: '',
    err: 'muster: there is no revision 7 of aged: expected one of 2, 1\n',
  });
});

test('pause and resume print results as kubectl does, and repeating them changes nothing', async () => {
  await propagate(settingsIntent('paused'));
  const words = [];
  for (const action of ['pause', 'pause', 'resume', 'resume']) words.push((await run(['rollout', action, 'paused'])).out);
  expect(words).toEqual(['paused', 'unchanged', 'resumed', 'unchanged'].map((word) => `propagation.muster.dev/paused ${word}\n`));
});

test('a paused Propagation starts nothing, and resume with an own gateway waits until it is settled', async () => {
  await propagate(settingsIntent('held'));
  await run(['rollout', 'pause', 'held']);
  expect((await run(['propagate', '-f', '-'], settingsIntent('held', { mode: '0600' }))).out).toBe(
    'propagation.muster.dev/held configured\n',
  );
  const waited = await run(['rollout', 'status', 'held']);
  expect([waited.code, waited.err]).toEqual([
    1,
    expect.stringMatching(/^default\/held: Paused, .*\n {2}continue with: muster rollout resume held -n default\n$/),
  ]);
  expect(dataIn('south', 'held')).toEqual({ mode: '0644' });
  const resumed = await run(['rollout', 'resume', 'held'], '', own);
  expect([resumed.code, resumed.err]).toEqual([0, 'default/held: Settled, 2 of 2 clusters done\n']);
  expect(dataIn('south', 'held')).toEqual({ mode: '0600' });
});

test('a breach ends the wait with 1, and rollback restores the previous revision', async () => {
  const broken = deployment('broken', 2, 'registry.example.com/web:2.0');
  const nowhere = [{ name: 'nowhere', jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } }] }];
  await propagate(intentFile('broken', { template: [{ json: deployment('broken', 2) }] }));
  const bad = await run(
    ['propagate', '-f', '-', '--wait'],
    intentFile('broken', { template: [{ json: broken }], overrides: nowhere, rollout: { deadline: '20s' } }),
  );
  expect(bad.code).toBe(1);
  expect(bad.out).toMatch(/Failed +1\/1 +TIMED_OUT: /);
  expect(bad.err).toContain(
    'continue with: muster rollout resume broken -n default; or roll back with: muster rollout rollback broken -n default\n',
  );
  const back = await run(['rollout', 'rollback', 'broken', '--wait']);
  expect(back.out.split('\n')[0]).toBe('propagation.muster.dev/broken rolled back');
  expect([back.code, back.err]).toEqual([0, 'default/broken: Settled, 2 of 2 clusters done, 2 of 2 replicas ready\n']);
  const image = gateway.cluster('south').get({ group: 'apps', kind: 'Deployment' }, 'broken', 'default');
  expect(JSON.stringify(image?.spec)).toContain('web:1.0');
});

test('rollback accepts an existing revision only', async () => {
  await propagate(settingsIntent('many', { mode: '1' }));
  await propagate(settingsIntent('many', { mode: '2' }));
  await propagate(settingsIntent('many', { mode: '3' }));
  expect((await run(['rollout', 'rollback', 'many', '--revision', '1', '--wait'])).code).toBe(0);
  expect(dataIn('north', 'many')).toEqual({ mode: '1' });
  const missing = await run(['rollout', 'rollback', 'many', '--revision', '99']);
  expect([missing.code, missing.out]).toEqual([1, '']);
  expect(missing.err).toMatch(/^error: .*\n[\s\S]*muster: default\/many: refused, and nothing was written\n$/);
});

test('held deletions are reported, and resume confirms them', async () => {
  const template = ['a', 'b', 'c', 'd'].map((name) => ({ json: settings(`prune-${name}`) }));
  const intent = (clusters: readonly string[]) =>
    intentFile('prune', { template, placement: { clusters }, replicas: { mode: 'Duplicated' } });
  await propagate(intent(['north', 'south']));
  const held = await run(['propagate', '-f', '-', '--wait'], intent(['north']));
  expect(held.code).toBe(1);
  expect(held.err).toContain('confirm the deletions with: muster rollout resume prune -n default --confirm-prune\n');
  expect(dataIn('south', 'prune-a')).toEqual({ mode: '0644' });
  const confirmed = await run(['rollout', 'resume', 'prune', '--confirm-prune', '--wait']);
  expect(confirmed.code).toBe(0);
  await gateway.until(() => dataIn('south', 'prune-a') === undefined);
  const unknown = await run(['rollout', 'resume', 'prune', '--abandon', 'nowhere']);
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('UNKNOWN_CLUSTER abandon: ')]);
});

describe('refuses', () => {
  test.each([
    ['for one that is not there', ['status', 'none'], 1, 'muster: there is no Propagation none in the namespace default of the hub\n'],
    ['to pause one that is not there', ['pause', 'none'], 1, 'muster: there is no Propagation none in the namespace default of the hub\n'],
    ['for a kind without rollouts', ['status', 'job/web'], 2, /^muster: expected a kind that rolls out \(Deployment\.apps, /],
    [
      'a time limit for a Propagation',
      ['status', 'web', '--timeout', '5s'],
      2,
      'muster: expected --timeout with KIND/NAME of a workload, got the Propagation web\n',
    ],
    ['for a workload in two words', ['status', 'deploy', 'web'], 1, 'muster: deploy web is in no cluster\n'],
    [
      'for too many words',
      ['status', 'deploy', 'web', 'api'],
      2,
      'muster: expected one name, KIND NAME or KIND/NAME, got deploy web api\n',
    ],
    ['for another kind', ['pause', 'deploy/web'], 2, /^muster: expected the name of a Propagation to pause, got deploy\/web/],
    ['for a workload that is nowhere', ['status', 'deploy/web'], 1, 'muster: deploy web is in no cluster\n'],
    [
      'with a flag of another action',
      ['status', 'web', '--revision', '1'],
      2,
      'muster: expected --revision with rollout rollback or history, got it with status\n',
    ],
    [
      'with --wait where nothing goes on',
      ['pause', 'web', '--wait'],
      2,
      'muster: expected --wait with rollout resume or rollback or undo, got it with pause\n',
    ],
    ['for an action that is none', ['redo', 'web'], 2, /^muster: command-argument value 'redo' is invalid for argument 'action'/],
  ])('%s', async (_, args, exitCode, message) => {
    const { code, out, err } = await run(['rollout', ...args]);
    expect([code, out]).toEqual([exitCode, '']);
    if (typeof message === 'string') expect(err).toBe(message);
    else expect(err).toMatch(message);
  });
});

describe('delete', () => {
  const named = (name: string) =>
    gateway.query<{ readonly propagation: object | null }>(`{ propagation(namespace: "default", name: "${name}") { id } }`);

  test('deletes a Propagation with its copies, and waits with --wait until it is gone', async () => {
    await propagate(settingsIntent('taken'));
    const { code, out, err } = await run(['delete', 'propagation/taken', '--wait']);
    expect([code, err]).toEqual([0, 'default/taken: gone\n']);
    expect(out.split('\n')[0]).toBe('propagation.muster.dev/taken deleted');
    expect((await named('taken')).propagation).toBeNull();
    expect(dataIn('south', 'taken')).toBeUndefined();
    const again = await run(['delete', 'prop', 'taken']);
    expect([again.code, again.err]).toEqual([1, 'muster: there is no Propagation taken in the namespace default of the hub\n']);
    expect(await run(['delete', 'prop', 'taken', '--ignore-not-found'])).toEqual({ code: 0, out: '', err: '' });
  });

  test('deletes the Propagations of a file, and --cascade orphan keeps the copies', async () => {
    const intent = settingsIntent('kept');
    await propagate(intent);
    expect((await run(['delete', '-f', '-', '--cascade', 'orphan'], intent, own)).code).toBe(0);
    expect((await named('kept')).propagation).toBeNull();
    expect(dataIn('south', 'kept')).toEqual({ mode: '0644' });
  });

  test('that waits for a cluster is followed to its end by resume', async () => {
    await propagate(settingsIntent('slow'));
    const south = gateway.cluster('south');
    const copy = south.get({ group: '', kind: 'ConfigMap' }, 'slow', 'default');
    if (copy === undefined) throw new Error('expected a copy');
    south.put({ ...copy, metadata: { ...copy.metadata, finalizers: ['example.com/wait'] } });
    expect((await run(['delete', 'prop/slow'])).code).toBe(0);
    const { ended, terminal } = startCli(gateway, ['rollout', 'resume', 'slow', '--wait']);
    await gateway.until(() => terminal.written.includes('Deleting'));
    south.remove({ group: '', kind: 'ConfigMap' }, 'slow', 'default');
    expect([await ended(), terminal.told]).toEqual([0, 'default/slow: gone\n']);
  });

  test('refuses a dry run of a Propagation', async () => {
    const { code, err } = await run(['delete', 'prop/once', '--dry-run']);
    expect([code, err]).toEqual([2, expect.stringContaining('expected no --dry-run with a Propagation')]);
    expect((await named('once')).propagation).not.toBeNull();
  });
});
