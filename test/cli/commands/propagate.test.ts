import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OwnGateway } from '../../../src/cli/program.ts';
import { intentFile, settings, standing } from '../../support/cli/intent-files.ts';
import { type CliOptions, runCli, startCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [], south: [], east: [] }, { hub: 'north', living: true });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], input = '', options: CliOptions = {}) => runCli(gateway, args, { input, ...options });

const inCluster = (cluster: string, kind: 'Deployment' | 'ConfigMap', name: string) =>
  gateway.cluster(cluster).get({ group: kind === 'Deployment' ? 'apps' : '', kind }, name, 'default');

/** Options of a command with its own gateway, which the test provides. */
const own: CliOptions = {
  environment: {},
  start: async (): Promise<OwnGateway> => ({ address: { url: gateway.url }, [Symbol.asyncDispose]: async () => undefined }),
};

const settingsIntent = (name: string, spec = {}) =>
  intentFile(name, { template: [{ json: settings(name) }], replicas: { mode: 'Duplicated' }, ...spec });

describe('plan', () => {
  test('shows what an intent would do, without writing', async () => {
    const overrides = [
      { name: 'tag', set: { clusters: ['south'] }, image: [{ component: 'tag', operator: 'Replace', value: '2.0' }] },
      { name: 'idle', labels: [{ operator: 'Remove', values: { none: 'such' } }] },
    ];
    const intent = intentFile('web', {
      placement: { clusters: ['north', 'south'] },
      overrides,
      rollout: { waves: [{ name: 'first', set: { clusters: ['north'] } }] },
    });
    const { code, out, err } = await run(['plan', '-f', '-'], intent);
    expect([code, err]).toEqual([0, '']);
    const lines = out.split('\n');
    expect(lines.slice(0, 4).map((line) => line.split(/ {3,}/))).toEqual([
      ['CLUSTER', 'CHOSEN', 'REPLICAS', 'WAVE', 'ACTIONS', 'OVERRIDES'],
      ['east', 'no: NOT_NAMED east'],
      ['north', 'yes', '0→2', 'first', 'CREATE'],
      ['south', 'yes', '0→2', 'rest', 'CREATE', 'tag'],
    ]);
    expect(out).toContain('\nsouth/default/deployment.apps/web CREATE\n--- live\n+++ planned\n');
    expect(out).toContain('+        - image: registry.example.com/web:2.0\n');
    expect(out).toMatch(/\nnorth: override idle changes nothing\n/);
    expect(out).toMatch(/\nwarning: UNMATCHED_OVERRIDE overrides\[1\]: .*\nreplicas: 4 placed of 4\n\ndigest: [0-9a-f]{64}\n$/);
    expect(inCluster('north', 'Deployment', 'web')).toBeUndefined();
    expect((await run(['rollout', 'status', 'web'])).code).toBe(1);
  });

  test('shows several intents under their names, and whole with -o', async () => {
    const both = `${settingsIntent('a')}---\n${settingsIntent('b')}`;
    expect((await run(['plan', '-f', '-', '-n', 'default'], both)).out).toMatch(
      /^default\/a\nCLUSTER [\s\S]*\ndigest: \w+\n\ndefault\/b\nCLUSTER /,
    );
    const { out } = await run(['plan', '-f', '-', '-o', 'yaml'], both);
    expect(out.split('---\ndigest').length).toBe(2);
    const { out: json } = await run(['plan', '-f', '-', '-o', 'json'], settingsIntent('a'));
    expect(JSON.parse(json)).toMatchObject({ ok: true, clusters: [{ objects: [{ manifest: { data: { mode: '0644' } } }] }, {}, {}] });
  });

  test('exits with 1 and the reason if the plan has an error', async () => {
    const { code, out } = await run(['plan', '-f', '-'], settingsIntent('a', { placement: { clusters: ['nowhere'] } }));
    expect(code).toBe(1);
    expect(out).toContain('error: UNKNOWN_CLUSTER placement.clusters[0]: ');
  });

  test('shows only named clusters', async () => {
    const { out } = await run(['plan', '-f', '-', '--context', 'south'], settingsIntent('a'));
    expect(
      out
        .split('\n')
        .slice(1, 3)
        .map((line) => line.split(' ')[0]),
    ).toEqual(['south', '']);
    expect(out).not.toContain('north/');
  });

  test.each([
    ['no file', ['plan'], '', /^muster: required option '-f, --filename <file>' not specified\n$/],
    [
      'objects',
      ['plan', '-f', '-'],
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      /^muster: standard input: expected a Propagation .* got a ConfigMap of v1/,
    ],
    [
      'a broken intent',
      ['propagate', '-f', '-'],
      intentFile('web', { replicas: { mode: 'Dived' } }),
      /^muster: standard input: spec\.replicas\.mode: expected one of .*"Dived"\n$/,
    ],
    [
      'two for one digest',
      ['propagate', '-f', '-', '--digest', 'd'.repeat(64)],
      `${settingsIntent('a')}---\n${settingsIntent('b')}`,
      /expected one intent with --digest, got 2/,
    ],
    ['a digest that is none', ['propagate', '-f', '-', '--digest', 'd'], settingsIntent('a'), /Expected the 64 hexadecimal digits/],
    [
      'names of what is only planned',
      ['propagate', '-f', '-', '--dry-run', '-o', 'name'],
      settingsIntent('a'),
      /expected -o json or yaml with --dry-run/,
    ],
  ])('exits with 2 for %s', async (_, args, input, message) => {
    const { code, out, err } = await run(args, input);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});

describe('propagate', () => {
  test('returns once the intent is recorded, or with --wait once it is settled', async () => {
    expect(await run(['propagate', '-f', '-'], settingsIntent('recorded'))).toEqual({
      code: 0,
      out: 'propagation.muster.dev/recorded created\n',
      err: '',
    });
    const { code, out, err } = await run(['propagate', '-f', '-', '--wait'], intentFile('waited'));
    expect(code).toBe(0);
    const rows = out.split('\n').map((line) => line.trim().split(/ {3,}/).slice(0, 3));
    expect(rows.slice(0, 2)).toEqual([['propagation.muster.dev/waited created'], ['CLUSTER', 'PHASE', 'READY']]);
    expect(rows).toContainEqual(['north', 'Settled', '1/1']);
    expect(rows.at(-2)?.slice(0, 2)).toEqual(['Settled', '4/4']);
    expect(err).toBe('default/waited: Settled, 3 of 3 clusters done, 4 of 4 replicas ready\n');
    expect(inCluster('east', 'Deployment', 'waited')).toMatchObject({ spec: { replicas: 2 } });
    expect((await run(['propagate', '-f', '-'], intentFile('waited'))).out).toBe('propagation.muster.dev/waited unchanged\n');
    expect((await run(['propagate', '-f', '-', '-o', 'name'], intentFile('waited', { strict: true }))).out).toBe(
      'propagation.muster.dev/waited\n',
    );
  });

  test('waits until the rollout ends without a running gateway', async () => {
    const { code, out, err } = await run(['propagate', '-f', '-'], settingsIntent('alone'), own);
    expect([code, err]).toEqual([0, 'default/alone: Settled, 3 of 3 clusters done\n']);
    expect(out).toContain('Settled');
    for (const cluster of ['north', 'south', 'east'])
      expect(inCluster(cluster, 'ConfigMap', 'alone')).toMatchObject({ data: { mode: '0644' } });
  });

  test('draws a table on a terminal', async () => {
    const { ended, terminal } = startCli(gateway, ['propagate', '-f', '-', '--wait'], { input: intentFile('seen'), isInteractive: true });
    expect(await ended()).toBe(0);
    expect(terminal.written).toBe('propagation.muster.dev/seen created\n');
    expect(terminal.frames.at(-1)?.map((line) => line.split(/ {3,}/).slice(0, 4))).toEqual([
      ['default/seen: Settled, 3 of 3 clusters done, 4 of 4 replicas ready'],
      ['CLUSTER', 'WAVE', 'PHASE', 'REPLICAS'],
      ['east', '1', 'Settled', '2'],
      ['north', '1', 'Settled', '1'],
      ['south', '1', 'Settled', '1'],
    ]);
    expect(terminal.late).toBe(0);
  });

  test('carries out exactly the plan of a digest, or nothing and shows the new plan', async () => {
    const intent = settingsIntent('exact');
    const digest = /digest: (\w+)\n$/.exec((await run(['plan', '-f', '-'], intent)).out)?.[1] ?? '';
    gateway.cluster('south').put(standing('exact', { theirs: '1' }));
    const stale = await run(['propagate', '-f', '-', '--digest', digest], intent);
    expect(stale.code).toBe(1);
    expect(stale.err).toMatch(
      /^muster: default\/exact: the plan with that digest is out of date, and nothing was written: check this plan\n$/,
    );
    const now = /digest: (\w+)\n$/.exec(stale.out)?.[1] ?? '';
    expect(now).not.toBe(digest);
    expect(inCluster('north', 'ConfigMap', 'exact')).toBeUndefined();
    expect((await run(['propagate', '-f', '-', '--digest', now], intent)).out).toBe('propagation.muster.dev/exact created\n');
  });

  test('prints all reasons for a refusal', async () => {
    const { code, out, err } = await run(
      ['propagate', '-f', '-', '--wait'],
      settingsIntent('refused', { placement: { clusters: ['nowhere'] } }),
    );
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^error: UNKNOWN_CLUSTER placement\.clusters\[0\]: .*\n[\s\S]*muster: default\/refused: refused, and nothing was written\n$/,
    );
  });

  test('carries out the valid ones of several intents, and reports the others', async () => {
    const both = `${settingsIntent('first')}---\n${settingsIntent('second', { placement: { clusters: ['nowhere'] } })}`;
    const { code, out, err } = await run(['propagate', '-f', '-', '--wait'], both);
    expect(code).toBe(1);
    expect(out.split('\n')[0]).toBe('propagation.muster.dev/first created');
    expect(err).toMatch(/\nmuster: default\/second: refused, and nothing was written\ndefault\/first: Settled, 3 of 3 clusters done\n$/);
  });

  test('ends with 1 if an object is not owned, and names it', async () => {
    gateway.cluster('east').put(standing('theirs', { theirs: '1' }));
    const { code, out, err } = await run(['propagate', '-f', '-', '--wait'], settingsIntent('theirs'));
    expect(code).toBe(1);
    expect(out).toMatch(/\neast +Failed +CONFLICT: /);
    expect(err).toMatch(/^default\/theirs: (Paused|Degraded), .*\n {2}Applied: Failed east\n/);
  });

  test('-o json and yaml print the result with the last state', async () => {
    const { code, out, err } = await run(['propagate', '-f', '-', '--wait', '-o', 'json'], settingsIntent('whole'));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      result: 'ACCEPTED',
      propagation: { name: 'whole', phase: 'SETTLED', clusters: [{ phase: 'SETTLED' }, {}, {}] },
    });
    expect(err).toContain('Settled');
    expect((await run(['propagate', '-f', '-', '-o', 'yaml'], settingsIntent('whole'))).out).toMatch(/^result: UNCHANGED\npropagation:\n/);
  });

  test('--dry-run shows the plan', async () => {
    expect((await run(['propagate', '-f', '-', '--dry-run'], settingsIntent('dry'))).out).toMatch(/\ndigest: \w+\n$/);
    expect(inCluster('north', 'ConfigMap', 'dry')).toBeUndefined();
  });
});

test('explains how to name a hub', async () => {
  await using bare = await startGateway({ north: [] });
  const { code, err } = await runCli(bare, ['propagate', '-f', '-'], { input: settingsIntent('web') });
  expect(code).toBe(1);
  expect(err).toMatch(/^muster: .*--hub.*\n$/);
  expect((await runCli(bare, ['plan', '-f', '-'], { input: settingsIntent('web') })).code).toBe(0);
});

describe('a person on a terminal', () => {
  const typing = (typed: string): CliOptions => ({ typed });

  test('is asked before copies in more than one cluster change', async () => {
    const intent = settingsIntent('asked', { placement: { clusters: ['north', 'south'] } });
    const { code, out, err } = await run(['propagate', '-f', '-', '--context', 'north'], intent, typing('n'));
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe('propagate in 2 clusters: north, south\n  configmap/asked in default\nContinue? [y/N] muster: nothing was changed\n');
    expect((await run(['rollout', 'status', 'asked'])).code).toBe(1);
    expect((await run(['propagate', '-f', '-'], intent, typing('y'))).out).toBe('propagation.muster.dev/asked created\n');
    expect((await run(['propagate', '-f', '-'], intent, typing('y'))).out).toBe('propagation.muster.dev/asked unchanged\n');
  });

  test('is asked about the valid ones of several intents', async () => {
    const both = `${settingsIntent('valid')}---\n${settingsIntent('wrong', { placement: { clusters: ['nowhere'] } })}`;
    const { code, out, err } = await run(['propagate', '-f', '-'], both, typing('n'));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^propagate in 3 clusters: .*\n {2}configmap\/valid in default\nContinue\? \[y\/N\] muster: nothing was changed\n$/,
    );
    const agreed = await run(['propagate', '-f', '-'], both, typing('y'));
    expect([agreed.code, agreed.out]).toEqual([1, 'propagation.muster.dev/valid created\n']);
    expect(agreed.err).toMatch(/\nmuster: default\/wrong: refused, and nothing was written\n$/);
  });

  test.each([
    ['with -y', 'agreed', ['-y'], ['north', 'south']],
    ['for a dry run', 'tried', ['--dry-run'], ['north', 'south']],
    ['for one cluster', 'single', [], ['north']],
  ])('is not asked %s', async (_, name, flags, clusters) => {
    const intent = settingsIntent(name, { placement: { clusters } });
    const { code, err } = await run(['propagate', '-f', '-', ...flags], intent, typing('n'));
    expect([code, err]).toEqual([0, '']);
  });
});
