import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, repository, sessionsOf, userPages } from '../support/documentation.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';
import { certainLines, comparableText, sectionsOfMove } from '../support/shell-sessions.ts';

// Pages show shell sessions. Each line after `$` runs unchanged and in order on one embedded fleet. The sessions of the guide run first,
// then those of the README, which repeats some of them. move.test.ts and access.test.ts run those that need a config file.

const moving = sectionsOfMove();
const own = new Set(['docs/guide/access.md']);
const session = sessionsOf(
  blocksOf(userPages.filter((page) => !own.has(page)).toReversed()).filter(
    ({ page, line }) => page !== moving.page || line < moving.hookLine,
  ),
);

let folder: string;
let gateway: RunningProcess;
let url: string;
let digest = '';
/** The output of each command that has run. */
const outputs = new Map<string, string>();
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-sessions-'));
  gateway = runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the pages show sessions', () => {
  const commands = new Set(session.map(({ command }) => command.split(' ').slice(0, 2).join(' ')));
  expect([...commands].toSorted()).toEqual(
    ['apply', 'delete', 'demo', 'migrate', 'plan', 'propagate', 'rollout', 'scale', 'tree', 'watch'].map((name) => `muster ${name}`),
  );
});

test.each(session)('$page: $command', { timeout: 120_000 }, async ({ command, printed }) => {
  const run = async () => {
    // A digest is valid for one fleet only, so the digest on the page is replaced by that of this fleet.
    const words = command
      .replace(/[0-9a-f]{64}/, digest)
      .split(' ')
      .slice(1);
    await using muster = runMuster(words, { HOME: folder, MUSTER_GATEWAY: url }, repository);
    await muster.ended;
    digest = /^digest: (\w+)$/m.exec(muster.out())?.[1] ?? digest;
    return comparableText(`${muster.out()}${muster.err()}`);
  };
  const certain = certainLines(command, printed);
  // A changed copy is back in sync soon.
  if (command.includes('rollout status')) await expect.poll(run, { timeout: 60_000 }).toContain(certain.at(-1));
  else {
    const text = outputs.get(command) ?? (await run());
    outputs.set(command, text);
    expect(certain.filter((line) => !text.includes(line))).toEqual([]);
  }
});
