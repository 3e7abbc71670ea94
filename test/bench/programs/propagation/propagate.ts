// Measures one Propagation to every embedded cluster, from the mutation until each copy is written, and bare applies of equally many
// objects.
//   propagate.ts KUBECONFIG CONTROL SERVERS OBJECTS ROUNDS
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterApi } from '../../../../src/cluster/cluster-api.ts';
import { connectCluster } from '../../../../src/cluster/requests/connect-cluster.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import type { Json, JsonObject } from '../../../../src/core/json.ts';
import { silentLog } from '../../../../src/core/log.ts';
import { clusterName } from '../../../../src/core/names.ts';
import { cpuNow, cpuSince, finish, medianOf, post } from '../../support/measuring.ts';
import { startWholeGateway } from '../../support/whole-gateway.ts';

const [kubeconfig = '', control = '', serversText = '[]', objectCount = '1', roundCount = '7'] = process.argv.slice(2);
const objectsEach = Number(objectCount);
const warmUp = 2;

interface Server {
  readonly name: string;
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}
const members = (JSON.parse(serversText) as readonly Server[]).filter(({ name }) => name !== 'hub');
const copies = members.length * objectsEach;
const port = await startWholeGateway(readFileSync(kubeconfig, 'utf8'), { hub: 'hub' });
const apis = members.map(connected);

const samples: Record<string, number>[] = [];
for (let round = -warmUp; round < Number(roundCount); round += 1) {
  const sample = { ...(await bare(round)), ...(await propagated(round)), ...(await unchanged(round)) };
  if (round >= 0) samples.push(sample);
}
const figures = Object.keys(samples[0] ?? {}).map((name) => [name, medianOf(samples.map((sample) => sample[name] ?? Number.NaN))]);
finish(Object.fromEntries(figures));

/** Sends equally many bare server-side applies, ten in flight per cluster. */
async function bare(round: number) {
  await post(`${control}/reset`);
  const start = cpuNow();
  const from = performance.now();
  const bodies = manifestsOf(`bare-${round}`).map((manifest) => ({ manifest, path: pathOf(manifest) }));
  await Promise.all(
    apis.map(async (api) => {
      let next = 0;
      const work = async () => {
        for (let one = bodies[next++]; one !== undefined; one = bodies[next++]) await apply(api, one);
      };
      await Promise.all(Array.from({ length: Math.min(10, bodies.length) }, work));
    }),
  );
  return { bareMs: performance.now() - from, bareCpuMs: cpuSince(start).process };
}

async function apply(api: ClusterApi, { manifest, path }: { manifest: JsonObject; path: readonly string[] }): Promise<void> {
  const query = { fieldManager: 'muster', force: 'false' };
  const request = { method: 'PATCH', path, query, contentType: 'application/apply-patch+yaml', body: manifest } as const;
  const answer = await api.send(request, new AbortController().signal);
  if (answer.type === 'failed') throw new Error(JSON.stringify(answer.fault));
}

async function propagated(round: number) {
  await post(`${control}/reset`);
  const reached = fetch(`${control}/reached?writes=${copies}`).then((answer) => answer.json());
  await sleep(50);
  const start = cpuNow();
  const from = performance.now();
  await propagate(round, 'ACCEPTED');
  const mutationMs = performance.now() - from;
  await reached;
  const oursMs = performance.now() - from;
  const oursCpuMs = cpuSince(start).process;
  await settled(round);
  const { calls = 0, hubWrites = 0 } = await counts();
  return { oursMs, oursCpuMs, mutationMs, callsPerCopy: calls / copies, hubWritesPerCluster: hubWrites / members.length };
}

/** Sends the same intent again. No copy is written and no request is made. */
async function unchanged(round: number) {
  await post(`${control}/reset`);
  await propagate(round, 'UNCHANGED');
  await sleep(1_500);
  const { calls = Number.NaN, hubWrites = Number.NaN } = await counts();
  return { callsUnchanged: calls, hubWritesUnchanged: hubWrites };
}

async function counts(): Promise<Record<string, number>> {
  return (await (await fetch(`${control}/counts`)).json()) as Record<string, number>;
}

async function propagate(round: number, wanted: string): Promise<void> {
  const template = manifestsOf(`ours-${round}`).map((json) => ({ json }));
  const input = { namespace: 'default', name: `ours-${round}`, template, placement: { exclude: ['hub'] } };
  const query =
    'mutation ($input: PropagationInput!) { propagate(input: $input) { result notes { code message } faults { code message } } }';
  const { propagate: outcome } = (await ask(query, { input })) as { propagate: { result: string } };
  if (outcome.result !== wanted) throw new Error(`expected ${wanted}, got ${JSON.stringify(outcome).slice(0, 2_000)}`);
}

/** Waits until all writes are done, on the hub too, so that the status does not change any more. */
async function settled(round: number): Promise<void> {
  const query = `{ propagation(namespace: "default", name: "ours-${round}") { phase clusters { phase } } }`;
  for (let tries = 0; tries < 200; tries += 1) {
    const { propagation } = (await ask(query, {})) as { propagation: { phase: string } };
    if (propagation.phase === 'SETTLED') return void (await sleep(1_500));
    await sleep(50);
  }
  throw new Error(`expected it to settle, got ${JSON.stringify(await ask(query, {})).slice(0, 2_000)}`);
}

async function ask(query: string, variables: JsonObject): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = (await answer.json()) as { data: unknown; errors?: Json };
  if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 2_000));
  return data;
}

function manifestsOf(name: string): readonly JsonObject[] {
  return Array.from({ length: objectsEach }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-${index}`, namespace: 'default', labels: { 'app.kubernetes.io/name': name } },
    data: { 'features.yaml': 'newCheckout: true\n'.repeat(20), currency: 'EUR' },
  }));
}

function pathOf({ metadata }: JsonObject): readonly string[] {
  return ['api', 'v1', 'namespaces', 'default', 'configmaps', (metadata as { name: string }).name];
}

function connected({ name, url, ca, token }: Server): ClusterApi {
  const endpoint = {
    name: clusterName(name),
    server: url,
    trust: { type: 'authority', certificates: { type: 'data', data: Buffer.from(ca) } },
    credentials: { type: 'token', token },
    compression: 'off',
  } as const;
  return connectCluster(endpoint, { clock: systemClock, log: silentLog, signal: new AbortController().signal });
}
