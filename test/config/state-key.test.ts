import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readOrCreateStateKey } from '../../src/config/state-key.ts';
import { readToken } from '../../src/config/token.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-state-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the key is made once, for its owner only, and kept', async () => {
  const directory = path.join(folder, 'state/muster');
  const key = await readOrCreateStateKey(directory);
  expect(key).toHaveLength(32);
  expect((await stat(path.join(directory, 'key'))).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readOrCreateStateKey(directory)).equals(key)).toBe(true);
  expect(await readdir(directory)).toEqual(['key']);
});

test('gateways that start at once get one key', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => readOrCreateStateKey(folder)));
  expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
});

test('a file that is not a key is an error and is not overwritten', async () => {
  await writeFile(path.join(folder, 'key'), 'short');
  await expect(readOrCreateStateKey(folder)).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringMatching(/expected 32 bytes, got 5; without the file a new one is made$/),
  });
});

test('a folder without write access is an error', async () => {
  await writeFile(path.join(folder, 'file'), '');
  await expect(readOrCreateStateKey(path.join(folder, 'file/muster'))).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringContaining('ENOTDIR'),
  });
});

test('a token is read without the space around it', async () => {
  const file = path.join(folder, 'token');
  await writeFile(file, ' correct-horse\n');
  expect(await readToken(file)).toBe('correct-horse');
});

test.each(['', '\n', 'short', 'two words in it', 'ümlaut-token'])('%j is no token', async (text) => {
  const file = path.join(folder, 'token');
  await writeFile(file, text);
  await expect(readToken(file)).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringContaining('expected 8 to 12288 visible characters'),
  });
});

test('a missing token file is an error', async () => {
  await expect(readToken(path.join(folder, 'none'))).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringContaining('there is no such file'),
  });
});
