import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SourceFlags } from '../../../src/cli/arguments/gateway-options.ts';
import { readIntentFiles, readManifestFiles } from '../../../src/cli/arguments/read-sources.ts';
import { CommandFailure } from '../../../src/cli/client/command-failure.ts';
import { createCliSession } from '../../support/cli/cli-session.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'muster-sources-'));
  await mkdir(path.join(directory, 'app'));
  await mkdir(path.join(directory, 'empty'));
  const files = {
    'app/b.yaml': settings('b'),
    'app/a.yml': `${settings('a')}---\n${settings('a2')}`,
    'app/c.json': JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }],
    }),
    'app/notes.md': 'not YAML: [',
    'placed.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: placed, namespace: shop}\n',
    'broken.yaml': `${settings('a')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {}\n`,
    'intents.yaml': `${intent('web')}---\n${intent('api')}`,
    'wrong.yaml': `${intent('web')}---\n${intent('api').replace('placement: {}', 'conflict: Never')}`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
});
afterAll(() => rm(directory, { recursive: true }));

const settings = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

const intent = (name: string) => `apiVersion: muster.dev/v1alpha1
kind: Propagation
metadata: {name: ${name}}
spec:
  template: [{json: {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}}]
  placement: {}
`;

const at = (...names: readonly string[]) => names.map((name) => (name === '-' ? '-' : path.join(directory, name)));

async function manifestsOf(flags: SourceFlags, input = '') {
  const found = await readManifestFiles(createCliSession({ input }), flags);
  return found.map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`);
}

async function failureOf(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CommandFailure)) throw new Error(`expected it to fail, got ${error}`);
  expect(error.exitCode).toBe(2);
  return error.message.replaceAll(`${directory}/`, '');
}

describe('readManifestFiles', () => {
  test('reads files, directories by file name, and standard input, in the order of the flags', async () => {
    expect(await manifestsOf({ filename: at('placed.yaml', 'app', '-') }, settings('read'))).toEqual([
      'shop/placed',
      '/a',
      '/a2',
      '/b',
      '/shop',
      '/read',
    ]);
  });

  test('puts objects into the namespace of -n', async () => {
    expect(await manifestsOf({ filename: at('placed.yaml', 'app/b.yaml'), namespace: 'shop' })).toEqual(['shop/placed', 'shop/b']);
  });

  test.each<readonly [string, SourceFlags | (() => SourceFlags), string]>([
    ['a file that is not there', () => ({ filename: at('none.yaml') }), 'none.yaml cannot be read: there is no such file'],
    ['a directory without files', () => ({ filename: at('empty') }), 'expected files that end in .yaml, .yml or .json, got none'],
    ['one without a name', () => ({ filename: at('broken.yaml') }), 'broken.yaml: [1].metadata.name: expected a name'],
    [
      'one of another namespace',
      () => ({ filename: at('placed.yaml'), namespace: 'pay' }),
      'placed.yaml: ConfigMap placed: expected the namespace pay of -n',
    ],
    ['no object', { filename: ['-'] }, 'standard input: expected a manifest, got none'],
  ])('refuses %s', async (_, flags, message) => {
    expect(await failureOf(manifestsOf(typeof flags === 'function' ? flags() : flags))).toContain(message);
  });
});

describe('readIntentFiles', () => {
  test('reads the intents of all files', async () => {
    const found = await readIntentFiles(createCliSession({ input: intent('late') }), {
      filename: at('intents.yaml', '-'),
      namespace: 'shop',
    });
    expect(found.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(['shop/web', 'shop/api', 'shop/late']);
  });

  test('prints every problem of a file with its document and path', async () => {
    const session = createCliSession();
    expect(await failureOf(readIntentFiles(session, { filename: at('wrong.yaml') }))).toMatch(
      /^wrong\.yaml: document 2: spec\.conflict: expected one of .*, got "Never"$/,
    );
    const told = session.terminal.told.replaceAll(`${directory}/`, '');
    expect(told).toMatch(/^muster: wrong\.yaml: document 2: spec\.placement: .*\n$/);
  });

  test('refuses objects that are no Propagation', async () => {
    expect(await failureOf(readIntentFiles(createCliSession(), { filename: at('placed.yaml') }))).toBe(
      'placed.yaml: expected a Propagation of muster.dev/v1alpha1, got a ConfigMap of v1: put the objects to propagate into spec.template of a Propagation',
    );
  });
});
