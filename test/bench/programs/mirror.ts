// Measures our mirror over the canned server: first a list that it holds, then events.
//   mirror.ts URL CA CONTROL EVENTS RATE
import { cpuNow, cpuSince, finish, push, reachableBytes, reached, watchLoop } from '../support/measuring.ts';
import { engageCanned } from '../support/mirrored-pods.ts';

const [url = '', ca = '', control = '', events = '0', rate = '0'] = process.argv.slice(2);
const { signal } = new AbortController();
const cluster = await engageCanned({ url, ca, signal });

const before = await reachableBytes();
const loop = watchLoop();
const start = cpuNow();
const { store } = await cluster.mirror();
const listed = cpuSince(start);
const { longestStallMs } = loop.stop();
const held = store.size;
const bytes = (await reachableBytes()) - before;

// A follower reads the feed, as the streams of clients do.
let read = 0;
store.follow((batch) => {
  read += batch.length;
}, signal);
const churn = watchLoop();
const eventStart = cpuNow();
if (Number(events) > 0) {
  const last = await push(control, { count: Number(events), rate: Number(rate) });
  await reached(() => store.version === last && read > 0);
}
const event = cpuSince(eventStart);
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
  gcMs,
  longestGcMs,
});
