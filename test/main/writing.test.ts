import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { intentFile, manifestFile, settings } from '../support/cli/intent-files.ts';
import { runMuster } from '../support/run-process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-writing-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) => runMuster(args, { HOME: folder, XDG_STATE_HOME: path.join(folder, 'state') });

async function file(name: string, text: string): Promise<string> {
  const at = path.join(folder, name);
  await writeFile(at, text);
  return at;
}

test('a process alone brings an intent to its clusters, and ends once it is settled', async () => {
  await using propagate = run('propagate', '--demo', '-f', await file('intent.yaml', intentFile('web')));
  expect(await propagate.ended).toBe(0);
  expect(propagate.out()).toMatch(/^propagation\.muster\.dev\/web created\nCLUSTER /);
  expect(propagate.err()).toMatch(/^DEMO .+\ndefault\/web: Settled, 3 of 3 clusters done, 4 of 4 replicas ready\n$/);
});

test('a single process applies files, and reports the error in one', async () => {
  await using apply = run('apply', '--demo', '-f', await file('settings.yaml', manifestFile(settings('settings'))));
  const created = ['eu-prod', 'staging', 'us-prod'].map((cluster) => `configmap/settings created (${cluster})\n`);
  expect([await apply.ended, apply.out(), apply.err()]).toEqual([0, created.join(''), expect.stringMatching(/^DEMO .+\n$/)]);
  const broken = await file('broken.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n');
  await using wrong = run('apply', '--demo', '-f', broken);
  expect([await wrong.ended, wrong.out()]).toEqual([2, '']);
  expect(wrong.err()).toMatch(/^DEMO .+\nmuster: .*broken\.yaml: metadata\.name: expected a name .*\n$/);
});
