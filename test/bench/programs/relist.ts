// Measures the first list of a mirror, then the same unchanged list after a 410.
//   relist.ts URL CA CONTROL
import { cpuNow, cpuSince, finish, post, reached } from '../support/measuring.ts';
import { engageCanned } from '../support/mirrored-pods.ts';

const [url = '', ca = '', control = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const cluster = await engageCanned({ url, ca, signal });
const first = cpuNow();
const { store } = await cluster.mirror();
const firstCpu = cpuSince(first);
let events = 0;
store.follow((batch) => {
  for (const { type } of batch) if (type !== 'confirmed') events += 1;
}, signal);
const before = await counts();
const again = cpuNow();
await post(`${control}/expire`);
await reached(
  async () => {
    const { lists, watches } = await counts();
    return lists > before.lists && watches > 0;
    // Polled rarely, because each poll costs a request.
  },
  { everyMs: 250 },
);
const relistCpu = cpuSince(again);
finish({ held: store.size, firstMainMs: firstCpu.main, relistMainMs: relistCpu.main, events });

async function counts(): Promise<{ lists: number; watches: number }> {
  return (await (await fetch(`${control}/counts`)).json()) as { lists: number; watches: number };
}
