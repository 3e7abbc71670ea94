import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamLost } from '../../../src/cli/client/subscription.ts';
import { type CliOptions, runCli, startCli } from '../../support/cli/run-cli.ts';
import { createScriptedStreams } from '../../support/cli/scripted-streams.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    north: [node, pod('web'), pod('api'), pod('starting', { phase: 'Pending', reason: 'ImagePullBackOff' })],
    south: [node, pod('web')],
  });
  for (const name of ['north', 'south']) gateway.cluster(name).writeLog({ namespace: 'shop', pod: 'web', container: 'app' }, `of ${name}`);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker' } };

function pod(name: string, waiting?: { readonly phase: string; readonly reason: string }) {
  const state = waiting === undefined ? { running: {} } : { waiting: { reason: waiting.reason } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels: { app: name } },
    spec: { nodeName: 'worker', initContainers: [{ name: 'init', image: 'i' }], containers: [{ name: 'app', image: 'a' }] },
    status: { phase: waiting?.phase ?? 'Running', containerStatuses: [{ name: 'app', restartCount: 0, state }] },
  };
}

const logs = (...args: string[]) => runCli(gateway, ['logs', ...args]);

function following(args: readonly string[], options: CliOptions = {}) {
  const script = createScriptedStreams();
  return { ...script, ...startCli(gateway, ['logs', '-f', ...args], { ...options, streams: script.streams }) };
}

const batch = (pod: string, lines: readonly [string, string][], parts: object = {}) => ({
  type: 'LINES',
  cluster: { name: 'north' },
  namespace: 'shop',
  pod,
  container: 'app',
  lines: lines.map(([time, text]) => ({ time, text })),
  dropped: 0,
  fault: null,
  ...parts,
});

describe('followed logs', () => {
  test('have aligned prefixes with their source, and report missing lines', async () => {
    const { send, until, stop, ended, terminal, asked } = following([
      'web',
      'pod/api',
      '-n',
      'shop',
      '-c',
      'app',
      '--since',
      '1m30s',
      '--tail',
      '5',
    ]);
    send('podLogs', batch('web', [['2026-01-01T00:00:01Z', 'one']]));
    send('podLogs', batch('recommendations', [['2026-01-01T00:00:02Z', '\x1b[31mtwo']], { dropped: 7 }));
    send('podLogs', batch('web', [['2026-01-01T00:00:03Z', 'three']]));
    await until(({ written }) => written.includes('three'));
    expect(terminal.written).toBe(
      ['north/shop/web/app one\n', 'north/shop/recommendations/app \x1b[31mtwo\n', 'north/shop/web/app             three\n'].join(''),
    );
    expect(terminal.told).toBe('warning: north/shop/recommendations/app: 7 lines are missing here: they came faster than they were read\n');
    expect(asked[0]?.variables).toEqual({
      clusters: null,
      namespaces: ['shop'],
      labels: null,
      names: ['web', 'api'],
      container: 'app',
      sinceSeconds: 90,
      tailLines: 5,
    });
    stop();
    await ended();
  });

  test('resume after a loss without repeating a line', async () => {
    const { send, fail, until, stop, ended, terminal, asked } = following(['-l', 'app=web', '--timestamps']);
    send('podLogs', batch('web', [['2026-01-01T00:00:01.5Z', 'one']]));
    fail(new StreamLost('1006', { wasOpen: true }));
    send(
      'podLogs',
      batch('web', [
        ['2026-01-01T00:00:01.5Z', 'one'],
        ['2026-01-01T00:00:02Z', 'two'],
      ]),
    );
    await until(({ written }) => written.includes('two'));
    expect(terminal.written).toBe('north/shop/web/app 2026-01-01T00:00:01.5Z one\nnorth/shop/web/app 2026-01-01T00:00:02Z two\n');
    // The resumed stream requests everything since, up to the limit of a gateway.
    expect(asked[1]?.variables).toMatchObject({ labels: 'app=web', sinceTime: '2026-01-01T00:00:01.500Z', tailLines: 10_000 });
    expect(asked[1]?.variables).not.toHaveProperty('sinceSeconds');
    stop();
    await ended();
  });

  test('report a container that cannot be read, and continue with the others', async () => {
    const { send, until, stop, ended, terminal } = following(['-l', 'app=web']);
    const fault = { code: 'FORBIDDEN', message: 'not allowed', cluster: { name: 'north' }, kind: null };
    send('podLogs', batch('web', [], { type: 'FAILED', fault }));
    send('podLogs', batch('api', [['2026-01-01T00:00:02Z', 'two']]));
    await until(({ written }) => written.includes('two'));
    expect(terminal.told).toBe('warning: north/shop/web/app: FORBIDDEN not allowed\n');
    stop();
    await ended();
  });

  test('have a color per container on a terminal', async () => {
    const { send, until, stop, ended, terminal } = following(['-l', 'app=web'], { hasColor: true });
    for (const pod of ['web', 'api', 'web']) send('podLogs', batch(pod, [['2026-01-01T00:00:02Z', 'x']]));
    await until(({ written }) => written.split('\n').length > 3);
    const colors = terminal.written.split('\n').map((line) => /\[(\d+)m/.exec(line)?.[1]);
    expect(colors[0]).toBe(colors[2]);
    expect(colors[0]).not.toBe(colors[1]);
    stop();
    await ended();
  });
});

describe('a named Pod or container that does not exist is reported, and fails the command', () => {
  test.each([
    ['a Pod that is nowhere', ['nosuch'], 'there is no Pod nosuch'],
    ['one that is elsewhere', ['api', '-n', 'shop', '--context', 'south'], 'there is no Pod api in shop of south'],
    ['one that has other labels', ['pod/api', '-l', 'app=web'], 'there is no Pod api with app=web'],
    ['a container of a Pod', ['web', '-c', 'nosuch'], 'expected a container of the Pod web (init, app), got nosuch'],
    ['a container of labels', ['-l', 'app=web', '-c', 'nosuch'], 'expected a container of the Pods (init, app), got nosuch'],
  ])('%s', async (_, args, line) => {
    expect(await logs(...args)).toEqual({ code: 1, out: '', err: `muster: ${line}\n` });
  });

  test('together with one that exists', async () => {
    const { code, out, err } = await logs('web', 'nosuch', 'neither', '-c', 'app');
    expect([code, out]).toEqual([1, 'north/shop/web/app of north\nsouth/shop/web/app of south\n']);
    expect(err).toBe('muster: there is no Pod nosuch\nmuster: there is no Pod neither\n');
  });

  test('except labels without Pods', async () => {
    expect(await logs('-l', 'app=nosuch')).toEqual({ code: 0, out: '', err: 'No containers found\n' });
    expect(await logs('-l', 'app=nosuch', '-c', 'app')).toEqual({ code: 0, out: '', err: 'No containers found\n' });
  });

  test('following reports it and waits', async () => {
    const { send, until, stop, ended, terminal } = following(['web', 'nosuch', '-c', 'app']);
    send('podLogs', batch('web', [['2026-01-01T00:00:01Z', 'one']]));
    await until(({ written }) => written.includes('one'));
    expect(terminal.told).toBe('warning: there is no Pod nosuch: waiting for it\n');
    stop();
    await ended();
  });
});

test('reports the message of the API server about a container', async () => {
  const { code, err } = await logs('starting', '-c', 'app');
  expect(code).toBe(0);
  expect(err).toMatch(/^warning: north\/shop\/starting\/app: NOT_FOUND .+: container "app" in pod "starting" is waiting to start: .+\n$/);
  expect((await logs('starting', '-c', 'app', '--context', 'north')).code).toBe(1);
});

test('--tail -1 prints more lines than the default', async () => {
  const lines = Array.from({ length: 300 }, (_, at) => `line ${at}`);
  gateway.cluster('north').writeLog({ namespace: 'shop', pod: 'api', container: 'app' }, ...lines);
  const count = async (...args: string[]) => (await logs('api', '-c', 'app', ...args)).out.split('\n').length - 1;
  expect([await count(), await count('--tail', '-1'), await count('--tail', '3')]).toEqual([200, 300, 3]);
});

describe('a cluster whose Pods are unknown', () => {
  let half: TestGateway;
  beforeAll(async () => {
    half = await startGateway(
      { north: [node, pod('web')], south: [] },
      { before: (cluster) => void cluster('south').forbid({ resource: 'pods' }) },
    );
    half.cluster('north').writeLog({ namespace: 'shop', pod: 'web', container: 'app' }, 'one');
  });
  afterAll(() => half[Symbol.asyncDispose]());

  test('is reported next to the logs of the others, and fails the command if it is named', async () => {
    const all = await runCli(half, ['logs', '-l', 'app=web', '-c', 'app']);
    expect(all).toEqual({ code: 0, out: 'north/shop/web/app one\n', err: expect.stringMatching(/^warning: south: pods: FORBIDDEN .+\n$/) });
    const named = await runCli(half, ['logs', '-l', 'app=web', '--context', 'south']);
    expect([named.code, named.out]).toEqual([3, '']);
    expect(named.err).toMatch(
      /^warning: south: pods: FORBIDDEN .+\nmuster: containers .+: unknown, as clusters did not answer. Answered \(0 of 1\).+\n$/,
    );
  });

  test('is reported with the message of its API server', async () => {
    const { err } = await runCli(half, ['list', 'pods', '-o', 'name']);
    expect(err).toMatch(/^warning: south: pods: FORBIDDEN .+: pods is forbidden: .+\n$/);
  });
});

test.each([
  ['neither Pod nor labels', ['logs'], 'muster: expected the name of a Pod, or -l with labels of Pods\n'],
  ['to follow what has ended', ['logs', 'web', '-f', '-p'], /^muster: expected --previous or --follow, got both.*\n$/],
  ['a length of time that is none', ['logs', 'web', '--since', '5'], /^muster: .*Expected a length of time such as 90s, 5m or 1d12h.\n$/],
  ['more than a log tells at once', ['logs', 'web', '--tail', '10001'], /^muster: .*Expected a whole number from -1 to 10000.\n$/],
  ['what has no Pods', ['logs', 'cm/cart'], /^muster: expected a kind that has Pods .*, got cm\n$/],
  ['a number that is none', ['logs', 'web', '--tail', '-2'], /^muster: .*Expected a whole number from -1 to 10000.\n$/],
])('refuses %s', async (_, args, line) => {
  const { code, err } = await runCli(gateway, args);
  expect(code).toBe(2);
  expect(err).toMatch(line);
});

describe('words', () => {
  const webs = ['north/shop/web/app of north', 'south/shop/web/app of south'];

  test('that are regular expressions find names of Pods', async () => {
    const { code, out } = await logs('^we', '-n', 'shop', '-c', 'app', '--tail', '1');
    expect([code, out.trim().split('\n')]).toEqual([0, webs.map(() => expect.stringMatching(/^(?:north|south)\/shop\/web\/app /))]);
    expect(await logs('w(')).toMatchObject({ code: 2, out: '' });
    expect(await logs('web', '--include', '(')).toMatchObject({ code: 2, out: '' });
  });

  test('that are plain are names, with a hint at an expression', async () => {
    const { code, err } = await logs('we', '-n', 'shop');
    expect([code, err]).toEqual([
      1,
      "muster: there is no Pod we in shop\nhint: 2 Pods have we in their names; a regular expression finds them: '^we'\n",
    ]);
  });

  test('choose lines, and print them raw or as JSON', async () => {
    gateway.cluster('north').writeLog({ namespace: 'shop', pod: 'web', container: 'app' }, 'good 1\ngood 2\nbad 1');
    const chosen = ['web', '--context', 'north', '--include', 'good', '--include', 'bad', '--exclude', '2$'];
    expect((await logs(...chosen, '-o', 'raw')).out).toBe('good 1\nbad 1\n');
    const [line = ''] = (await logs(...chosen, '-o', 'json', '--since', '1d12h')).out.split('\n');
    expect(JSON.parse(line)).toMatchObject({ cluster: 'north', namespace: 'shop', pod: 'web', container: 'app', text: 'good 1' });
  });

  test('refuses to follow more containers than --max-log-requests before the first line', async () => {
    const { code, out, err } = await logs('^web', '-n', 'shop', '-c', 'app', '-f', '--max-log-requests', '1');
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^muster: expected at most 1 containers to follow, got 2/)]);
  });
});
