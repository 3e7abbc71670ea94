// Makes 1,000 changes a second for a few readers. Measures the age of a change when a client has read it.
//   change-latency.ts mirror|server READERS SECONDS [ADDRESS]
// With `mirror`, the age counts from the write to the store. With `server`, from the moment at which the canned API server at ADDRESS sent
// it.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { pin } from '../pin.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';
import { cpuNow, cpuSince, finish, post } from '../support/measuring.ts';
import { startWholeGateway } from '../support/whole-gateway.ts';
import { startStreaming } from './fan-out/ours.ts';
import { podStream } from './fan-out/publisher.ts';
import { paced, startReaders } from './readers.ts';

const [from = 'mirror', readerCount = '10', secondCount = '10', address] = process.argv.slice(2);
const [sockets, seconds] = [Number(readerCount), Number(secondCount)];
const perSecond = 1_000;
const pods = 2_000;

interface Source {
  readonly port: number;
  change(duration: number): Promise<void>;
}

pin(0);
const source = await (from === 'server' ? fromServer() : fromMirror());
using readers = startReaders();
const query = podStream(fifteenLeaves);
await readers.ask({ type: 'open', protocol: 'websocket', port: source.port, query, sockets, streamsEach: 1, frameBytes: 0 });
await source.change(2);
await readers.ask({ type: 'time' });
const start = cpuNow();
await source.change(seconds);
const cpu = cpuSince(start);
await sleep(300);
const { p50Ms, p99Ms, maxMs, timed = 0, messages = 0 } = await readers.ask({ type: 'figures' });
if (timed < perSecond * seconds * sockets * 0.5) throw new Error(`expected a stamp per change and reader, got ${timed}`);
finish({
  p50Ms: p50Ms ?? Number.NaN,
  p99Ms: p99Ms ?? Number.NaN,
  maxMs: maxMs ?? Number.NaN,
  changesPerMessage: timed / messages,
  cpuPercent: cpu.process / seconds / 10,
});

async function fromMirror(): Promise<Source> {
  const { port, change } = await startStreaming(pods);
  return { port, change: (duration) => paced({ perSecond, seconds: duration }, (stamp) => change(1, stamp)) };
}

async function fromServer(): Promise<Source> {
  const { url = '', ca = '', control = '' } = JSON.parse(address ?? '') as Readonly<Record<string, string>>;
  const port = await startWholeGateway(readFileSync(writeKubeconfig([{ name: 'bench', url, ca }]), 'utf8'));
  const change = (duration: number) => post(`${control}/push?count=${perSecond * duration}&rate=${perSecond}&stamped`);
  return { port, change: async (duration) => void (await change(duration)) };
}
