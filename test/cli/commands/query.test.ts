import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../support/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/start-gateway.ts';

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

test('asks what stands in a file, and prints the answer', async () => {
  expect(await ask('{ clusters { name } }')).toEqual({
    code: 0,
    out: `${JSON.stringify({ data: { clusters: [{ name: 'north' }] } }, null, 2)}\n`,
    err: '',
  });
});

test('or on standard input', async () => {
  const { code, out } = await runCli(gateway, ['query', '-'], { input: '{ gateway { demo } }' });
  expect([code, JSON.parse(out)]).toEqual([0, { data: { gateway: { demo: false } } }]);
});

test('variables are JSON where they can be read as such, else text', async () => {
  const document =
    'query ($names: [String!], $labels: String, $first: Int!) { clusters(names: $names, labels: $labels) { name } pods(first: $first) { totalCount } }';
  const { code, out } = await ask(document, '--var', 'names=["north"]', '--var', 'labels=!x', '--var', 'first=3');
  expect([code, JSON.parse(out)]).toEqual([0, { data: { clusters: [{ name: 'north' }], pods: { totalCount: 0 } } }]);
});

test('exits with 1 if the answer has errors, and prints them', async () => {
  const { code, out } = await ask('{ nothing }');
  expect(code).toBe(1);
  expect(JSON.parse(out).errors[0].message).toContain('nothing');
});

test('chooses among several operations', async () => {
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
