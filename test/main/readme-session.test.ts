import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

// The README shows a session: each line after `$` is run as it stands, one after the other, on one embedded fleet.

const repository = path.join(import.meta.dirname, '../..');
const readme = readFileSync(path.join(repository, 'README.md'), 'utf8');

/** A command, and the lines that the README shows of what it prints. */
interface Shown {
  readonly command: string;
  readonly printed: readonly string[];
}

const session: readonly Shown[] = [
  ...readme.matchAll(/^(?<indent> {4}|)\$ muster (?<command>.+)\n(?<printed>(?:\k<indent>(?!\$ |```).+\n)*)/gm),
].map(({ groups: { command = '', printed = '' } = {} }) => ({
  command,
  printed: printed
    .trimEnd()
    .split('\n')
    .map((line) => line.trim()),
}));

/** Widths of columns, ages, digests and generated names differ from run to run. */
const normal = (text: string) =>
  text
    .replaceAll(/ +/g, ' ')
    .replaceAll(/(?<=\s)(?:\d+[smhdy])+$/gm, 'AGE')
    .replaceAll(/[0-9a-f]{64}/g, 'DIGEST')
    .replaceAll(/-[bcdf-hj-np-tv-z2-9]{10}(?:-\w{5})?\b/g, '-GENERATED');

let folder: string;
let gateway: RunningProcess;
let url: string;
let digest = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-readme-session-'));
  gateway = runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the README shows a session', () => {
  expect(session.map(({ command }) => command.split(' ')[0])).toEqual([
    'plan',
    'propagate',
    'propagate',
    'rollout',
    'scale',
    'rollout',
    'delete',
    'tree',
  ]);
});

test.each(session.map(({ command, printed }) => [command, printed] as const))(
  'muster %s',
  { timeout: 120_000 },
  async (command, printed) => {
    const run = async () => {
      // A digest is of one fleet: the one shown is not that of the fleet of this test.
      await using muster = runMuster(command.replace(/[0-9a-f]{64}/, digest).split(' '), { HOME: folder, MUSTER_GATEWAY: url }, repository);
      await muster.ended;
      digest = /^digest: (\w+)$/m.exec(muster.out())?.[1] ?? digest;
      return normal(`${muster.out()}${muster.err()}`);
    };
    const [first = '', last = ''] = [printed[0], printed.findLast((line) => line !== '…')].map((line) => normal(line ?? ''));
    // A changed copy is back in sync soon.
    if (command.startsWith('rollout status')) await expect.poll(run, { timeout: 60_000 }).toContain(last);
    else {
      const text = await run();
      expect(text).toContain(first);
      expect(text).toContain(last);
    }
  },
);
