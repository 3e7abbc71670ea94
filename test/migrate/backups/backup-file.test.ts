import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBackupFile } from '../../../src/migrate/backups/backup-file.ts';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-backups-')));
  for (const folder of ['one/below', 'two', 'outside']) await mkdir(path.join(root, folder), { recursive: true });
  for (const file of ['one/a.tar.gz', 'one/below/b.tar.gz', 'two/a.tar.gz', 'two/c.tar.gz', 'outside/secret.tar.gz', 'one..tar.gz'])
    await writeFile(path.join(root, file), file);
  await symlink(path.join(root, 'outside/secret.tar.gz'), path.join(root, 'one/to-secret'));
  await symlink(path.join(root, 'outside'), path.join(root, 'one/to-outside'));
  await symlink(path.join(root, 'outside/absent'), path.join(root, 'one/to-nothing'));
  await symlink('below/b.tar.gz', path.join(root, 'one/to-b'));
  await symlink(path.join(root, 'two/c.tar.gz'), path.join(root, 'one/to-c'));
  await symlink(path.join(root, 'one'), path.join(root, 'linked'));
  execFileSync('mkfifo', [path.join(root, 'one/pipe')]);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function contentOf(file: string, folders: readonly string[] = ['one', 'two', 'absent']): Promise<string> {
  const opened = await openBackupFile(
    file.replace('ROOT', root),
    folders.map((folder) => path.join(root, folder)),
  );
  if (opened.result !== 'opened') return opened.result;
  await using handle = opened.file;
  return handle.readFile('utf8');
}

test.each([
  ['a.tar.gz', 'one/a.tar.gz'],
  ['c.tar.gz', 'two/c.tar.gz'],
  ['below/b.tar.gz', 'one/below/b.tar.gz'],
  ['below/../a.tar.gz', 'one/a.tar.gz'],
  ['ROOT/one/a.tar.gz', 'one/a.tar.gz'],
  ['to-b', 'one/below/b.tar.gz'],
  ['to-c', 'two/c.tar.gz'],
  ['absent.tar.gz', 'absent'],
  ['a.tar.gz/x', 'absent'],
  ['below', 'absent'],
  ['pipe', 'absent'],
  ['to-nothing', 'absent'],
  ['to-secret', 'outside'],
  ['to-outside/secret.tar.gz', 'outside'],
  ['to-outside/../one/a.tar.gz', 'absent'],
  ['../outside/secret.tar.gz', 'outside'],
  ['../outside/absent', 'outside'],
  ['ROOT/outside/secret.tar.gz', 'outside'],
  ['../one..tar.gz', 'outside'],
  ['/etc/passwd', 'outside'],
  ['.', 'outside'],
])('%s is %s', async (file, expected) => {
  expect(await contentOf(file)).toBe(expected);
});

test('a folder may be a link itself, and without folders every file is outside', async () => {
  expect(await contentOf('a.tar.gz', ['linked'])).toBe('one/a.tar.gz');
  expect(await contentOf('a.tar.gz', [])).toBe('outside');
});
