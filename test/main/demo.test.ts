import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

let folder: string;
let environment: Record<string, string>;
let gateway: RunningProcess;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-demo-'));
  environment = { HOME: folder, XDG_STATE_HOME: folder };
  gateway = runMuster(['--demo', '--port', '0', '--log-level', 'error'], environment);
  url = (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function demo(...args: readonly string[]) {
  await using running = runMuster(['demo', ...args], environment);
  return { code: await running.ended, out: running.out(), err: running.err() };
}

async function phases(): Promise<Readonly<Record<string, string>>> {
  const body = JSON.stringify({ query: '{ clusters { name phase } }' });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { data } = (await response.json()) as { data: { clusters: { name: string; phase: string }[] } };
  return Object.fromEntries(data.clusters.map(({ name, phase }) => [name, phase]));
}

test('stop makes a cluster of the embedded fleet unreachable, and start brings it back', { timeout: 120_000 }, async () => {
  await expect.poll(phases, { timeout: 30_000 }).toEqual({ 'eu-prod': 'SYNCED', staging: 'SYNCED', 'us-prod': 'SYNCED' });
  expect(await demo('stop', 'us-prod', '--gateway', url)).toMatchObject({ code: 0, out: 'us-prod stopped\n' });
  await expect.poll(phases, { timeout: 60_000 }).toEqual({ 'eu-prod': 'SYNCED', staging: 'SYNCED', 'us-prod': 'UNREACHABLE' });
  expect(await demo('start', 'us-prod', '--gateway', url)).toMatchObject({ code: 0, out: 'us-prod started\n' });
  await expect.poll(phases, { timeout: 60_000 }).toEqual({ 'eu-prod': 'SYNCED', staging: 'SYNCED', 'us-prod': 'SYNCED' });
});

test('refuses the hub, unknown clusters, and a command without a running gateway', { timeout: 60_000 }, async () => {
  const refused = async (cluster: string, why: string) =>
    expect(await demo('stop', cluster, '--gateway', url)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
  await refused('eu-prod', 'eu-prod is the hub of the embedded fleet, and cannot be stopped');
  await refused('absent', 'expected staging or us-prod, got absent');
  expect(await demo('stop', 'us-prod')).toMatchObject({ code: 2, err: expect.stringContaining('expected --gateway with a gateway') });
});
