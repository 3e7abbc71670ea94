// Measures the memory of one quiet stream. Needs --expose-gc.
//   idle-streams.ts websocket|sse SOCKETS STREAMS_EACH
import { setTimeout as sleep } from 'node:timers/promises';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { pin } from '../pin.ts';
import { finish, reachableBytes } from '../support/measuring.ts';
import { startStreaming } from './fan-out/ours.ts';
import { podStream } from './fan-out/publisher.ts';
import { startReaders } from './readers.ts';

const [transport = '', socketCount = '5000', streamsEach = '1'] = process.argv.slice(2);
const protocol = transport === 'sse' ? 'sse' : 'websocket';
const sockets = Number(socketCount);

pin(0);
const { port } = await startStreaming(20);
using readers = startReaders();
const open = (count: number) =>
  readers.ask({
    type: 'open',
    protocol,
    port,
    query: podStream(fifteenLeaves),
    sockets: count,
    streamsEach: Number(streamsEach),
    frameBytes: 0,
  });

// Warm-up: the first streams also pay for shared parts, such as compiled code, the view and parsed documents.
await open(Math.ceil(sockets / 10));
await readers.ask({ type: 'close' });
await sleep(1_000);
const before = await held();
await open(sockets);
await sleep(1_000);
const after = await held();
const streams = sockets * Number(streamsEach);
finish({ heapKbEach: (after.heap - before.heap) / streams / 1000, rssKbEach: (after.rss - before.rss) / streams / 1000 });

async function held(): Promise<{ readonly heap: number; readonly rss: number }> {
  const heap = await reachableBytes();
  return { heap, rss: process.memoryUsage().rss };
}
