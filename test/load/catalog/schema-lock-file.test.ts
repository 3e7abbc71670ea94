import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openSchemaLock } from '../../../src/load/catalog/schema-lock-file.ts';
import { convertDefinition } from '../../../src/model/convert-definition.ts';
import { dayOf, emptySchemaLock, parseSchemaLock, printSchemaLock, type SchemaLock } from '../../../src/model/schema-lock.ts';
import { fixtureDefinition } from '../../support/graph/corpus.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';

let folder: string;
let file: string;
let clock: ManualClock;
let warned: string[];
let log: Log;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-lock-'));
  file = path.join(folder, 'state/schema.json');
  clock = createManualClock();
  warned = [];
  log = { ...silentLog, warn: (fields, message) => warned.push(`${message}: ${JSON.stringify(fields)}`) };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const openHere = () => openSchemaLock({ file, clock, log });
const kinds = async () => [...parseSchemaLock(JSON.parse(await readFile(file, 'utf8'))).kinds.keys()].sort();

/** One kind of a fixture, served now. */
function lockOf(fixture: string): SchemaLock {
  const schema = convertDefinition(fixtureDefinition(fixture));
  return { kinds: new Map([[`${schema.kind}.${schema.group}`, { schema, servedOn: dayOf(clock.now()) }]]), prefixes: new Map() };
}

async function remember(lock: SchemaLock): Promise<void> {
  await using opened = await openHere();
  opened.keep(() => lock)();
}

async function place(text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

describe('the lock of one run', () => {
  test('is read by the next one, is private, and leaves no temporary file', async () => {
    await remember(lockOf('widgets-north'));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    expect(await readdir(path.dirname(file))).toEqual(['schema.json']);
    await using next = await openHere();
    expect([...next.earlier.kinds]).toEqual([...lockOf('widgets-north').kinds]);
    expect([next.problem(), warned]).toEqual([undefined, []]);
  });

  test('is written seconds after changes, which are joined, and each hour', async () => {
    await using opened = await openHere();
    let made = 0;
    let lock = emptySchemaLock;
    const changed = opened.keep(() => {
      made++;
      return lock;
    });
    lock = lockOf('widgets-north');
    for (let call = 0; call < 5; call++) changed();
    await clock.advance(1_999);
    expect(made).toBe(0);
    await clock.advance(1);
    await expect.poll(() => readdir(path.dirname(file)).catch(() => [])).toEqual(['schema.json']);
    expect(made).toBe(1);
    await expect.poll(() => clock.sleepers).toBe(2);
    await clock.advance(2_000);
    await expect.poll(() => made).toBe(2);
    await clock.advance(3_590_000);
    expect(made).toBe(2);
    await clock.advance(20_000);
    await expect.poll(() => made).toBe(3);
  });

  test('is not written again if nothing changed', async () => {
    await remember(lockOf('widgets-north'));
    const before = await stat(file);
    await remember(lockOf('widgets-north'));
    expect((await stat(file)).ino).toBe(before.ino);
    clock.jump(86_400_000);
    await remember(lockOf('widgets-north'));
    expect((await stat(file)).ino, 'the day is another').not.toBe(before.ino);
  });

  test('is forgotten after 30 days without a cluster that serves it', async () => {
    await remember(lockOf('widgets-north'));
    clock.jump(30 * 86_400_000);
    await using soon = await openHere();
    expect(soon.earlier.kinds.size).toBe(1);
    clock.jump(86_400_000);
    await using late = await openHere();
    expect(late.earlier.kinds.size).toBe(0);
    await remember(lockOf('machines'));
    expect(await kinds()).toEqual([...lockOf('machines').kinds.keys()]);
  });

  test('creates no file without custom kinds', async () => {
    await remember(emptySchemaLock);
    expect(await readdir(folder)).toEqual([]);
  });
});

test('two gateways with one file keep the kinds of both', async () => {
  await using first = await openHere();
  await using second = await openHere();
  const [north, machines] = [lockOf('widgets-north'), lockOf('machines')];
  first.keep(() => north)();
  second.keep(() => machines)();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  expect(await kinds()).toEqual([...north.kinds.keys(), ...machines.kinds.keys()].sort());
});

test('a lock that another gateway has overwritten is written again seconds later', async () => {
  await using first = await openHere();
  const [north, machines] = [lockOf('widgets-north'), lockOf('machines')];
  first.keep(() => north)();
  await clock.advance(2_000);
  await expect.poll(() => clock.sleepers).toBe(2);
  await place(printSchemaLock(machines));
  await clock.advance(2_000);
  await expect.poll(kinds).toEqual([...north.kinds.keys(), ...machines.kinds.keys()].sort());
});

describe('a file that is', () => {
  test.each([
    ['no JSON', '{"apiVersion":'],
    ['no lock', '{"kinds":[]}'],
    ['of a kind that cannot be', printSchemaLock(emptySchemaLock).replace('"kinds":[\n', '"kinds":[7')],
    ['nested without end', '['.repeat(200_000)],
  ])('%s is moved aside unchanged, reported, and replaced by a new lock', async (_, text) => {
    await place(text);
    await using opened = await openHere();
    expect(opened.earlier).toEqual(emptySchemaLock);
    expect(opened.problem()).toMatch(/^the schema lock file was broken \(.+\) and has been set aside/);
    expect(opened.problem()).not.toContain(folder);
    expect(warned).toEqual([
      expect.stringMatching(/^the schema lock file is broken, and has been set aside: .*schema\.json\.broken-20260101T/),
    ]);
    opened.keep(() => lockOf('machines'))();
    await opened[Symbol.asyncDispose]();
    const [ours, aside = ''] = (await readdir(path.dirname(file))).sort();
    expect(ours).toBe('schema.json');
    expect(await readFile(path.join(path.dirname(file), aside), 'utf8')).toBe(text);
    expect(await kinds()).toEqual([...lockOf('machines').kinds.keys()]);
  });

  test('of a newer release is left as it is, also later', async () => {
    const text = printSchemaLock(lockOf('widgets-north')).replace('muster.dev/v1', 'muster.dev/v2');
    await place(text);
    await remember(lockOf('machines'));
    await using opened = await openHere();
    expect(opened.problem()).toMatch(/^the schema lock file could not be read \(.*schema-lock\.muster\.dev\/v1\)/);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await readdir(path.dirname(file))).toEqual(['schema.json']);
  });

  test('a directory is reported, and nothing fails', async () => {
    await mkdir(file, { recursive: true });
    await using opened = await openHere();
    opened.keep(() => lockOf('machines'))();
    expect(opened.problem()).toContain('could not be read (EISDIR)');
    await opened[Symbol.asyncDispose]();
    expect(await readdir(file)).toEqual([]);
  });

  test('unreadable for a while is left as it is, and joined later', async () => {
    await remember(lockOf('widgets-north'));
    const aside = `${file}.aside`;
    await using opened = await openHere();
    const changed = opened.keep(() => lockOf('machines'));
    await rename(file, aside);
    await mkdir(file);
    changed();
    await clock.advance(2_000);
    await expect.poll(() => opened.problem()).toMatch(/^the schema lock file cannot be written \(EISDIR\)/);
    await rmdir(file);
    await rename(aside, file);
    await clock.advance(3_600_000 + 10_000);
    await expect.poll(() => opened.problem()).toBeUndefined();
    expect(await kinds()).toEqual([...lockOf('widgets-north').kinds.keys(), ...lockOf('machines').kinds.keys()].sort());
  });

  test('unreadable at the start is written at the end', async () => {
    await mkdir(file, { recursive: true });
    const opened = await openHere();
    opened.keep(() => lockOf('machines'))();
    await clock.advance(2_000);
    await expect.poll(() => opened.problem()).toMatch(/could not be read \(EISDIR\).*; .*cannot be written \(EISDIR\)/);
    await rmdir(file);
    await opened[Symbol.asyncDispose]();
    expect(await kinds()).toEqual([...lockOf('machines').kinds.keys()]);
    expect(opened.problem(), 'what it held is missing in this run').toMatch(/^the schema lock file could not be read \(EISDIR\)[^;]*$/);
  });

  test.skipIf(process.getuid?.() === 0)('that cannot be written is reported until it can be written', async () => {
    await mkdir(path.dirname(file));
    await chmod(path.dirname(file), 0o500);
    await using opened = await openHere();
    const changed = opened.keep(() => lockOf('machines'));
    changed();
    await clock.advance(2_000);
    await expect.poll(() => opened.problem()).toMatch(/^the schema lock file cannot be written \(EACCES\)/);
    await chmod(path.dirname(file), 0o700);
    changed();
    await clock.advance(2_000);
    await expect.poll(() => opened.problem()).toBeUndefined();
  });

  test('under a file instead of a directory is reported when it is written', async () => {
    await writeFile(path.join(folder, 'state'), '');
    await using opened = await openHere();
    opened.keep(() => lockOf('machines'))();
    await opened[Symbol.asyncDispose]();
    expect(opened.problem()).toMatch(/cannot be written \(ENOTDIR\)/);
  });
});
