import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runProgram } from '../../src/cli/program.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { createFakeTerminal } from '../support/cli/fake-terminal.ts';
import { deployment, intentFile, manifestFile, settings } from '../support/cli/intent-files.ts';
import { manifestReader } from '../support/cli/run-cli.ts';
import { type Block, blocksOf, codeCells, commandsOf, pageText, repository } from '../support/documentation.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

// Readers try the documents and commands of the pages on the embedded fleet. This test runs each of them there. Each must find objects.

const documents = blocksOf().filter(({ language }) => language === 'graphql');
const commands = commandsOf(blocksOf());
const habits = codeCells('docs/guide/coming-from.md');

/** True for commands that need a separate hub. `operate.test.ts` runs them. */
const needsHub = (command: string) => /^(?:kubectl|sed|muster join|muster leave) |NAMESPACE/.test(command);
const musterCommands = [
  ...new Set(
    [...commands.map(({ command }) => command), ...habits].filter((command) => command.startsWith('muster ') && !needsHub(command)),
  ),
];
const curls = commands.filter(({ command }) => command.startsWith('curl ')).map(({ command }) => command);

/** The variables of documents that take an intent. */
const variables = { input: { namespace: 'default', name: 'greeting', template: [{ json: settings('greeting') }], placement: {} } };
const intent: JsonObject = { template: [{ json: { ...deployment('web', 1) } }], placement: {}, replicas: { mode: 'Duplicated' } };

let folder: string;
let gateway: RunningProcess;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-pages-'));
  await cp(path.join(repository, 'deploy/examples/greeter.yaml'), path.join(folder, 'greeter.yaml'));
  for (const name of ['schema', 'deploy']) await symlink(path.join(repository, name), path.join(folder, name));
  await mkdir(path.join(folder, 'app'));
  await writeFile(path.join(folder, 'app/settings.yaml'), manifestFile(settings('settings')));
  const metadata = { name: 'web', namespace: 'shop' };
  await writeFile(
    path.join(folder, 'intent.yaml'),
    manifestFile({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata, spec: intent }),
  );
  // Files on a command line are relative to the directory of the process.
  process.chdir(folder);
  gateway = runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
  const commands = [
    'propagate -f greeter.yaml',
    'propagate -f intent.yaml',
    'apply -f deploy/examples/kiosk.yaml --context us-prod',
    'migrate --from us-prod --to staging -l app=kiosk --name kiosk --wait',
  ];
  for (const command of commands) {
    const { code, out, err } = await run(`muster ${command}`);
    if (code !== 0) throw new Error(`muster ${command} ended with ${code}\nstdout: ${out}\nstderr: ${err}`);
  }
});
afterAll(async () => {
  process.chdir(repository);
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the pages show documents, commands and habits, and each command has a test', () => {
  expect(documents.length).toBeGreaterThanOrEqual(18);
  expect(musterCommands.length).toBeGreaterThanOrEqual(55);
  const known = /^(?:muster|curl|npm|export|kubectl|sed|helm) /;
  expect(commands.filter(({ command }) => !known.test(command))).toEqual([]);
});

test('every npm script that the pages run exists', () => {
  const { scripts } = JSON.parse(pageText('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const texts = ['README.md', 'CONTRIBUTING.md', 'docs/bench.md'].map(pageText).join('\n');
  const named = [...texts.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

describe('every document finds objects', () => {
  test.each(documents)('$page, line $line', async ({ text: query }: Block) => {
    const isStream = query.startsWith('subscription');
    const ask = async () => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: isStream ? 'text/event-stream' : 'application/json' },
        body: JSON.stringify({ query, ...(query.includes('$input') ? { variables } : {}) }),
      });
      const text = isStream ? await untilFound(response) : await response.text();
      expect(text).not.toContain('"errors"');
      return text;
    };
    // The containers of a new Job have no lines yet.
    await expect.poll(ask, { timeout: 20_000 }).toMatch(found);
  });
});

describe('every request by curl is answered', () => {
  test.each(curls)('%s', async (command) => {
    const target = /http:\/\/127\.0\.0\.1:4000(\S+)/.exec(command)?.[1] ?? '';
    const body = /-d '(\{.*\})'/.exec(command)?.[1];
    const accept = /'accept: ([^']+)'/.exec(command)?.[1] ?? '*/*';
    const headers = { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const response = await fetch(new URL(target, url), { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
    expect(response.status).toBe(200);
    const text = body === undefined ? await response.text() : await untilFound(response, answered['/graphql'] ?? /^$/);
    expect(text).toMatch(answered[target] ?? /^$/);
    expect(text).not.toContain('"errors"');
  });
});

/** Matches objects of two clusters in any order, or two images. */
const twoClusters = /^(?=[\s\S]*eu-prod)(?=[\s\S]*us-prod)|cart:[\s\S]*cart:/;

describe('a client that sends more than a query gets the code that the guide names', () => {
  test.each([
    ['PERSISTED_QUERY_NOT_SUPPORTED', { extensions: { persistedQuery: { version: 1, sha256Hash: 'abc' } } }],
    ['BAD_INPUT', [{ query: '{ clusters { name } }' }]],
  ])('%s', async (code, body) => {
    expect(pageText('docs/guide/coming-from.md')).toContain(`\`${code}\``);
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code } }] });
  });
});

/** Expected answers to curl requests, by their path. */
const answered: Readonly<Record<string, RegExp>> = {
  '/graphql': /"type":"\w+"|"totalCount":\d/,
  '/schema.graphql': /^type Query/m,
  '/livez': /^ok/,
  '/readyz?verbose': /cluster\/eu-prod ok/,
  '/metrics': /^muster_requests_total/m,
};

/** Expected output of other commands. */
const expected = new Map<RegExp, RegExp>([
  [/^muster apply -f app\/ --context eu-prod/, /created \(eu-prod\) \(server dry run\)/],
  [/^muster apply/, /created \(eu-prod\) \(server dry run\)/],
  [/^muster (?:scale|restart|delete).* --dry-run/, /\(eu-prod\) \(server dry run\)/],
  [/^muster import .* -o yaml/, /^kind: Propagation$/m],
  [/^muster import/, /^NAMESPACE +NAME +SYSTEM[\s\S]*(?:Karmada|KubeFed|Federation v1|MultiClusterResource) /],
  [/^muster migrate .* --plan/, /^default\/deployment\/printer +yes +1→1 /m],
  [/^muster rollout history/, /^REVISION +CREATED /],
  [/^muster (?:propagate -f intent|rollout undo)/, /^propagation\.muster\.dev\/web /m],
  [/^muster (?:propagate|delete|rollout (?:pause|resume|rollback))/, /^propagation\.muster\.dev\/greeter /m],
  // The state of the Pod changes between CrashLoopBackOff, Running and Error.
  [/restarts>5/, /us-prod +payments +fraud-check/],
  [/--previous/, /^us-prod\/payments\/fraud-check-/m],
  [/status\.phase=Pending/, /staging +shop +recommendations-/],
  [/phase=FAILED/, /staging +batch +schema-migration/],
  [/involvedObject/, /staging .*job\/schema-migration/],
  [/us-east-1/, /us-prod/],
  [/eu-prod-node-0|deploy checkout|status\.phase=Failed|--context eu-prod/, /eu-prod/],
  [/list events/, /staging +shop +/],
  [/where rollout/, /us-prod +payments +fraud-check/],
  [/tree deploy greeter/, /deployment\.apps\/greeter/],
  [/--vars/, /"digest": "\w{64}"/],
  [/^muster watch jobs/, /invoice-run/],
  [/^muster schema/, /^type Query/m],
  [/kinds\.graphql|unhealthy\.graphql/, /"data"/],
]);

describe('every command works', () => {
  test.each(musterCommands)('%s', async (command) => {
    const [, pattern = twoClusters] = [...expected].find(([of]) => of.test(command)) ?? [];
    const { out, err } = await run(command, pattern);
    expect(out).toMatch(pattern);
    expect(err).not.toMatch(/^muster:/m);
  });
});

test('every field of a spec that translates another tool can be planned', { timeout: 60_000 }, async () => {
  const specs = habits.filter((cell) => /^[a-z]+: /.test(cell)).map((cell) => parse(cell) as JsonObject);
  expect(specs.length).toBeGreaterThanOrEqual(20);
  const files = specs.map((spec, index) => intentFile(`row-${index}`, { replicas: { mode: 'Duplicated' }, ...spec }));
  await writeFile(path.join(folder, 'rows.yaml'), files.join('---\n'));
  const { code, out } = await run('muster plan -f rows.yaml');
  expect([code, out.match(/^error: .*/gm)]).toEqual([0, null]);
  expect(out.match(/^digest: \w{64}$/gm)).toHaveLength(specs.length);
});

/** Runs a command in the folder and in this process, until it ends or has written the pattern. Splits it into words like a shell. */
async function run(command: string, pattern?: RegExp) {
  const words = (command.match(/(?:'[^']*'|[^\s'])+/g) ?? []).slice(1).map((word) => word.replaceAll("'", ''));
  const life = new AbortController();
  const terminal = createFakeTerminal();
  const ended = runProgram(words, {
    version: '1.2.3',
    serve: async () => 0,
    schema: async () => pageText('schema/muster.graphql'),
    start: () => Promise.reject(new Error('expected a command that asks the gateway of the test')),
    reader: manifestReader,
    terminal,
    clock: systemClock,
    environment: { MUSTER_GATEWAY: url },
    directory: folder,
    signal: life.signal,
  });
  if (pattern !== undefined) {
    await Promise.race([ended, expect.poll(() => terminal.written, { timeout: 20_000 }).toMatch(pattern)]);
    life.abort();
  }
  const code = await ended;
  return { code, out: terminal.written, err: terminal.told };
}

/** Matches an answer that has found objects: by a field of an object or by a count above 0. */
const found = /"(?:availableReplicas|replicas|phase|text|action)":|"allowed":true|"(?:count|totalCount)":[1-9]/;

async function untilFound({ body }: Response, pattern = found): Promise<string> {
  let text = '';
  for await (const bytes of body ?? []) {
    text += new TextDecoder().decode(bytes);
    if (pattern.test(text)) break;
  }
  return text;
}
