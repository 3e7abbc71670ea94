// Registers all clusters of a kubeconfig but the first with a gateway over the first, and measures until all are in sync and list their
// ConfigMaps. Then changes the label of one cluster, and counts the requests to it.
//   joining.ts KUBECONFIG [turns]
// With `turns` it also measures the longest turn. That measurement spins, so the time of such a run is no figure.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import { connectCluster } from '../../../src/cluster/requests/connect-cluster.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Json } from '../../../src/core/json.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { cpuNow, cpuSince, finish, watchLoop, watchTurns } from '../support/measuring.ts';

const [kubeconfig = '', what] = process.argv.slice(2);
const signal = new AbortController().signal;
const loaded = await loadKubeconfig({ file: kubeconfig, environment: {} });
const [first, ...others] = loaded?.contexts ?? [];
if (first?.result !== 'usable') throw new Error('expected a hub');
const hub = connectCluster(first.endpoint, { clock: systemClock, log: silentLog, signal });

async function send(method: 'POST' | 'PATCH', where: readonly string[], body: Json): Promise<void> {
  const contentType = method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {};
  const answer = await hub.send({ method, path: where, body, ...contentType }, signal);
  if (answer.type === 'failed') throw new Error(answer.fault.message);
}

const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const configFile = path.join(folder, 'muster.yaml');
const configured = { name: 'hub', context: first.name, kubeconfig, hub: true };
writeFileSync(
  configFile,
  JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', allowPrivate: ['127.0.0.0/8'], clusters: [configured] }),
);
const config = await loadConfig({ flags: { config: configFile, port: '0' }, environment: { XDG_STATE_HOME: folder }, directory: folder });
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenStarted(signal);

interface Answer {
  readonly clusters: readonly { readonly name: string; readonly phase: string; readonly labels: Record<string, string> }[];
  readonly configMaps: { readonly totalCount: number };
}
async function ask(query: string): Promise<Answer> {
  const answer = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await answer.json()) as { data: Answer }).data;
}
async function metrics(name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', gateway.url))).text();
  const lines = text.split('\n').filter((line) => line.startsWith('muster_upstream_requests_total') && line.includes(`cluster="${name}"`));
  return lines.filter((line) => /verb="(list|watch)"/.test(line)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

await send('POST', ['api', 'v1', 'namespaces'], { metadata: { name: 'muster-system' } }).catch(() => undefined);
const text = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
  readonly clusters: readonly { readonly name: string; readonly cluster: Json }[];
  readonly users: readonly { readonly name: string; readonly user: Json }[];
};
await Promise.all(
  others.map(async ({ name }) => {
    const own = {
      'current-context': name,
      contexts: [{ name, context: { cluster: name, user: name } }],
      clusters: text.clusters.filter((one) => one.name === name),
      users: text.users.filter((one) => one.name === name),
    };
    const data = { kubeconfig: Buffer.from(JSON.stringify(own)).toString('base64') };
    await send('POST', ['api', 'v1', 'namespaces', 'muster-system', 'secrets'], { metadata: { name, namespace: 'muster-system' }, data });
  }),
);
// The credentials are on the hub before the clock starts: the floor writes nothing. Each Cluster is still written by this process.
const loop = watchLoop();
const turns = what === 'turns' ? watchTurns() : undefined;
const cpu = cpuNow();
const from = performance.now();
await Promise.all(
  others.map(({ name }) =>
    send('POST', ['apis', 'muster.dev', 'v1alpha1', 'clusters'], {
      apiVersion: 'muster.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
      spec: { secretRef: { name } },
    }),
  ),
);
const inSync = async () => (await ask('{ clusters { name phase } }')).clusters.filter(({ phase }) => phase === 'SYNCED').length;
for (let tries = 0; (await inSync()) <= others.length; tries += 1) {
  if (tries > 1_000) throw new Error(`${await inSync()} of ${others.length + 1} clusters are in sync`);
  await sleep(50);
}
const { configMaps } = await ask('{ configMaps(waitSeconds: 60) { totalCount } }');
const ms = performance.now() - from;
const { longestStallMs } = loop.stop();
const { longestTurnMs } = turns?.stop() ?? { longestTurnMs: 0 };
const used = cpuSince(cpu);
if (configMaps.totalCount < others.length * 500) throw new Error(`${configMaps.totalCount} ConfigMaps are listed`);

const changed = others[0]?.name ?? '';
const before = await metrics(changed);
await send('PATCH', ['apis', 'muster.dev', 'v1alpha1', 'clusters', changed], { metadata: { labels: { tier: 'changed' } } });
const isChanged = async () => (await ask(`{ clusters(labels: "tier=changed") { name } }`)).clusters.length === 1;
const askedMs = performance.now();
while (!(await isChanged())) {
  if (performance.now() - askedMs > 2_000) throw new Error('the label was not seen within 2 s');
  await sleep(20);
}
await sleep(1_000);
finish({
  ms,
  longestStallMs,
  longestTurnMs,
  mainMs: used.main,
  residentMb: process.memoryUsage.rss() / 1024 / 1024,
  lists: (await metrics(changed)) - before,
});
