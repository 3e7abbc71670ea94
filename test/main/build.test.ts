import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const repository = path.join(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-build-'));
  await build({
    configFile: path.join(repository, 'vite.program.config.ts'),
    root: repository,
    logLevel: 'error',
    build: { outDir: path.join(folder, 'dist') },
  });
  for (const name of ['bin', 'schema', 'package.json']) cpSync(path.join(repository, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function muster(...args: readonly string[]): string {
  const env = { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache'), XDG_STATE_HOME: path.join(folder, 'state') };
  return execFileSync(process.execPath, [path.join(folder, 'bin/muster.js'), ...args], { encoding: 'utf8', env });
}

test('the built program finds the files of the package', () => {
  const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { readonly version: string };
  expect(muster('--version')).toBe(`${version}\n`);
  // Made from schema/kubernetes.json.
  expect(muster('schema')).toContain('type Deployment ');
});

test('the built program imports no module of Node at its start, as an import reads all exports', () => {
  const files = readdirSync(path.join(folder, 'dist')).filter((name) => name.endsWith('.js'));
  const imports = files.flatMap((name) => readFileSync(path.join(folder, 'dist', name), 'utf8').match(/^import .*"node:.*$/gm) ?? []);
  expect(files).toContain('main.js');
  expect(imports).toEqual([]);
});

test('the modules of list and of completion are in one file, because each file of a start takes time', () => {
  const [file = '', ...others] = readdirSync(path.join(folder, 'dist')).filter((name) => name.startsWith('everyday-'));
  expect(others).toEqual([]);
  const text = readFileSync(path.join(folder, 'dist', file), 'utf8');
  expect(text).toContain('function addListCommand(');
  expect(text).toContain('function runCompletion(');
  expect(text.match(/^import .*$/gm)).toBe(null);
});

test('the build contains the licenses of its packages', () => {
  expect(readFileSync(path.join(folder, 'dist/licenses.md'), 'utf8')).toMatch(/## commander .*## graphql-ws /s);
});
