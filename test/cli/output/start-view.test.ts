import { expect, test } from 'vitest';
import { createProcessLog, withQuietFaults } from '../../../src/cli/output/process-log.ts';
import { createStartView } from '../../../src/cli/output/start-view.ts';

function viewOf(isTerminal: boolean) {
  const lines: string[] = [];
  return { lines, view: createStartView({ write: (line) => lines.push(line), isTerminal }) };
}

const esc = '\x1b';

test('prints each step of each cluster once, in plain lines without a terminal', () => {
  const { lines, view } = viewOf(false);
  view.progressed({ cluster: 'north', step: 'connecting' });
  view.progressed({ cluster: 'south-east', step: 'connecting' });
  view.progressed({ cluster: 'north', step: 'listing', version: 'v1.36.3', objects: 0 });
  view.progressed({ cluster: 'north', step: 'listing', version: 'v1.36.3', objects: 900 });
  view.progressed({ cluster: 'south-east', step: 'failed', code: 'UNREACHABLE', message: 'the connection was refused' });
  view.progressed({ cluster: 'north', step: 'synced', version: 'v1.36.3', objects: 1234 });
  view.progressed({ cluster: 'alias', step: 'duplicate', same: 'north' });
  expect(lines).toEqual([
    'north  connecting\n',
    'south-east  connecting\n',
    'north  listing (v1.36.3)\n',
    'south-east  UNREACHABLE the connection was refused\n',
    'north  synced, 1,234 objects (v1.36.3)\n',
    'alias  DUPLICATE the same cluster as north: read once\n',
  ]);
});

test('prints colors on a terminal', () => {
  const { lines, view } = viewOf(true);
  view.progressed({ cluster: 'north', step: 'synced', version: 'v1.36.3', objects: 1 });
  expect(lines[0]).toContain(`${esc}[32msynced${esc}[0m, 1 object `);
});

test('ends with the address, and prints DEMO and queries only for the embedded fleet', () => {
  const real = viewOf(false);
  real.view.ready({ url: 'http://127.0.0.1:4000/graphql', demo: false, queries: [] });
  expect(real.lines.join('')).toBe('ready http://127.0.0.1:4000/graphql\n');
  const demo = viewOf(false);
  demo.view.ready({ url: 'http://127.0.0.1:4000/graphql', demo: true, queries: ['# Say hello.\n{ hello }\n'] });
  const text = demo.lines.join('');
  expect(text).toContain('DEMO');
  expect(text).toContain('# Say hello.\n{ hello }\n');
  expect(text).toMatch(/ready http:\/\/127\.0\.0\.1:4000\/graphql\n$/);
});

test('logs JSON lines for programs', () => {
  const lines: string[] = [];
  const log = createProcessLog({ level: 'info', write: (line) => lines.push(line), isTerminal: false });
  log.debug({}, 'too fine');
  log.warn({ cluster: 'north', fault: 'UNREACHABLE' }, 'a cluster has changed');
  log.error({ error: new TypeError('odd') }, 'a bug');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      cluster: 'north',
      fault: 'UNREACHABLE',
      msg: 'a cluster has changed',
    },
    {
      level: 'error',
      time: expect.any(String),
      error: expect.objectContaining({ type: 'TypeError', message: 'odd', stack: expect.any(String) }),
      msg: 'a bug',
    },
  ]);
});

test('logs readable lines on a terminal', () => {
  const lines: string[] = [];
  const log = createProcessLog({ level: 'debug', write: (line) => lines.push(line), isTerminal: true });
  log.warn({ cluster: 'north', faults: [1] }, 'a cluster has changed');
  log.error({ error: new TypeError('odd') }, 'a bug');
  expect(lines[0]).toMatch(
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d ${esc}\\[33mwarn ${esc}\\[0m a cluster has changed  cluster=north  faults=\\[1\\]\\n$`),
  );
  expect(lines[1]).toContain('TypeError: odd\n    at ');
});

test('can leave out faults, which the command prints with its answer', () => {
  const lines: string[] = [];
  const log = withQuietFaults(createProcessLog({ level: 'warn', write: (line) => lines.push(line), isTerminal: false }));
  log.warn({ cluster: 'north', fault: 'UNREACHABLE' }, 'a cluster has changed');
  log.warn({ problem: 'odd' }, 'the kubeconfig has become unreadable');
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['the kubeconfig has become unreadable']);
});
