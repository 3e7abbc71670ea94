// Measures 200 embedded clusters with 500 objects each and their mirrors, in one process that receives no requests.
//   fleet-at-rest.ts CLUSTERS OBJECTS
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { kubeconfigOf } from '../../../src/sim/start-demo-fleet.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';
import { cpuNow, cpuSince, finish, reachableBytes } from '../support/measuring.ts';

const [clusterCount = '200', objectCount = '500'] = process.argv.slice(2);
const restMs = 10_000;
const before = await reachableBytes();
const clusters: SimCluster[] = [];
for (let index = 0; index < Number(clusterCount); index += 1) {
  const cluster = await startSimCluster({ name: `cluster-${index}` });
  cluster.fill('ConfigMap', Number(objectCount), { metadata: { name: 'settings' }, data: { key: `value of ${index}` } });
  clusters.push(cluster);
}
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const kubeconfig = path.join(directory, 'kubeconfig');
writeFileSync(kubeconfig, kubeconfigOf(clusters), { mode: 0o600 });
const config = await loadConfig({ flags: { kubeconfig, port: '0' }, environment: { XDG_STATE_HOME: directory }, directory });
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenStarted(new AbortController().signal);
const ask = async (): Promise<number> => {
  const answer = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ configMaps(waitSeconds: 60) { totalCount } }"}',
  });
  return ((await answer.json()) as { data: { configMaps: { totalCount: number } } }).data.configMaps.totalCount;
};
const wanted = Number(clusterCount) * Number(objectCount);
let held = await ask();
for (let tries = 0; held < wanted && tries < 30; tries += 1) held = await ask();
if (held < wanted) throw new Error(`${held} of ${wanted} objects are mirrored`);
await sleep(2_000);
const bytes = (await reachableBytes()) - before;
const start = cpuNow();
await sleep(restMs);
finish({ heapMb: bytes / 1e6, rssMb: process.memoryUsage().rss / 1e6, cpuPercent: (cpuSince(start).process / restMs) * 100 });
