import { expect, test } from 'vitest';
import type { RegistrationOutcome, Registrations } from '../../../src/cli/client/registrations.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { createFakeTerminal } from '../../support/cli/fake-terminal.ts';
import { manifestReader } from '../../support/cli/run-cli.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const created: RegistrationOutcome = {
  result: 'done',
  steps: [{ cluster: 'south', object: 'namespace/muster-system', action: 'created' }],
  notes: ['a hint'],
};

async function run(args: readonly string[], outcome = created, environment = {}) {
  const terminal = createFakeTerminal();
  const inputs: unknown[] = [];
  const answer = async (input: unknown) => {
    inputs.push(input);
    return outcome;
  };
  const registrations: Registrations = { join: answer, leave: answer };
  const code = await runProgram(args, {
    ...{ version: '1.2.3', serve: async () => 7, reader: manifestReader, registrations, terminal, environment },
    start: async () => expect.unreachable('joining needs no gateway'),
    clock: createManualClock(),
    directory: '.',
    signal: new AbortController().signal,
  });
  return { code, inputs, out: terminal.written, err: terminal.told };
}

const common = { name: 'south', namespace: 'muster-system', hub: undefined, kubeconfig: undefined, dryRun: false };
const plain = { ...common, context: 'south', labels: undefined, region: undefined, provider: undefined };

test('join prints a table of the objects, and hints on standard error', async () => {
  const { code, inputs, out, err } = await run(['join', 'south']);
  expect([code, err]).toEqual([0, 'note: a hint\n']);
  expect(out).toBe('CLUSTER   OBJECT                    ACTION\nsouth     namespace/muster-system   created\n');
  expect(inputs).toEqual([{ ...plain, write: false, rotate: false, lifetimeSeconds: 7_776_000 }]);
});

test('join passes its flags on, and a dry run shows in each row', async () => {
  const flags =
    '--name s --hub north -n fleet --label a=b --label c= --region r --provider p --write --rotate --token-lifetime 1h30m --dry-run';
  const { inputs, out } = await run(['join', 'south', ...flags.split(' ')]);
  expect(out).toMatch(/created \(dry run\)$/m);
  const facts = { labels: { a: 'b', c: '' }, region: 'r', provider: 'p', write: true, rotate: true, lifetimeSeconds: 5_400 };
  expect(inputs).toEqual([{ ...common, ...facts, name: 's', namespace: 'fleet', hub: 'north', dryRun: true, context: 'south' }]);
});

test.each([
  [['leave', 'south'], 'south', false],
  [['leave', 'south', '--context', 'other', '--abandon'], 'other', true],
  [['leave', 'south', '--hub-only'], undefined, false],
])('%j uses the context %s', async (args, context, abandon) => {
  expect((await run(args)).inputs).toEqual([{ ...common, context, abandon }]);
});

test('the hub is that of MUSTER_HUB without --hub', async () => {
  const { inputs } = await run(['leave', 'south'], created, { MUSTER_HUB: 'north' });
  expect(inputs).toMatchObject([{ hub: 'north' }]);
});

test('a failure shows the steps that stay, and exits with 1', async () => {
  const failed: RegistrationOutcome = { result: 'failed', steps: created.steps, message: 'south: it does not answer' };
  const { code, out, err } = await run(['leave', 'south'], failed);
  expect([code, err]).toEqual([1, 'muster: south: it does not answer\n']);
  expect(out).toContain('namespace/muster-system');
});

test.each([
  [['join', 'arn:aws:eks']],
  [['join', 'x'.repeat(49)]],
  [['leave', 'A_b']],
  [['join', 'south', '--label', '=x']],
  [['join', 'south', '--label', 'a']],
  [['join', 'south', '--token-lifetime', '1s']],
  [['join', 'south', '--token-lifetime', 'soon']],
  [['join']],
])('%j is a wrong command line', async (args) => {
  const { code, inputs, out } = await run(args);
  expect([code, inputs, out]).toEqual([2, [], '']);
});
