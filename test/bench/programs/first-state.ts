// Measures the CPU of sending a first state of 10,000 objects, compared with JSON.stringify and a write of the same data.
// Also measures the longest event-loop turn while readers join.
//   first-state.ts ours|floor OBJECTS READERS
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../bench-case.ts';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { pin } from '../pin.ts';
import { podOf } from '../pods.ts';
import { cpuNow, cpuSince, finish, watchTurns } from '../support/measuring.ts';
import { rawWrites } from './fan-out/floors.ts';
import { type StreamingGateway, startStreaming } from './fan-out/ours.ts';
import { podStream } from './fan-out/publisher.ts';
import { type ReaderCommand, startReaders } from './readers.ts';

const [variant = '', objectCount = '10000', readerCount = '100'] = process.argv.slice(2);
const objects = Number(objectCount);
const chunk = 250;
/** The joins after which the code of both sides is compiled. A gateway that runs for a day has had more. */
const warmUps = 20;
/** The joins after which most code is not compiled yet. */
const coldWarmUps = 3;

pin(0);
using readers = startReaders();
finish(variant === 'floor' ? { cpuMs: await floor() } : await ours());

async function ours(): Promise<Figures> {
  const { port, change } = await startStreaming(objects);
  const warmUp = async (joins: number) => {
    for (let n = 0; n < joins; n += 1) await join({ port, change, sockets: 1 });
  };
  const measured = async () => {
    const start = cpuNow();
    await readers.ask(openingOf(port, 1));
    const { process } = cpuSince(start);
    await leave(change);
    return process;
  };
  await warmUp(coldWarmUps);
  const coldCpuMs = await measured();
  await warmUp(warmUps - coldWarmUps);
  const cpuMs = await measured();
  const one = watchTurns();
  await join({ port, change, sockets: 1 });
  const { longestTurnMs } = one.stop();
  const many = watchTurns();
  await join({ port, change, sockets: Number(readerCount) });
  return { cpuMs, coldCpuMs, longestTurnMs, longestTurnOfManyMs: many.stop().longestTurnMs };
}

interface Joining {
  readonly port: number;
  readonly change: StreamingGateway['change'];
  readonly sockets: number;
}

/** Lets this number of readers join at once and leave again. */
async function join({ port, change, sockets }: Joining): Promise<void> {
  await readers.ask(openingOf(port, sockets));
  await leave(change);
}

/** Disconnects the readers and changes the state, so that no cached bytes of the last state can be used again. */
async function leave(change: StreamingGateway['change']): Promise<void> {
  await readers.ask({ type: 'close' });
  change(1);
  await sleep(300);
}

function openingOf(port: number, sockets: number): ReaderCommand {
  return { type: 'open', protocol: 'websocket', port, query: podStream(fifteenLeaves), sockets, streamsEach: 1, frameBytes: 0 };
}

async function floor(): Promise<number> {
  const plain = Array.from({ length: objects }, (_, index) => projected(index));
  const chunks = Array.from({ length: objects / chunk }, (_, index) => plain.slice(index * chunk, (index + 1) * chunk));
  const messages = () =>
    chunks.map((added) =>
      Buffer.from(JSON.stringify({ data: { pods: { type: 'INITIAL', cursor: 'c'.repeat(120), cluster: { name: 'bench' }, added } } })),
    );
  const raw = await rawWrites(1);
  await readers.ask({ type: 'open', protocol: 'raw', port: raw.port, query: '', sockets: 1, streamsEach: 1, frameBytes: 1 });
  const bytes = messages().reduce((sum, message) => sum + message.length, 0);
  for (let n = 1; n < warmUps; n += 1) messages();
  await readers.ask({ type: 'time' });
  const from = cpuNow();
  for (const message of messages()) raw.write(message);
  await readers.ask({ type: 'until', messages: bytes });
  return cpuSince(from).process;
}

/** Returns the pod as a client receives it. */
function projected(index: number): object {
  const { metadata, spec, status } = podOf(index) as Readonly<Record<'metadata' | 'spec' | 'status', Readonly<Record<string, unknown>>>>;
  const { name, namespace, uid, creationTimestamp, resourceVersion, labels } = metadata;
  const { nodeName, serviceAccountName, restartPolicy } = spec;
  const { phase, podIP, startTime } = status;
  return {
    id: Buffer.from(`bench/v1/Pod/${namespace}/${name}`).toString('base64url'),
    kind: 'Pod',
    cluster: { name: 'bench' },
    metadata: { name, namespace, uid, creationTimestamp, resourceVersion, labels },
    spec: { nodeName, serviceAccountName, restartPolicy },
    status: { phase, podIP, startTime },
  };
}
