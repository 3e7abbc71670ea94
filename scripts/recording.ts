import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { startDemoGateway } from './demo-gateway.ts';

// Records commands over the embedded fleet as docs/guide/images/terminal.svg: `node scripts/recording.ts`. The texts are what the commands
// print. Lines appear as late as they came, but at most `maxPauseMs` after each other.

const file = 'docs/guide/images/terminal.svg';

interface RecordedCommand {
  readonly words: readonly string[];
  /** Only this many lines of the output are shown. Default: all. */
  readonly lines?: number;
  /** True: begins on an empty screen. */
  readonly clears?: boolean;
}

const commands: readonly RecordedCommand[] = [
  { words: ['clusters'] },
  { words: ['get', 'pods', '--where', "'restarts>0'", '--sort-by', 'restarts'] },
  { words: ['plan', '-f', 'deploy/examples/greeter.yaml'], lines: 4 },
  { words: ['propagate', '-f', 'deploy/examples/greeter.yaml', '--wait'], clears: true },
];

interface RecordedLine {
  readonly text: string;
  readonly atMs: number;
  readonly isCommand: boolean;
  /** The screen that shows the line, from 0. */
  readonly screen: number;
}

const [maxPauseMs, readingMs, typingMs] = [700, 2_500, 900];
const [lineHeight, padding, fontSize] = [20, 16, 14];
/** Width of a character of the monospaced fonts, as a share of the font size. */
const characterWidth = 0.602;

const tones: readonly (readonly [word: RegExp, tone: string])[] = [
  [/\b(SYNCED|Settled|settled)\b/g, 'good'],
  [/\b(CrashLoopBackOff|Error|UNREACHABLE|Failed)\b/g, 'bad'],
];

await using gateway = await startDemoGateway();
// The first answer of a kind needs its first list. A recording begins when the lists are there.
await print(['get', 'pods,deployments', '-o', 'name']);
const lines = await record();
await writeFile(file, drawing(lines));

async function record(): Promise<readonly RecordedLine[]> {
  const recorded: RecordedLine[] = [];
  let [atMs, screen] = [0, 0];
  for (const { words, lines: shown = Number.POSITIVE_INFINITY, clears = false } of commands) {
    if (clears) screen += 1;
    recorded.push({ text: `$ muster ${words.join(' ')}`, atMs, isCommand: true, screen });
    atMs += typingMs;
    const printed = await print(words.map((word) => word.replaceAll("'", '')));
    let beforeMs = printed[0]?.atMs ?? 0;
    for (const line of printed.slice(0, shown)) {
      atMs += Math.min(maxPauseMs, line.atMs - beforeMs);
      beforeMs = line.atMs;
      recorded.push({ text: line.text, atMs, isCommand: false, screen });
    }
    if (printed.length > shown) recorded.push({ text: '…', atMs, isCommand: false, screen });
    recorded.push({ text: '', atMs, isCommand: false, screen });
    atMs += readingMs;
  }
  return recorded;
}

/**
 * Runs a command. Resolves with the lines of its output and the time of each.
 *
 * @throws {Error} if the command fails.
 */
async function print(words: readonly string[]): Promise<readonly { readonly text: string; readonly atMs: number }[]> {
  const child = spawn(process.execPath, ['src/main.ts', ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, MUSTER_GATEWAY: gateway.origin },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const found: { text: string; atMs: number }[] = [];
  let rest = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop() ?? '';
    for (const text of parts) found.push({ text, atMs: performance.now() });
  }
  const code = await ended;
  if (code !== 0) throw new Error(`muster ${words.join(' ')} ended with ${code}`);
  return found;
}

/** Draws the screens. Each line is hidden until its time. The drawing repeats; a viewer without animation shows the first screen. */
function drawing(recorded: readonly RecordedLine[]): string {
  const screens = [...Map.groupBy(recorded, ({ screen }) => screen).values()];
  const columns = Math.max(...recorded.map(({ text }) => text.length));
  const width = Math.ceil(columns * fontSize * characterWidth) + 2 * padding;
  const height = Math.max(...screens.map((lines) => lines.length)) * lineHeight + padding;
  const totalMs = Math.ceil((recorded.at(-1)?.atMs ?? 0) + 2 * readingMs);
  const groups = screens.map((shown, index) => {
    const [fromMs, toMs] = [shown[0]?.atMs ?? 0, screens[index + 1]?.[0]?.atMs ?? totalMs];
    const visible = animated([0, fromMs, toMs], ['0', '1', '0'], totalMs);
    return `<g${index === 0 ? '' : ' opacity="0"'}>${visible}\n${shown.flatMap((line, row) => drawnLine(line, row, totalMs)).join('\n')}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>muster in a terminal: clusters, crashing Pods, a plan, and its propagation in waves</title>
<style>
text { font: ${fontSize}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #d7dde6 }
.command { fill: #ffffff; font-weight: 600 } .good { fill: #76cf92 } .bad { fill: #ff9c93 } .head { fill: #98a2b3 }
</style>
<rect width="100%" height="100%" rx="8" fill="#14171c"/>
${groups.join('\n')}
</svg>
`;
}

function drawnLine({ text, atMs, isCommand }: RecordedLine, row: number, totalMs: number): readonly string[] {
  if (text === '') return [];
  const at = `x="${padding}" y="${padding + (row + 0.75) * lineHeight}"`;
  return [`<text ${at}${isCommand ? ' class="command"' : ''}>${colored(text)}${animated([0, atMs], ['0', '1'], totalMs)}</text>`];
}

/** Animates the opacity: from each time on, it has the value at the same index. A later pair at time 0 replaces the first one. */
function animated(timesMs: readonly number[], values: readonly string[], totalMs: number): string {
  const pairs = timesMs.map((ms, index) => [ms / totalMs, values[index]] as const).filter(([share]) => share < 1);
  const used = pairs.filter(([share], index) => pairs[index + 1]?.[0] !== share);
  if (used.length < 2) return '';
  const keyTimes = used.map(([share]) => share.toFixed(4)).join(';');
  return `<animate attributeName="opacity" calcMode="discrete" dur="${totalMs}ms" repeatCount="indefinite" values="${used.map(([, value]) => value).join(';')}" keyTimes="${keyTimes}"/>`;
}

function colored(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (/^CLUSTER +/.test(escaped)) return `<tspan class="head">${escaped}</tspan>`;
  return tones.reduce((done, [word, tone]) => done.replaceAll(word, `<tspan class="${tone}">$1</tspan>`), escaped);
}
