import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFileSink } from '../../src/audit/audit-sinks.ts';
import { openAudit } from '../../src/audit/open-audit.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-audit-'));
});
afterAll(() => rm(folder, { recursive: true }));

const bytes = (text: string) => Buffer.from(text);

test('appends to the file, which only its owner may read', async () => {
  const file = path.join(folder, 'new');
  await using sink = await openFileSink(file);
  await sink.write(bytes('a\n'));
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['a\n', 0o600]);
});

test('ends a torn line of an earlier process', async () => {
  const file = path.join(folder, 'torn');
  await writeFile(file, 'a\n{"half');
  await using sink = await openFileSink(file);
  await sink.write(bytes('b\n'));
  expect(await readFile(file, 'utf8')).toBe('a\n{"half\nb\n');
});

test('starts a new file after the old one was moved away', async () => {
  const file = path.join(folder, 'moved');
  await using sink = await openFileSink(file);
  await sink.write(bytes('a\n'));
  await rename(file, `${file}.1`);
  await sink.check();
  await sink.write(bytes('b\n'));
  expect([await readFile(`${file}.1`, 'utf8'), await readFile(file, 'utf8')]).toEqual(['a\n', 'b\n']);
});

test('refuses a file that cannot be written before the gateway starts', async () => {
  const settings = { configFile: '/etc/muster.yaml', output: process.stdout, clock: systemClock, log: silentLog };
  await expect(openAudit({ ...settings, audit: { file: '/dev/full' } })).rejects.toThrow(
    '/etc/muster.yaml: audit.file: expected a file that can be written, got ENOSPC',
  );
  await expect(openAudit({ ...settings, audit: { file: path.join(folder, 'none', 'file') } })).rejects.toMatchObject({ code: 'BAD_INPUT' });
});
