import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createTerminal } from '../../../src/cli/output/terminal.ts';
import { createScreen } from '../../support/cli/screen.ts';

/** Creates a stream like stdout of a process. Written text goes to `onText`. */
function stream(
  onText: (text: string) => void,
  parts: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number } = {},
) {
  const through = new PassThrough({ encoding: 'utf8' });
  through.on('data', onText);
  const write = through.write.bind(through);
  return Object.assign(through, { hasColors: () => true, write, ...parts }) as unknown as NodeJS.WriteStream;
}

/** A terminal that shows both streams. */
function onScreen(term?: string) {
  const size = { columns: 40, rows: 8 };
  const screen = createScreen(size);
  const both = () => stream((text) => screen.write(text), { isTTY: true, ...size });
  const stdout = both();
  return { screen, stdout, terminal: createTerminal({ stdin: stdinOf(''), stdout, stderr: both(), term }) };
}

async function* stdinOf(...chunks: readonly string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const settledStreams = () => new Promise((resolve) => setImmediate(resolve));

test('prints messages above a drawn table, which stays complete', async () => {
  const { screen, terminal } = onScreen();
  terminal.draw(['NAME   AGE', 'web    1s']);
  await settledStreams();
  terminal.err('warning: south is down\n');
  await settledStreams();
  terminal.draw(['NAME   AGE', 'web    2s']);
  await settledStreams();
  expect(screen.lines).toEqual(['warning: south is down', 'NAME   AGE', 'web    2s']);
  expect(screen.isCursorHidden).toBe(true);
  terminal.settle();
  terminal.settle();
  await settledStreams();
  expect(screen.lines).toEqual(['warning: south is down', 'NAME   AGE', 'web    2s', '']);
  expect(screen.isCursorHidden).toBe(false);
});

test('clears the status line for messages, and leaves nothing of it', async () => {
  const { screen, terminal } = onScreen();
  terminal.status('starting: 1 of 3');
  terminal.err('warning: odd\n');
  terminal.status('starting: 2 of 3');
  await settledStreams();
  expect(screen.lines).toEqual(['warning: odd', 'starting: 2 of 3']);
  terminal.status('');
  await settledStreams();
  expect(screen.lines).toEqual(['warning: odd', '']);
});

test('reports its size and changes of it, until the signal aborts', () => {
  const { stdout, terminal } = onScreen();
  const life = new AbortController();
  let changes = 0;
  terminal.onResize(() => changes++, life.signal);
  expect(terminal.size()).toEqual({ columns: 40, rows: 8 });
  stdout.emit('resize');
  life.abort();
  stdout.emit('resize');
  expect(changes).toBe(1);
  expect(stdout.listenerCount('resize')).toBe(0);
});

test('neither draws nor colors a pipe, and does not draw on a dumb terminal', () => {
  const texts: string[] = [];
  const pipe = createTerminal({
    stdin: stdinOf(),
    stdout: stream((text) => texts.push(text)),
    stderr: stream((text) => texts.push(text)),
    term: 'xterm',
  });
  expect([pipe.isInteractive, pipe.isWatched, pipe.hasColor, pipe.size()]).toEqual([false, false, false, { columns: 80, rows: 24 }]);
  expect(onScreen('dumb').terminal.isInteractive).toBe(false);
});

test('resolves a write only when there is room', async () => {
  const stdout = new PassThrough({ highWaterMark: 8 });
  const terminal = createTerminal({
    stdin: stdinOf(),
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stream(() => undefined),
    term: undefined,
  });
  await terminal.out('short');
  let isWritten = false;
  const written = terminal.out('much longer than that').then(() => {
    isWritten = true;
  });
  await settledStreams();
  expect(isWritten).toBe(false);
  stdout.resume();
  await written;
});

test('reads all of standard input as whole characters', async () => {
  const bytes = Buffer.from('{ größe }');
  async function* stdin() {
    yield bytes.subarray(0, 5);
    yield bytes.subarray(5);
  }
  const terminal = createTerminal({ stdin: stdin(), stdout: stream(() => undefined), stderr: stream(() => undefined), term: undefined });
  expect(await terminal.readInput()).toBe('{ größe }');
});
