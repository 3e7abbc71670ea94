// Sends one change, or several in one turn, to many readers. Measures the CPU of the publishing process per delivery.
//   fan-out.ts VARIANT READERS CHANGES ROUNDS [FRAME_BYTES]
import { setTimeout as sleep } from 'node:timers/promises';
import { pin } from '../pin.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';
import { type Publisher, podStream, usualFrameBytes } from './fan-out/publisher.ts';
import { startReaders } from './readers.ts';

const [variant = '', readerCount = '1000', changeCount = '1', roundCount = '100', bytes] = process.argv.slice(2);
const [readers, changes, rounds] = [Number(readerCount), Number(changeCount), Number(roundCount)];
const frameBytes = Number(bytes ?? usualFrameBytes);

pin(0);
const publisher = await publisherOf(variant);
using clients = startReaders();
const { port, protocol, query } = publisher;
// A caller may have 20 sockets, so the readers of ten callers share sockets. Those of one caller then do so too.
const streamsEach = variant.startsWith('identities-') ? 5 : 1;
await clients.ask({ type: 'open', protocol, port, query, sockets: readers / streamsEach, streamsEach, frameBytes });
// The reader that synced last must first request its next message.
await sleep(500);
await clients.ask({ type: 'time' });
publisher.publish(changes);
const first = await clients.ask({ type: 'until', messages: readers });
await sleep(300);
// Changes of one turn may arrive as one message or as many.
const perReader = Math.round(((await clients.ask({ type: 'figures' })).messages ?? 0) / readers);
await clients.ask({ type: 'count' });
let expected = 0;
await publishFor(Math.ceil(rounds / 4));
const start = cpuNow();
await publishFor(rounds);
const cpu = cpuSince(start);
finish({
  usPerDelivery: (cpu.process * 1000) / (rounds * readers * changes),
  deliveriesPerCpuSecond: (rounds * readers * changes) / (cpu.process / 1000),
  messagesPerRound: perReader,
  frameBytes: Math.round((first.bytes ?? 0) / (first.messages ?? 1)),
});

async function publishFor(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    publisher.publish(changes);
    expected += readers * perReader;
    await clients.ask({ type: 'until', messages: expected });
  }
}

async function publisherOf(name: string): Promise<Publisher> {
  // Imported here, so that each variant pays for its own imports only.
  switch (name) {
    case 'websocket':
    case 'sse':
      return ours(name);
    case 'identities-1':
    case 'identities-10':
      return ours('websocket', Number(name.slice('identities-'.length)));
    case 'raw':
      return (await import('./fan-out/floors.ts')).rawWrites(frameBytes);
    case 'ws':
      return (await import('./fan-out/floors.ts')).wsSends(frameBytes);
    case 'graphql-ws':
      return (await import('./fan-out/strangers.ts')).graphqlWs();
    case 'yoga-sse':
      return (await import('./fan-out/strangers.ts')).yogaEvents();
    default:
      throw new Error(`no variant ${name}`);
  }
}

/** Starts our publisher with few pods, so that the first state is small compared with the changes. */
async function ours(transport: 'websocket' | 'sse', identities?: number): Promise<Publisher> {
  const { startStreaming } = await import('./fan-out/ours.ts');
  const { fifteenLeaves } = await import('../fifteen-leaves.ts');
  const { port: at, change } = await startStreaming(20, identities);
  return { port: at, protocol: transport, query: podStream(fifteenLeaves), publish: change };
}
