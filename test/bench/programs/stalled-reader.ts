// Measures one reader that does not read, among many that do: the memory that it holds, and the latency of the others with and without it.
// Needs --expose-gc.
//   stalled-reader.ts READERS SECONDS
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { pin } from '../pin.ts';
import { finish, reachableBytes } from '../support/measuring.ts';
import { startStreaming } from './fan-out/ours.ts';
import { paced, type ReaderFigures, startReaders } from './readers.ts';

const [readerCount = '1000', secondCount = '4'] = process.argv.slice(2);
const [others, seconds] = [Number(readerCount) - 1, Number(secondCount)];
/** Number of pods. At 3 KB each they almost fill one queue, so the stalled reader's queue is full but its stream is not ended. */
const pods = 300;
const eventsPerSecond = 40;
// `added` has few fields, so that all readers join before the stalled one is closed as dead.
const query = `subscription { pods { type cursor cluster { name } added { id } modified { ${fifteenLeaves} } deleted { id } } }`;

pin(0);
const { port, change } = await startStreaming(pods);
using readers = startReaders();
const open = (sockets: number) => readers.ask({ type: 'open', protocol: 'websocket', port, query, sockets, streamsEach: 1, frameBytes: 0 });

await open(1);
await readers.ask({ type: 'hold', count: 1 });
// Sends 20 MB, more than the kernel buffers for a client that does not read.
for (let n = 0; n < 200; n += 1) {
  change(pods / 2);
  await sleep(15);
}
await open(others);
await timedFor(1);
const withIt = await timedFor(seconds);
const heldWith = await heldBytes();
if (fullest() === 0) throw new Error('expected the kernel to have taken all it takes');
if ((await streamsOpen()) !== others + 1)
  throw new Error(`expected the stalled stream to be there still, got ${await streamsOpen()} streams`);
await readers.ask({ type: 'drop-held' });
await sleep(500);
const heldWithout = await heldBytes();
await timedFor(1);
const without = await timedFor(seconds);
finish({
  heldKb: (heldWith - heldWithout) / 1000,
  p99WithMs: withIt.p99Ms ?? Number.NaN,
  p99WithoutMs: without.p99Ms ?? Number.NaN,
  p50WithMs: withIt.p50Ms ?? Number.NaN,
});

async function timedFor(duration: number): Promise<ReaderFigures> {
  await readers.ask({ type: 'time' });
  await paced({ perSecond: eventsPerSecond, seconds: duration }, (stamp) => change(1, stamp));
  await sleep(200);
  return readers.ask({ type: 'figures' });
}

async function heldBytes(): Promise<number> {
  const heap = await reachableBytes();
  return heap + process.memoryUsage().external;
}

/** Returns the unsent bytes of the socket that has the most. */
function fullest(): number {
  const handles = Reflect.get(process, '_getActiveHandles').call(process) as readonly object[];
  return Math.max(0, ...handles.filter((handle) => handle instanceof Socket).map(({ writableLength }) => writableLength));
}

async function streamsOpen(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^muster_streams\{transport="websocket"\} (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}
