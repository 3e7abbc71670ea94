import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamLost } from '../../../src/cli/open-stream.ts';
import { type CliOptions, runCli, startCli } from '../../support/run-cli.ts';
import { createScriptedStreams } from '../../support/scripted-streams.ts';
import { startGateway, type TestGateway } from '../../support/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [], south: [] });
});
afterAll(() => gateway[Symbol.asyncDispose]());

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

describe('followed', () => {
  test('lines say where they come from, aligned, and what was lost is told', async () => {
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

  test('after a loss they go on where they were, and none is told twice', async () => {
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
    expect(asked[1]?.variables).toMatchObject({ labels: 'app=web', sinceTime: '2026-01-01T00:00:01.500Z', tailLines: null });
    expect(asked[1]?.variables).not.toHaveProperty('sinceSeconds');
    stop();
    await ended();
  });

  test('a container that cannot be read is told, and the others go on', async () => {
    const { send, until, stop, ended, terminal } = following(['-l', 'app=web']);
    const fault = { code: 'FORBIDDEN', message: 'not allowed', cluster: { name: 'north' }, kind: null };
    send('podLogs', batch('web', [], { type: 'FAILED', fault }));
    send('podLogs', batch('api', [['2026-01-01T00:00:02Z', 'two']]));
    await until(({ written }) => written.includes('two'));
    expect(terminal.told).toBe('warning: north/shop/web/app: FORBIDDEN not allowed\n');
    stop();
    await ended();
  });

  test('each container has its color on a terminal', async () => {
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

test.each([
  ['neither Pod nor labels', ['logs'], 'muster: expected the name of a Pod, or -l with labels of Pods\n'],
  ['to follow what has ended', ['logs', 'web', '-f', '-p'], /^muster: expected --previous or --follow, got both.*\n$/],
  ['a length of time that is none', ['logs', 'web', '--since', '5'], /^muster: .*Expected a length of time such as 90s, 5m or 1h30m.\n$/],
  ['a number that is none', ['logs', 'web', '--tail', '-2'], /^muster: .*Expected a whole number of at least -1.\n$/],
])('refuses %s', async (_, args, line) => {
  const { code, err } = await runCli(gateway, args);
  expect(code).toBe(2);
  expect(err).toMatch(line);
});
