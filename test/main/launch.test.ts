import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** A Node of this machine that is too old for main, but new enough for npm. */
const old = (process.env.PATH ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'node'))
  .find((node) => {
    const major = majorOf(node);
    return major >= 20 && major < 24;
  });

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** The text of a main that only a newer Node can parse, and that prints its environment. */
const main = `
  await using nothing = { [Symbol.asyncDispose]: async () => undefined };
  const [how, ...rest] = process.argv.slice(2);
  if (how === 'wait') process.on('SIGTERM', () => process.exit(7));
  console.log(JSON.stringify([Number.parseInt(process.versions.node) >= 24, how, ...rest]));
  if (how === 'exit') process.exitCode = Number(rest[0]);
  if (how === 'wait') setInterval(() => undefined, 60_000);
  if (how === 'die') process.kill(process.pid, 'SIGKILL');
`;

let folder: string;
/** The folder of the installed package. */
let muster: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-launch-'));
  muster = path.join(folder, 'node_modules/muster');
  mkdirSync(path.join(muster, 'dist'), { recursive: true });
  mkdirSync(path.join(muster, 'bin'));
  writeFileSync(path.join(muster, 'bin/muster.js'), readFileSync(path.join(import.meta.dirname, '../../bin/muster.js')));
  writeFileSync(path.join(muster, 'dist/main.js'), main);
  writeFileSync(path.join(muster, 'package.json'), readFileSync(path.join(import.meta.dirname, '../../package.json')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Installs this process's Node where npm installs that of the packages. */
function install(into: string): void {
  const name = nameOfRuntime();
  const bin = path.join(into, 'node_modules', name, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(path.join(bin, '../package.json'), JSON.stringify({ name, bin: { node: 'bin/node' } }));
  symlinkSync(process.execPath, path.join(bin, 'node'));
}

function launch(node: string, ...args: readonly string[]) {
  const env = { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache') };
  return follow(spawn(node, [path.join(muster, 'bin/muster.js'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Collects the output and the exit code of a process. */
function follow(child: ChildProcessByStdio<null, Readable, Readable>) {
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    texts.err += text;
  });
  return { child, texts, ended: once(child, 'close').then(([code, signal]) => ({ ...texts, end: code ?? signal })) };
}

test('a Node that is new enough runs main itself', async () => {
  expect(await launch(process.execPath, 'exit', '3').ended).toEqual({ out: '[true,"exit","3"]\n', err: '', end: 3 });
});

test.skipIf(old === undefined)(
  'an older Node runs the Node of the packages, next to Muster or in a folder above, and ends with its exit code',
  async () => {
    install(folder);
    expect(await launch(old ?? '', 'exit', '3', 'a b', '--c').ended).toEqual({ out: '[true,"exit","3","a b","--c"]\n', err: '', end: 3 });
    rmSync(path.join(folder, 'node_modules', nameOfRuntime()), { recursive: true });
    install(muster);
    expect(await launch(old ?? '', 'exit', '0').ended).toEqual({ out: '[true,"exit","0"]\n', err: '', end: 0 });
    expect(await launch(old ?? '', 'die').ended).toEqual({ out: '[true,"die"]\n', err: '', end: 'SIGKILL' });
  },
);

test('keeps the compiled modules of a start in the cache folder of the user', async () => {
  await launch(process.execPath, 'exit', '0').ended;
  expect(readdirSync(path.join(folder, 'cache/muster/compiled'), { recursive: true })).toContainEqual(
    expect.stringMatching(/[0-9a-f]{8}$/),
  );
});

test('starts without a cache if its folder cannot be made', async () => {
  writeFileSync(path.join(folder, 'cache'), '');
  expect(await launch(process.execPath, 'exit', '3').ended).toEqual({ out: '[true,"exit","3"]\n', err: '', end: 3 });
});

test.skipIf(old === undefined)('keeps the compiled modules also when an older Node starts main', async () => {
  install(folder);
  await launch(old ?? '', 'exit', '0').ended;
  expect(readdirSync(path.join(folder, 'cache/muster'))).toEqual(['compiled']);
});

test.skipIf(old === undefined)('a signal to the older one is one to main', async () => {
  install(folder);
  const { child, texts, ended } = launch(old ?? '', 'wait');
  while (!texts.out.includes('wait')) await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect((await ended).end).toBe(7);
});

test.skipIf(old === undefined)(
  'an older Node prints in one line what is missing, also if the Node of the packages cannot run',
  async () => {
    const line = /^muster needs Node 24 or newer, this is v2\d\.\d+\.\d+\n$/;
    expect(await launch(old ?? '', 'exit', '0').ended).toEqual({ out: '', err: expect.stringMatching(line), end: 2 });
    install(folder);
    const runtime = path.join(folder, 'node_modules', nameOfRuntime(), 'bin/node');
    for (const [text, mode] of [['no program', 0o644] as const, ['\x7fELF\x02\x01\x01)(', 0o755] as const]) {
      rmSync(runtime);
      writeFileSync(runtime, text, { mode });
      expect(await launch(old ?? '', 'exit', '0').ended).toEqual({ out: '', err: expect.stringMatching(line), end: 2 });
    }
  },
);

/** Runs `npm start` of a checkout as npm does. The Node of the package is `own`, and the folder of the packages is first on the PATH. */
function start(own: string): ReturnType<typeof launch> {
  const { scripts } = JSON.parse(readFileSync(path.join(muster, 'package.json'), 'utf8'));
  const folders = [path.join(muster, 'node_modules/.bin'), path.dirname(own), '/usr/bin', '/bin'];
  const env = { PATH: folders.join(path.delimiter), npm_node_execpath: own, XDG_CACHE_HOME: path.join(folder, 'cache') };
  return follow(spawn('sh', ['-c', `${scripts.start} exit 3`], { cwd: muster, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

describe.skipIf(old === undefined || process.platform === 'win32')('npm start where the Node of the packages cannot run', () => {
  const programs = [
    ['is missing', undefined],
    ['is for another platform', { text: '\x7fELF\x02\x01\x01)(', mode: 0o755 }],
    ['needs a loader that is missing', { text: '#!/lib/no-such-loader\n', mode: 0o755 }],
    ['may not be executed', { text: 'no program', mode: 0o644 }],
  ] as const;

  beforeEach(() => {
    // Node does not strip types below node_modules.
    const checkout = path.join(folder, 'checkout');
    cpSync(muster, checkout, { recursive: true });
    muster = checkout;
    mkdirSync(path.join(muster, 'src'));
    mkdirSync(path.join(muster, 'scripts'));
    mkdirSync(path.join(muster, 'node_modules/.bin'), { recursive: true });
    writeFileSync(path.join(muster, 'src/main.ts'), main);
    for (const script of ['on-node', 'console.ts'])
      cpSync(path.join(import.meta.dirname, '../../scripts', script), path.join(muster, 'scripts', script));
    // The console is built, so that the start need not build it.
    mkdirSync(path.join(muster, 'dist/console'));
    writeFileSync(path.join(muster, 'dist/console/index.html'), '');
  });

  test.each(programs)('and %s: runs on a good Node of the machine', async (_, program) => {
    if (program !== undefined) writeFileSync(path.join(muster, 'node_modules/.bin/node'), program.text, { mode: program.mode });
    expect(await start(process.execPath).ended).toEqual({ out: '[true,"exit","3"]\n', err: '', end: 3 });
  });

  test.each(programs)('and %s: says in one line which Node it needs if the machine has an old one', async (_, program) => {
    if (program !== undefined) writeFileSync(path.join(muster, 'node_modules/.bin/node'), program.text, { mode: program.mode });
    const line = /^muster needs Node 24 or newer: .* cannot run here .*, and the machine's is v2\d\.\d+\.\d+\n$/;
    expect(await start(old ?? '').ended).toEqual({ out: '', err: expect.stringMatching(line), end: 2 });
  });

  test('runs on the Node of the packages where it can, whatever the machine has, and keeps the compiled modules', async () => {
    symlinkSync(process.execPath, path.join(muster, 'node_modules/.bin/node'));
    expect(await start(old ?? '').ended).toEqual({ out: '[true,"exit","3"]\n', err: '', end: 3 });
    expect(readdirSync(path.join(folder, 'cache/muster/compiled'))).not.toEqual([]);
  });
});

describe('a checkout', () => {
  const [old, recent] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')];
  let source: string;
  let built: string;

  beforeEach(() => {
    // Node does not strip types below node_modules, and `npm link` creates no copy there.
    const checkout = path.join(folder, 'checkout');
    cpSync(muster, checkout, { recursive: true });
    muster = checkout;
    [source, built] = [path.join(muster, 'src/main.ts'), path.join(muster, 'dist/main.js')];
    mkdirSync(path.join(muster, 'src/cli'), { recursive: true });
    writeFileSync(source, `const typed: boolean = true;\n${main.replace('[Number', "['source', Number")}`);
    writeFileSync(path.join(muster, 'src/cli/program.ts'), '');
    for (const name of ['cli/program.ts', 'main.ts', 'cli', '']) utimesSync(path.join(muster, 'src', name), old, old);
    utimesSync(built, recent, recent);
  });

  const byBuild = { out: '[true,"exit","3"]\n', err: '', end: 3 };
  const bySource = { out: '["source",true,"exit","3"]\n', err: '', end: 3 };

  test('without a build runs its source', async () => {
    rmSync(path.join(muster, 'dist'), { recursive: true });
    expect(await launch(process.execPath, 'exit', '3').ended).toEqual(bySource);
  });

  test('with a build that is newer than all of its source runs the build', async () => {
    expect(await launch(process.execPath, 'exit', '3').ended).toEqual(byBuild);
  });

  test.each(['main.ts', 'cli/program.ts', 'cli'])('with a build that is older than src/%s runs its source', async (name) => {
    utimesSync(path.join(muster, 'src', name), recent, new Date('2026-01-03T00:00:00Z'));
    expect(await launch(process.execPath, 'exit', '3').ended).toEqual(bySource);
  });

  test('with a newer source of the console alone runs the build, because the console has a build of its own', async () => {
    mkdirSync(path.join(muster, 'src/console'));
    utimesSync(path.join(muster, 'src'), old, old);
    expect(await launch(process.execPath, 'exit', '3').ended).toEqual(byBuild);
  });
});

test('the commands of the package are the launcher', () => {
  const { bin } = JSON.parse(readFileSync(path.join(muster, 'package.json'), 'utf8'));
  expect(bin).toEqual({
    muster: 'bin/muster.js',
    'kubectl-muster': 'bin/muster.js',
    'kubectl_complete-muster': 'bin/kubectl_complete-muster.js',
  });
});

function nameOfRuntime(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(muster, 'package.json'), 'utf8'));
  return Object.keys(optionalDependencies).find((name) => name.endsWith(platform)) ?? '';
}

function majorOf(node: string): number {
  try {
    return Number.parseInt(
      execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      10,
    );
  } catch {
    return 0;
  }
}
