// Our mirror over the canned server: list and hold, then events, then a relist in which nothing changed.
//   mirror.ts URL CA CONTROL EVENTS RATE
import { connectCluster } from '../../../src/cluster/kube-api.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createMirrors } from '../../../src/watch/registry.ts';
import { cpuNow, cpuSince, finish, push, reachableBytes, reached, watchLoop } from './measuring.ts';

const [url = '', ca = '', control = '', events = '0', rate = '0'] = process.argv.slice(2);
const name = clusterName('bench');
const abort = new AbortController();
const options = { clock: systemClock, log: silentLog, signal: abort.signal };
const api = connectCluster({ name, server: url, trust: { type: 'authority', certificates: { type: 'data', data: Buffer.from(ca) } }, credentials: { type: 'token', token: 'bench' }, compression: 'off' }, options);
const mirrors = createMirrors({ clock: systemClock, log: silentLog });
mirrors.engage({ name, api, namespaces: [], secrets: 'none' }, abort.signal);
await mirrors.whenDiscovered(name, abort.signal);

const before = await reachableBytes();
const loop = watchLoop();
const start = cpuNow();
const lease = mirrors.acquire(name, { group: '', kind: 'Pod' });
if (lease === undefined) throw new Error('pods are not served');
const { mirror } = lease;
await mirror.whenSettled(abort.signal);
if (mirror.sync().phase !== 'SYNCED') throw new Error(`not synced: ${JSON.stringify(mirror.sync())}`);
const listed = cpuSince(start);
const { longestStallMs } = loop.stop();
const held = mirror.store.size;
const bytes = (await reachableBytes()) - before;

let changed = 0;
mirror.store.follow((batch) => {
  for (const { type } of batch) if (type === 'applied') changed += 1;
}, abort.signal);
const churn = watchLoop();
const eventStart = cpuNow();
const from = performance.now();
await push(control, { count: Number(events), rate: Number(rate) });
await reached(() => changed >= Number(events));
const event = cpuSince(eventStart);
const elapsedMs = performance.now() - from;
const { gcMs, longestGcMs } = churn.stop();
finish({ held, listCpuMs: listed.process, listMainMs: listed.main, bytes, longestStallMs, peakRssMb: process.resourceUsage().maxRSS / 1024, eventCpuMs: event.process, eventMainMs: event.main, elapsedMs, gcMs, longestGcMs });
