import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli, startCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-query-'));
  gateway = await startGateway({ north: [] });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function ask(document: string, ...args: string[]) {
  const file = path.join(folder, 'query.graphql');
  await writeFile(file, document);
  return runCli(gateway, ['query', file, ...args]);
}

test('executes the document of a file, and prints the answer', async () => {
  expect(await ask('{ clusters { name } }')).toEqual({
    code: 0,
    out: `${JSON.stringify({ data: { clusters: [{ name: 'north' }] } }, null, 2)}\n`,
    err: '',
  });
});

test('executes the document of standard input', async () => {
  const { code, out } = await runCli(gateway, ['query', '-'], { input: '{ gateway { demo } }' });
  expect([code, JSON.parse(out)]).toEqual([0, { data: { gateway: { demo: false } } }]);
});

test('parses variables as JSON, else takes them as text', async () => {
  const document =
    'query ($names: [String!], $labels: String, $first: Int!) { clusters(names: $names, labels: $labels) { name } pods(first: $first) { totalCount } }';
  const { code, out } = await ask(document, '--var', 'names=["north"]', '--var', 'labels=!x', '--var', 'first=3');
  expect([code, JSON.parse(out)]).toEqual([0, { data: { clusters: [{ name: 'north' }], pods: { totalCount: 0 } } }]);
});

test('prints each message of a subscription on a line, until it is interrupted', async () => {
  const file = path.join(folder, 'live.graphql');
  await writeFile(file, 'query One { clusters { name } } subscription Two { pods { type cluster { name } } }');
  const running = startCli(gateway, ['query', file, '--operation', 'Two']);
  await running.until(({ written }) => written.includes('SYNCED'));
  running.stop();
  await running.ended();
  expect(running.terminal.told).toBe('');
  const types = running.terminal.written
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).data.pods.type);
  expect(types).toContain('SYNCED');
});

test('reads the JSON of a file for a variable after @', async () => {
  const names = path.join(folder, 'names.json');
  await writeFile(names, '["north"]');
  const document = 'query ($names: [String!]) { clusters(names: $names) { name } }';
  expect((await ask(document, '--var', `names=@${names}`)).code).toBe(0);
  await writeFile(names, '{');
  const broken = await ask(document, '--var', `names=@${names}`);
  expect([broken.code, broken.err]).toEqual([2, expect.stringContaining(`expected JSON in ${names}`)]);
});

test.each([
  ['JSON', '{\n\t"names": ["north"],\n\t"first": 3\n}'],
  ['YAML', 'names: [north]\nfirst: 3\n'],
])('--vars reads variables from a file of %s, and --var wins over it', async (_, text) => {
  const file = path.join(folder, 'variables');
  await writeFile(file, text);
  const document = 'query ($names: [String!], $first: Int!) { clusters(names: $names) { name } pods(first: $first) { totalCount } }';
  const { code, out } = await ask(document, '--vars', file);
  expect([code, JSON.parse(out)]).toEqual([0, { data: { clusters: [{ name: 'north' }], pods: { totalCount: 0 } } }]);
  expect((await ask(document, '--var', 'names=["south"]', '--vars', file)).out).toContain('south');
});

test('--vars reads standard input too', async () => {
  const file = path.join(folder, 'clusters.graphql');
  await writeFile(file, 'query ($names: [String!]) { clusters(names: $names) { name } }');
  const { code, out } = await runCli(gateway, ['query', file, '--vars', '-'], { input: 'names: [north]' });
  expect([code, JSON.parse(out)]).toEqual([0, { data: { clusters: [{ name: 'north' }] } }]);
});

test.each([
  ['a list', '[1]', /^muster: .+: expected one JSON or YAML object with the variables by name\n$/],
  ['two documents', 'a: 1\n---\nb: 2\n', /^muster: .+: expected one JSON or YAML object with the variables by name\n$/],
  ['what is no YAML', 'a: [', /^muster: .+: line 1: expected YAML, got .+\n$/],
  ['a variable that is not declared', '{ "name": "north" }', /^muster: the operation has no variable \$name: it has \$names\n$/],
])('--vars refuses %s', async (_, text, line) => {
  const file = path.join(folder, 'variables');
  await writeFile(file, text);
  const { code, err } = await ask('query ($names: [String!]) { clusters(names: $names) { name } }', '--vars', file);
  expect([code, err]).toEqual([2, expect.stringMatching(line)]);
});

test('refuses a variable that the operation does not declare', async () => {
  const { code, err, out } = await ask('query ($names: [String!]) { clusters(names: $names) { name } }', '--var', 'name=north');
  expect([code, err, out]).toEqual([2, 'muster: the operation has no variable $name: it has $names\n', '']);
});

test('escapes terminal control characters', async () => {
  const { out } = await ask('query ($names: [String!]) { clusters(names: $names) { name } }', '--var', 'names=["\u009b31m"]');
  expect(out).toContain('\\u009b31m');
  expect(out).not.toContain('\u009b');
});

test('exits with 1 if the answer has errors, and prints them', async () => {
  const { code, out } = await ask('{ nothing }');
  expect(code).toBe(1);
  expect(JSON.parse(out).errors[0].message).toContain('nothing');
});

test('chooses one of several operations', async () => {
  const document = 'query A { clusters { name } } query B { gateway { demo } }';
  expect((await ask(document)).code).toBe(1);
  expect(JSON.parse((await ask(document, '--operation', 'B')).out)).toEqual({ data: { gateway: { demo: false } } });
});

test.each([
  ['a file that is not there', ['query', 'nowhere.graphql'], 'muster: nowhere.graphql cannot be read: there is no such file\n'],
  ['a variable without a value', ['query', '-', '--var', 'x'], /^muster: .*Expected name=value.\n$/],
])('refuses %s', async (_, args, line) => {
  const { code, err } = await runCli(gateway, args);
  expect(code).toBe(2);
  expect(err).toMatch(line);
});
