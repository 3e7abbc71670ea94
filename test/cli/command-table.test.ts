import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { addCommands, type CommandParts, commandTable } from '../../src/cli/command-table.ts';
import { createFakeTerminal } from '../support/cli/fake-terminal.ts';
import { pageText } from '../support/documentation.ts';

function partsOf(): CommandParts {
  return {
    run: vi.fn(),
    version: '1.2.3',
    terminal: createFakeTerminal(),
    directory: '/',
    environment: {},
    serve: vi.fn(),
    schema: vi.fn(),
    registrations: { join: vi.fn(), leave: vi.fn() },
    onEnd: vi.fn(),
  };
}

async function namesFor(...words: readonly string[]): Promise<readonly string[]> {
  const program = new Command('muster');
  await addCommands(program, words, partsOf());
  return program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
}

test('the table has the names that the commands have, in the order of the help', async () => {
  expect(await namesFor()).toEqual(commandTable.flatMap(({ names }) => names));
  expect(await namesFor('-n', 'shop', 'get')).toEqual(await namesFor());
});

test('the page about the command line lists every command', async () => {
  const program = new Command('muster');
  await addCommands(program, [], partsOf());
  const names = program.commands.flatMap((command) =>
    command.commands.length === 0 ? [command.name()] : command.commands.map((inner) => `${command.name()} ${inner.name()}`),
  );
  const section = /^## Commands$([\s\S]*?)^## /m.exec(pageText('docs/guide/command-line.md'))?.[1] ?? '';
  const cells = [...section.matchAll(/^\| (.+?) \|/gm)].map(([, cell = '']) => cell).join();
  const listed = [...cells.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words);
  expect(names.filter((name) => !listed.some((words) => `${words} `.startsWith(`${name} `)))).toEqual([]);
});

test('the page about operation lists every flag of serve', async () => {
  const program = new Command('muster');
  await addCommands(program, ['serve'], partsOf());
  const flags = program.commands.find((command) => command.name() === 'serve')?.options.flatMap(({ long }) => long ?? []) ?? [];
  expect(flags).toContain('--kubeconfig');
  const section = /^## Start a gateway$([\s\S]*?)^## /m.exec(pageText('docs/guide/operate.md'))?.[1] ?? '';
  expect(flags.filter((flag) => !new RegExp(`^\\|[^|]*\`${flag}\\b`, 'm').test(section))).toEqual([]);
});

test.each(commandTable.flatMap(({ names }) => names.map((name) => [name, names] as const)))(
  'only %s is added for its name',
  async (name, names) => {
    expect(await namesFor(name, 'pods')).toEqual(names);
  },
);

test('no command is added for --version alone', async () => {
  expect(await namesFor('--version')).toEqual([]);
  expect(await namesFor('--version', 'get')).toContain('get');
});
