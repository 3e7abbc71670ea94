// Measures the cost of keeping many quiet Propagations in sync: CPU of this process and requests to the clusters.
//   propagations-at-rest.ts KUBECONFIG CONTROL PROPAGATIONS SECONDS
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import { cpuNow, cpuSince, finish, post } from '../../support/measuring.ts';
import { startWholeGateway } from '../../support/whole-gateway.ts';

const [kubeconfig = '', control = '', propagationCount = '1000', seconds = '30'] = process.argv.slice(2);
const count = Number(propagationCount);
const restMs = Number(seconds) * 1_000;
const port = await startWholeGateway(readFileSync(kubeconfig, 'utf8'), { hub: 'hub' });

// Measures the fleet at rest before the first Propagation, for its own calls, sockets and timers.
await sleep(5_000);
const fleetPercent = await percentOfACore();
let next = 0;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (let index = next++; index < count; index = next++) await propagate(index);
  }),
);
await settled();
await untilQuiet();
await post(`${control}/reset`);
const cpuPercent = await percentOfACore();
const { writes = Number.NaN, hubWrites = Number.NaN, calls = Number.NaN } = await counts();
finish({ cpuPercent, addedPercent: cpuPercent - fleetPercent, writes, hubWrites, calls, rssMb: process.memoryUsage().rss / 1e6 });

async function percentOfACore(): Promise<number> {
  const start = cpuNow();
  await sleep(restMs);
  return (cpuSince(start).process / restMs) * 100;
}

async function propagate(index: number): Promise<void> {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `settings-${index}` }, data: { index: String(index) } };
  const input = { namespace: 'default', name: `settings-${index}`, template: [{ json: manifest }], placement: { exclude: ['hub'] } };
  const query = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result notes { message } faults { message } } }';
  const { propagate: outcome } = (await ask(query, { input })) as { propagate: { result: string } };
  if (outcome.result !== 'ACCEPTED') throw new Error(`expected ACCEPTED, got ${JSON.stringify(outcome).slice(0, 2_000)}`);
}

async function settled(): Promise<void> {
  const query = '{ propagations(phases: [SETTLED], first: 1) { totalCount } }';
  for (let tries = 0; ; tries += 1) {
    const { propagations } = (await ask(query, {})) as { propagations: { totalCount: number } };
    if (propagations.totalCount === count) return;
    if (tries > 600) throw new Error(`${propagations.totalCount} of ${count} have settled`);
    await sleep(500);
  }
}

/**
 * Waits until the last writes have no more effects. In the first minute, the controller still checks recent writes until their mirrors are
 * in sync.
 * Then no write may happen for ten seconds, on the hub too.
 */
async function untilQuiet(): Promise<void> {
  await sleep(60_000);
  for (let tries = 0; tries < 30; tries += 1) {
    await post(`${control}/reset`);
    await sleep(10_000);
    const { writes, hubWrites } = await counts();
    if (writes === 0 && hubWrites === 0) return;
  }
  throw new Error(`expected nothing to be written any more, got ${JSON.stringify(await counts())}`);
}

async function counts(): Promise<Record<string, number>> {
  return (await (await fetch(`${control}/counts`)).json()) as Record<string, number>;
}

async function ask(query: string, variables: JsonObject): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = (await answer.json()) as { data: unknown; errors?: Json };
  if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 2_000));
  return data;
}
