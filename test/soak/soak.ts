// npm run soak [-- --minutes 60] [--readers 2000] [--churn 150] [--cycle 180] [--real]
// Runs the gateway for an hour with readers, changes and a cluster that is frozen for half of every cycle.
// Exit code 1 if a reader received wrong data, or if heap, sockets, listeners or timers grow.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { forkProgram } from '../bench/forked.ts';
import type { FleetAnswer, FleetQuestion } from './programs/fleet.ts';
import type { GatewayAnswer, GatewayQuestion, GatewaySample } from './programs/gateway.ts';
import type { ReadersAnswer, ReadersFigures, ReadersQuestion } from './programs/readers.ts';
import { heading, lineOf, type SoakSample, verdictOf } from './report.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    readers: { type: 'string', default: '2000' },
    churn: { type: 'string', default: '150' },
    cycle: { type: 'string', default: '180' },
    real: { type: 'boolean', default: false },
  },
});
const durationMs = Number(values.minutes) * 60_000;
const cycleMs = Number(values.cycle) * 1000;
const perSecond = Number(values.churn);
const readerCount = Number(values.readers);
/** Fractions of a cycle at which one cluster is frozen, is thawed, and all readers are compared with the clusters. */
const [freezeAt, thawAt, compareAt] = [1 / 6, 4 / 6, 5 / 6];
const sampleMs = Math.min(30_000, cycleMs / 6);
const convergeMs = 60_000;
const settleMs = 3_000;
const namespaces = Array.from({ length: 40 }, (_, index) => `team-${index}`);

using fleet = forkProgram<FleetQuestion, FleetAnswer>(new URL('./programs/fleet.ts', import.meta.url));
using gateway = forkProgram<GatewayQuestion, GatewayAnswer>(new URL('./programs/gateway.ts', import.meta.url), {
  nodeFlags: ['--expose-gc'],
});
using readers = forkProgram<ReadersQuestion, ReadersAnswer>(new URL('./programs/readers.ts', import.meta.url));

const samples: SoakSample[] = [];
const wrong: string[] = [];
const compared: { readonly atMs: number; readonly tookMs: number; readonly amiss: number }[] = [];
let startedMs = performance.now();
let isOver = false;
let frozen: string | undefined;

const { kubeconfig = '', clusters = [] } = await fleet.ask({ type: 'start', namespaces, real: values.real });
const { port = 0 } = await gateway.ask({ type: 'start', kubeconfig });
await fleet.ask({ type: 'churn', perSecond });
await readers.ask({ type: 'start', port, readers: readerCount, namespaces });
startedMs = performance.now();
console.log(`${readerCount} readers of http://127.0.0.1:${port}/graphql`);
console.log(heading());
await Promise.race([Promise.all([sampling(), cycling()]), untilProgramEnds()]);
await readers.ask({ type: 'end' });
await fleet.ask({ type: 'churn', perSecond: 0 });
await sleep(5_000);
const left = (await gateway.ask({ type: 'sample', deep: true })).sample;
const verdict = verdictOf({ samples, wrong, compared, left });
console.log(`\n${verdict.text}`);
writeFileSync(
  'soak.json',
  `${JSON.stringify({ options: values, ...verdict, compared, wrong: wrong.slice(0, 200), left, samples }, null, 2)}\n`,
);
process.exitCode = verdict.good ? 0 : 1;

async function sampling(): Promise<void> {
  for (let next = startedMs + sampleMs; next - startedMs <= durationMs; next += sampleMs) {
    await until(next);
    if (isOver) return;
    await takeSample({ resting: false });
  }
}

async function takeSample({ resting }: { readonly resting: boolean }): Promise<void> {
  const [{ sample }, { figures }, { changes: changed = 0, cpuMs = 0 }] = await Promise.all([
    gateway.ask({ type: 'sample', deep: resting }),
    readers.ask({ type: 'figures' }),
    fleet.ask({ type: 'figures' }),
  ]);
  if (sample === undefined || figures === undefined) throw new Error('expected a sample');
  recordBugs(sample, figures);
  const now = { atMs: performance.now() - startedMs, resting, ...(frozen === undefined ? {} : { frozen }) };
  samples.push({ ...now, gateway: sample, readers: figures, fleet: { changed, cpuMs } });
  console.log(lineOf(samples.slice(-2)));
}

function recordBugs({ bugs }: GatewaySample, figures: ReadersFigures): void {
  recordErrors([...bugs.map((bug) => `gateway: ${bug}`), ...figures.wrong]);
}

/** Keeps all errors and prints the first 20: one bug often causes a thousand of them. */
function recordErrors(all: readonly string[]): void {
  for (const what of all) {
    wrong.push(what);
    if (wrong.length <= 20) console.log(`WRONG ${what.replaceAll(/\s+/g, ' ').slice(0, 700)}`);
  }
}

async function cycling(): Promise<void> {
  for (let cycle = 0; (cycle + 1) * cycleMs <= durationMs; cycle += 1) {
    const from = startedMs + cycle * cycleMs;
    await until(from + freezeAt * cycleMs);
    frozen = clusters[cycle % clusters.length];
    await fleet.ask({ type: 'freeze', cluster: frozen ?? '' });
    await until(from + thawAt * cycleMs);
    await fleet.ask({ type: 'thaw' });
    frozen = undefined;
    await until(from + compareAt * cycleMs);
    await compare();
    await until(from + cycleMs);
  }
  isOver = true;
}

/**
 * Stops the changes and waits until every reader holds the objects of the clusters. Then takes a deep sample while all readers are
 * connected.
 */
async function compare(): Promise<void> {
  await fleet.ask({ type: 'churn', perSecond: 0 });
  const { truth = [] } = await fleet.ask({ type: 'truth' });
  const { amiss = [], tookMs = 0 } = await readers.ask({ type: 'compare', truth, clusters, withinMs: convergeMs });
  // Readers that have just reconnected have started their stream by then.
  await sleep(settleMs);
  await takeSample({ resting: true });
  await readers.ask({ type: 'go-on' });
  await fleet.ask({ type: 'churn', perSecond });
  compared.push({ atMs: performance.now() - startedMs, tookMs, amiss: amiss.length });
  console.log(`${readerCount - amiss.length} of ${readerCount} readers hold what is true, after ${(tookMs / 1000).toFixed(1)} s`);
  recordErrors(amiss);
}

async function untilProgramEnds(): Promise<never> {
  const named = { fleet, gateway, readers };
  const [name, how] = await Promise.race(Object.entries(named).map(async ([program, { ended }]) => [program, await ended] as const));
  throw new Error(`the ${name} ended with ${how}`);
}

async function until(atMs: number): Promise<void> {
  await sleep(Math.max(0, atMs - performance.now()));
}
