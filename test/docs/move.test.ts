import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, repository, sessionsOf } from '../support/documentation.ts';
import { filesOfObject, tarGz } from '../support/migrate/tar-gz.ts';
import { type RunningProcess, runMuster, runNode } from '../support/run-process.ts';
import { certainLines, comparableText, sectionsOfMove } from '../support/shell-sessions.ts';

// Runs the sessions of docs/guide/move.md that need its config file: the traffic hook of the page, and a backup. In order, on one fleet.

const { page, hookLine } = sectionsOfMove();
const blocks = blocksOf([page]).filter(({ line }) => line >= hookLine);
const textOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? '';
const session = sessionsOf(blocks);

let folder: string;
let gateway: RunningProcess;
let hook: RunningProcess | undefined;
let url: string;
let port: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-move-'));
  await mkdir(path.join(folder, 'backups'));
  port = String(await freePort());
  await writeFile(path.join(folder, 'muster.yaml'), textOf('yaml').replace('4010', port));
  await writeFile(path.join(folder, 'hook.mjs'), textOf('js').replace('4010', port));
  const config = path.join(folder, 'muster.yaml');
  gateway = runMuster(['--demo', '--config', config, '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
  await run('muster apply -f deploy/examples/kiosk.yaml --context us-prod');
});
afterAll(async () => {
  await hook?.[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the page shows a config file, a hook, and sessions that use them', () => {
  expect(textOf('js')).toContain('createServer');
  expect(session.filter(({ command }) => /--traffic|--backup/.test(command)).length).toBeGreaterThanOrEqual(3);
});

test.each(session)('$command', { timeout: 120_000 }, async ({ command, printed }) => {
  if (printed.some((line) => line.endsWith(' continues'))) await startHook();
  if (/demo stop/.test(command)) await writeBackup();
  const certain = certainLines(command, printed);
  if (command.includes('migrate status')) await expect.poll(() => run(command), { timeout: 60_000 }).toContain(certain.at(-1));
  const text = await run(command);
  expect(certain.filter((line) => !text.includes(line))).toEqual([]);
  if (hook !== undefined) expect(await routes()).toEqual({ 'default/kiosk': command.includes('--traffic') ? 'staging' : 'us-prod' });
});

async function run(command: string): Promise<string> {
  await using muster = runMuster(command.split(' ').slice(1), { HOME: folder, MUSTER_GATEWAY: url }, repository);
  await muster.ended;
  return comparableText(`${muster.out()}${muster.err()}`);
}

/** Starts the hook of the page. It listens once a request gets an answer. */
async function startHook(): Promise<void> {
  hook = runNode([path.join(folder, 'hook.mjs')], folder);
  const status = async () => (await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))?.status;
  await expect.poll(status, { timeout: 60_000 }).toBe(500);
}

async function routes(): Promise<unknown> {
  return JSON.parse(await readFile(path.join(folder, 'routes.json'), 'utf8'));
}

/** Writes the archive that Velero makes of the namespace `default` of us-prod, under the name on the page. */
async function writeBackup(): Promise<void> {
  const query = `{ resources(clusters: ["us-prod"], namespaces: ["default"], kinds: ["Deployment.apps", "Service", "ConfigMap"]) { items { object } } }`;
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
  const { data } = (await answer.json()) as { readonly data: { readonly resources: { readonly items: readonly { object: never }[] } } };
  const name = /--backup (\S+)/.exec(session.map(({ command }) => command).join('\n'))?.[1] ?? '';
  await writeFile(path.join(folder, 'backups', name), tarGz(data.resources.items.flatMap(({ object }) => filesOfObject(object))));
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer();
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
  });
  return promise;
}
