import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deployment, manifestFile, settings } from '../support/intent-files.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

// Whoever tries what the README shows does so on the embedded fleet: there it finds something.

const readme = readFileSync(path.join(import.meta.dirname, '../../README.md'), 'utf8');
const documents = [...readme.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
const commands = [...readme.matchAll(/^ {4}muster (.+?)(?: {2,}#.*)?$|`muster (query \S.*?)`/gm)].map(
  ([, line, inline]) => line ?? inline ?? '',
);

const repository = path.join(import.meta.dirname, '../..');
/** What documents with variables ask about. */
const variables = { input: { namespace: 'default', name: 'greeting', template: [{ json: settings('greeting') }], placement: {} } };

let folder: string;
let gateway: RunningProcess;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-readme-'));
  const cart = 'query ($labels: String) { pods(labels: $labels) { items { spec { containers { image } } } } }';
  await writeFile(path.join(folder, 'cart.graphql'), cart);
  await cp(path.join(repository, 'deploy/examples/greeter.yaml'), path.join(folder, 'greeter.yaml'));
  await symlink(path.join(repository, 'schema'), path.join(folder, 'schema'));
  await mkdir(path.join(folder, 'app'));
  await writeFile(path.join(folder, 'app/settings.yaml'), manifestFile(settings('settings')));
  const web = { ...deployment('web', 1), metadata: { name: 'web', namespace: 'shop' } };
  const intent = { template: [{ json: web }], placement: {}, replicas: { mode: 'Duplicated' } };
  await writeFile(
    path.join(folder, 'intent.yaml'),
    manifestFile({ apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: web.metadata, spec: intent }),
  );
  const container = { name: 'web', image: 'registry.example.com/web:1.0' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace: 'default' }, spec: { containers: [container] } };
  await writeFile(path.join(folder, 'pod.yaml'), manifestFile(pod));
  gateway = runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder });
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
  for (const command of ['apply -f pod.yaml', 'propagate -f greeter.yaml', 'propagate -f intent.yaml']) {
    await using muster = run(command);
    if ((await muster.ended) !== 0) throw new Error(muster.err());
  }
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the README shows documents and commands', () => {
  expect([documents.length, commands.length]).toEqual([9, 17]);
});

describe('every document finds something', () => {
  test.each(documents.map((document) => [document]))('%s', async (query) => {
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
    // The containers of a Job that has only begun have said nothing yet.
    await expect.poll(ask, { timeout: 20_000 }).toMatch(found);
  });
});

/** What is not a row, a line or an image of each of two clusters. */
const told = new Map<string, RegExp>([
  ['apply -f app/ --context eu-prod --dry-run', /created \(eu-prod\) \(server dry run\)/],
  ["list pods --where 'restarts>5' --sort-by lastRestart", /us-prod .*CrashLoopBackOff/],
  ['query schema/examples/plan.graphql --vars schema/examples/intent.json', /"digest": "\w{64}"/],
  ['watch jobs -l batch=nightly --until all', /invoice-run/],
]);

describe('every command does', () => {
  test.each(commands.map((command) => [command]))('muster %s', async (command) => {
    await using muster = run(command.includes(' D ') ? command.replace(' D ', ` ${await digestOf('intent.yaml')} `) : command);
    await muster.says(told.get(command) ?? /(?:eu-prod|cart:)[\s\S]*(?:us-prod|cart:)/);
    expect(muster.err()).not.toMatch(/^muster:/m);
  });
});

/** Runs `muster` with these words, split as a shell does it, in the folder. */
function run(command: string): RunningProcess {
  const words = command.match(/'[^']*'|\S+/g) ?? [];
  return runMuster(
    words.map((word) => word.replaceAll("'", '')),
    { HOME: folder, MUSTER_GATEWAY: url },
    folder,
  );
}

async function digestOf(file: string): Promise<string> {
  await using muster = run(`plan -f ${file}`);
  return (await muster.says(/^digest: (\w+)$/m))[1] ?? '';
}

/** Something of an object of an answer, or a line of its log. */
const found = /"(?:availableReplicas|replicas|phase|text|action)":/;

async function untilFound({ body }: Response): Promise<string> {
  let text = '';
  for await (const bytes of body ?? []) {
    text += new TextDecoder().decode(bytes);
    if (found.test(text)) break;
  }
  return text;
}
