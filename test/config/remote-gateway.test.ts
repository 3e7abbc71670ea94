import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { remoteGateway } from '../../src/config/remote-gateway.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'muster-remote-'));
  await writeFile(path.join(directory, 'token'), 'correct-horse\n');
  await writeFile(path.join(directory, 'short'), 'x\n');
});
afterAll(() => rm(directory, { recursive: true }));

const read = (flags: { gateway?: string; tokenFile?: string }, environment: Record<string, string> = {}) =>
  remoteGateway({ flags, environment, directory });

test.each([
  ['http://127.0.0.1:4000/graphql', 'http://127.0.0.1:4000/graphql'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/graphql'],
  ['127.0.0.1:4000', 'http://127.0.0.1:4000/graphql'],
  ['4000', 'http://127.0.0.1:4000/graphql'],
  [':4000', 'http://127.0.0.1:4000/graphql'],
  ['4000/', 'http://127.0.0.1:4000/graphql'],
  ['http://127.0.0.1:4000/', 'http://127.0.0.1:4000/graphql'],
  ['http://127.0.0.1:4000/graphql/', 'http://127.0.0.1:4000/graphql'],
  ['https://muster.example.com/team/graphql//', 'https://muster.example.com/team/graphql'],
  ['localhost:4000/', 'http://localhost:4000/graphql'],
  ['https://muster.example.com/team/graphql#top', 'https://muster.example.com/team/graphql'],
])('%s is %s', async (gateway, url) => {
  expect(await read({ gateway })).toEqual({ url });
});

test('a flag wins over the environment, and nothing named is no gateway', async () => {
  expect(await read({ gateway: '127.0.0.1:1' }, { MUSTER_GATEWAY: '127.0.0.1:2' })).toEqual({ url: 'http://127.0.0.1:1/graphql' });
  expect(await read({}, { MUSTER_GATEWAY: '127.0.0.1:2' })).toEqual({ url: 'http://127.0.0.1:2/graphql' });
  expect(await read({}, { MUSTER_GATEWAY: '' })).toBeUndefined();
  expect(await read({}, { MUSTER_TOKEN_FILE: 'nowhere' })).toBeUndefined();
});

test('with the token of its file', async () => {
  const gateway = '127.0.0.1:1';
  const tokenOf = async (...args: Parameters<typeof read>) => (await read(...args))?.token?.();
  expect(await tokenOf({ gateway, tokenFile: 'token' })).toBe('correct-horse');
  expect(await tokenOf({ gateway }, { MUSTER_TOKEN_FILE: 'token', MUSTER_TOKEN: 'battery-staple' })).toBe('correct-horse');
  expect(await tokenOf({ gateway }, { MUSTER_TOKEN: 'battery-staple\n' })).toBe('battery-staple');
  expect(await tokenOf({ gateway }, { MUSTER_TOKEN: '' })).toBeUndefined();
  await expect(read({ gateway }, { MUSTER_TOKEN: 'two words' })).rejects.toThrow('MUSTER_TOKEN: expected 8 to 12288 visible characters');
});

test('the token file is read again for each request', async () => {
  await writeFile(path.join(directory, 'renewed'), 'first-token');
  const found = await read({ gateway: '127.0.0.1:1', tokenFile: 'renewed' });
  await writeFile(path.join(directory, 'renewed'), 'second-token');
  expect(await found?.token?.()).toBe('second-token');
});

test.each([
  [{ gateway: 'ftp://x' }, '--gateway: expected a URL such as http://127.0.0.1:4000/graphql, got "ftp://x"'],
  [{ gateway: '' }, '--gateway: expected a URL such as http://127.0.0.1:4000/graphql, got ""'],
  // A token in a URL ends up in logs.
  [{ gateway: 'http://me:secret@host' }, '--gateway: expected a URL without user and query: a token is read from --token-file'],
  [{ gateway: 'http://host/graphql?token=secret' }, '--gateway: expected a URL without user and query: a token is read from --token-file'],
  [{ tokenFile: 'token' }, '--token-file is for a running gateway: expected --gateway with it'],
  [{ gateway: '127.0.0.1:1', tokenFile: 'nowhere' }, /there is no such file/],
  [{ gateway: '127.0.0.1:1', tokenFile: 'short' }, /expected 8 to 12288 visible characters/],
])('refuses %j', async (flags, message) => {
  await expect(read(flags)).rejects.toMatchObject({ code: 'BAD_INPUT', message: expect.stringMatching(message) });
});
