import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Flags } from '../../src/config/config.ts';
import { createFakeTerminal } from '../support/fake-terminal.ts';
import { createManualClock } from '../support/manual-clock.ts';

async function run(...args: string[]) {
  const terminal = createFakeTerminal();
  const seen: { flags?: Flags } = {};
  const code = await runProgram(args, {
    version: '1.2.3',
    serve: async (flags) => {
      seen.flags = { ...flags };
      return 7;
    },
    start: async () => expect.unreachable('serving starts no gateway of a command'),
    terminal,
    clock: createManualClock(),
    environment: {},
    directory: '.',
    signal: new AbortController().signal,
  });
  return { code, ...seen, out: terminal.written, err: terminal.told };
}

test('serves when no command is named, and gives back its exit code', async () => {
  expect(await run()).toEqual({ code: 7, flags: {}, out: '', err: '' });
  expect(await run('serve')).toEqual({ code: 7, flags: {}, out: '', err: '' });
});

test('reads every flag, those that repeat in their order', async () => {
  const args =
    '--kubeconfig k --context a --context b --demo --host ::1 --port 0 --allow-origin https://a --allow-origin https://b --token-file t --log-level debug --config c';
  const flags = {
    kubeconfig: 'k',
    context: ['a', 'b'],
    demo: true,
    host: '::1',
    port: '0',
    allowOrigin: ['https://a', 'https://b'],
    tokenFile: 't',
    logLevel: 'debug',
    config: 'c',
  };
  expect((await run(...args.split(' '))).flags).toEqual(flags);
  expect((await run('serve', ...args.split(' '))).flags).toEqual(flags);
});

test.each([
  ['an unknown flag', ['--prot', '4000'], "muster: unknown option '--prot' (Did you mean --port?)\n"],
  ['an unknown command', ['srve'], /^muster: .*\n$/],
  ['a flag without its value', ['--port'], "muster: option '--port <number>' argument missing\n"],
  ['a flag of a later release', ['--hub', 'north'], /^muster: unknown option '--hub'.*\n$/],
])('refuses %s with one line and exit code 2', async (_, args, message) => {
  const { code, err, out, flags } = await run(...args);
  expect([code, out, flags]).toEqual([2, '', undefined]);
  if (typeof message === 'string') expect(err).toBe(message);
  else expect(err).toMatch(message);
});

test.each([[['--help']], [['help']], [['serve', '--help']]])('helps with every flag at %j, each once', async (args) => {
  const { code, out } = await run(...args);
  expect(code).toBe(0);
  for (const flag of [
    '--kubeconfig',
    '--context',
    '--demo',
    '--host',
    '--port',
    '--allow-origin',
    '--token-file',
    '--log-level',
    '--config',
  ])
    expect(out.split(`\n  ${flag} `)).toHaveLength(2);
});

test('tells its version', async () => {
  expect((await run('--version')).out).toBe('1.2.3\n');
});
