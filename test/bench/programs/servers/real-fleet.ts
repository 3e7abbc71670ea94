// Starts three real API servers with 1,000 pods each and a gateway over them as a user starts it. Measures answers of both alternately.
//   real-fleet.ts PODS ROUNDS
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type RealCluster, startRealCluster } from '../../../support/cluster/real-cluster.ts';
import { fifteenLeaves } from '../../fifteen-leaves.ts';
import { podOf } from '../../pods.ts';
import { medianOf } from '../../support/measuring.ts';
import { type RealGateway, readPages, startRealGateway, timed, warmPages } from '../../support/real-clusters.ts';
import { createTextClient, type TextClient } from '../../support/text-client.ts';

const [podCount = '1000', roundCount = '9'] = process.argv.slice(2);
const podsEach = Number(podCount);
const rounds = Number(roundCount);
const names = ['north', 'south', 'east'];

const clusters = await Promise.all(names.map(() => startRealCluster()));
const clients = clusters.map(({ endpoint }) => createTextClient(endpoint.url, endpoint));
await Promise.all(clients.map((client, index) => fill(client, index)));
const gateway = await startGateway(clusters);
try {
  await measure();
} finally {
  gateway.kill();
  await Promise.all(clusters.map((cluster) => cluster[Symbol.asyncDispose]()));
}
process.exit(0);

async function measure(): Promise<void> {
  const [north] = clients;
  if (north === undefined) throw new Error('no cluster');
  const first = JSON.parse(await north.send('GET', '/api/v1/namespaces/default/pods?limit=1')) as {
    items: { metadata: { name: string } }[];
  };
  const pod = first.items[0]?.metadata.name ?? '';
  const podPath = `/api/v1/namespaces/default/pods/${pod}`;
  const pageOf100 = `{ pods(first: 100) { items { ${fifteenLeaves} } } }`;
  const onePod = `{ pod(cluster: "north", namespace: "default", name: "${pod}") { ${fifteenLeaves} } }`;
  await warmPages(gateway, fifteenLeaves, podsEach * names.length);
  for (let n = 0; n < 500; n += 1) for (const query of [pageOf100, onePod]) await gateway.read(query);
  const samples: Record<string, number>[] = [];
  for (let round = -2; round < rounds; round += 1) {
    const times: Record<string, number> = {
      rawListMs: await timed(() => Promise.all(clients.map((client) => client.send('GET', '/api/v1/pods')))),
      allMs: await timed(() => readPages(gateway, fifteenLeaves)),
      page100Ms: await timed(() => gateway.read(pageOf100)),
      rawGetMs: await timed(() => north.send('GET', podPath)),
      oneMs: await timed(() => gateway.read(onePod)),
      changeMs: await changeOf({ client: north, podPath, pod, value: `round-${round}` }),
    };
    // The first rounds warm both sides up.
    if (round >= 0) samples.push(times);
  }
  const figures = Object.keys(samples[0] ?? {}).map((name) => [name, medianOf(samples.map((sample) => sample[name] ?? Number.NaN))]);
  console.log(JSON.stringify(Object.fromEntries(figures)));
}

/** Measures the milliseconds from the end of a PATCH until a query over the mirror shows the written value. */
async function changeOf({
  client,
  podPath,
  pod,
  value,
}: {
  client: TextClient;
  podPath: string;
  pod: string;
  value: string;
}): Promise<number> {
  await client.send('PATCH', podPath, JSON.stringify({ metadata: { labels: { bench: value } } }), 'application/merge-patch+json');
  const from = performance.now();
  for (;;) {
    const { pod: seen } = (await gateway.ask(
      `{ pod(cluster: "north", namespace: "default", name: "${pod}") { metadata { label(key: "bench") } } }`,
    )) as { pod: { metadata: { label: string } } };
    if (seen.metadata.label === value) return performance.now() - from;
    if (performance.now() - from > 5_000) throw new Error('the change did not arrive within 5 s');
  }
}

async function fill(client: TextClient, cluster: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (next < podsEach) {
        const index = next;
        next += 1;
        await client.send('POST', '/api/v1/namespaces/default/pods', JSON.stringify(creatable(index + cluster * podsEach)));
      }
    }),
  );
}

/** Returns a pod that can be created: in an existing namespace, without the fields that the server or admission sets. */
function creatable(index: number): object {
  const { metadata, spec } = podOf(index) as { metadata: Record<string, unknown>; spec: Record<string, unknown> };
  const { name, labels, annotations } = metadata;
  const { volumes: _, serviceAccountName: _name, serviceAccount: _account, priority: _priority, preemptionPolicy: _policy, ...rest } = spec;
  const containers = (rest.containers as Record<string, unknown>[]).map(({ volumeMounts: _mounts, ...container }) => container);
  // About 4.5 KB as served, with what the server adds.
  const padding = 'x'.repeat(900);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels, annotations: { ...(annotations as object), padding } },
    spec: { ...rest, containers, automountServiceAccountToken: false },
  };
}

function startGateway(all: readonly RealCluster[]): Promise<RealGateway> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
  const file = path.join(folder, 'config.yaml');
  const entries = all.map(({ kubeconfigPath }, index) => ({ name: names[index], kubeconfig: kubeconfigPath }));
  writeFileSync(file, JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', clusters: entries }));
  return startRealGateway(['--config', file], folder);
}
