import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSchema } from 'graphql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { offlineSchema } from '../../src/graph/offline-schema.ts';
import type { GroupRules } from '../../src/load/catalog/group-filter.ts';
import { convertDefinition } from '../../src/model/convert-definition.ts';
import { dayOf, printSchemaLock } from '../../src/model/schema-lock.ts';
import { fixtureDefinition } from '../support/graph/corpus.ts';
import { createManualClock } from '../support/manual-clock.ts';

let folder: string;
let file: string;
const clock = createManualClock();
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-lock-'));
  file = path.join(folder, 'schema.json');
});
afterEach(() => rm(folder, { recursive: true }));

const printed = (groups: GroupRules = {}) => offlineSchema({ file, groups, clock, log: silentLog });
const committed = () => readFile(new URL('../../schema/muster.graphql', import.meta.url), 'utf8');

async function rememberWidgets(): Promise<void> {
  const schema = convertDefinition(fixtureDefinition('widgets-north'));
  const kinds = new Map([[`${schema.kind}.${schema.group}`, { schema, servedOn: dayOf(clock.now()) }]]);
  await writeFile(file, printSchemaLock({ kinds, prefixes: new Map([[schema.group, 'Ours']]) }));
}

test('without a lock file, the schema is the committed one', async () => {
  expect(await printed()).toBe(await committed());
});

test('remembered kinds keep their names, unless their groups are left out', async () => {
  await rememberWidgets();
  const schema = buildSchema(await printed());
  expect(schema.getType('OursWidget')).toBeDefined();
  expect(schema.getQueryType()?.getFields()).toHaveProperty('oursWidgets');
  expect(await printed({ deny: ['*'] })).toBe(await committed());
});

test('a broken lock file is refused, and left as it is', async () => {
  await writeFile(file, '{');
  await expect(printed()).rejects.toThrow(`the schema lock file ${file} cannot be read: it is no JSON`);
  expect(await readdir(folder)).toEqual(['schema.json']);
});
