import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSealKey } from '../../src/config/state-key.ts';
import { readToken } from '../../src/config/token.ts';
import { silentLog } from '../../src/core/log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-state-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const warnings: object[] = [];
const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
beforeEach(() => warnings.splice(0));
const keyOf = (sources: Parameters<typeof readSealKey>[0]) => readSealKey(sources, log);
const hex = (key: Uint8Array) => Buffer.from(key).toString('hex');

test('the key is made once, for its owner only, and kept', async () => {
  const stateDirectory = path.join(folder, 'state/muster');
  const key = await keyOf({ stateDirectory });
  expect(key).toHaveLength(32);
  expect((await stat(path.join(stateDirectory, 'key'))).mode & 0o777).toBe(0o600);
  expect(hex(await keyOf({ stateDirectory }))).toBe(hex(key));
  expect(await readdir(stateDirectory)).toEqual(['key']);
});

test('gateways that start at once get one key', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => keyOf({ stateDirectory: folder })));
  expect(new Set(keys.map(hex)).size).toBe(1);
});

test('a file that is not a key is an error and is not overwritten', async () => {
  await writeFile(path.join(folder, 'key'), 'short');
  await expect(keyOf({ stateDirectory: folder })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringMatching(/expected 32 bytes, got 5; without the file a new one is made$/),
  });
});

test('a folder that cannot be written is a warning, and the key is random', async () => {
  await writeFile(path.join(folder, 'file'), '');
  const stateDirectory = path.join(folder, 'file/muster');
  const [first, second] = [await keyOf({ stateDirectory }), await keyOf({ stateDirectory })];
  expect([first.length, hex(first) === hex(second)]).toEqual([32, false]);
  expect(warnings).toEqual([{ reason: 'ENOTDIR' }, { reason: 'ENOTDIR' }]);
});

test('gateways with one token file, or with one key file, have one key and need no state directory', async () => {
  const [tokenFile, keyFile] = [path.join(folder, 'token'), path.join(folder, 'secret')];
  await writeFile(tokenFile, 'correct-horse\n');
  await writeFile(keyFile, 'battery-staple');
  const stateDirectory = path.join(folder, 'none');
  const ofToken = await keyOf({ tokenFile, stateDirectory });
  await writeFile(tokenFile, 'correct-horse');
  expect(hex(await keyOf({ tokenFile, stateDirectory: folder }))).toBe(hex(ofToken));
  const ofFile = await keyOf({ keyFile, tokenFile, stateDirectory });
  expect(hex(await keyOf({ keyFile, stateDirectory }))).toBe(hex(ofFile));
  expect(hex(ofFile)).not.toBe(hex(ofToken));
  expect(Buffer.from(ofToken).toString('latin1')).not.toContain('correct-horse');
  expect(await readdir(folder)).toEqual(['secret', 'token']);
  expect(warnings).toEqual([]);
});

test.each([
  ['is missing', undefined, /key file .* cannot be read: ENOENT$/],
  ['is too short', 'short', /key file .*: expected at least 8 bytes, got 5$/],
])('a key file that %s is an error', async (_, text, message) => {
  const keyFile = path.join(folder, 'secret');
  if (text !== undefined) await writeFile(keyFile, text);
  await expect(keyOf({ keyFile, stateDirectory: folder })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringMatching(message),
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
