// Measures the informer of client-node over the canned server: first a list that it holds, then events.
//   informer.ts URL CA CONTROL EVENTS RATE
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { cpuNow, cpuSince, finish, push, reachableBytes, reached, watchLoop } from '../support/measuring.ts';

const [url = '', ca = '', control = '', events = '0', rate = '0'] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromClusterAndUser(
  { name: 'bench', server: url, caData: Buffer.from(ca).toString('base64'), skipTLSVerify: false },
  { name: 'bench', token: 'bench' },
);
const api = config.makeApiClient(CoreV1Api);

const before = await reachableBytes();
const loop = watchLoop();
const start = cpuNow();
let held = 0;
let changed = 0;
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
informer.on('add', () => {
  held += 1;
});
informer.on('update', () => {
  changed += 1;
});
await informer.start();
const listed = cpuSince(start);
const { longestStallMs } = loop.stop();
const bytes = (await reachableBytes()) - before;

const churn = watchLoop();
const eventStart = cpuNow();
const from = performance.now();
await push(control, { count: Number(events), rate: Number(rate) });
await reached(() => changed >= Number(events));
const event = cpuSince(eventStart);
const elapsedMs = performance.now() - from;
const { gcMs, longestGcMs } = churn.stop();
finish({
  held,
  listCpuMs: listed.process,
  listMainMs: listed.main,
  bytes,
  longestStallMs,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
  eventCpuMs: event.process,
  eventMainMs: event.main,
  elapsedMs,
  gcMs,
  longestGcMs,
});
