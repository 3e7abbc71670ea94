import type { GatewaySample } from './programs/gateway.ts';
import type { ReadersFigures } from './programs/readers.ts';
import { type Allowance, type Trend, trendOf } from './trend.ts';

/** All processes of the soak at one moment. */
export interface SoakSample {
  /** Milliseconds since the last reader started. */
  readonly atMs: number;
  /** True for a deep sample: no object changes, every reader is connected, and garbage was collected first. */
  readonly resting: boolean;
  /** The frozen cluster. Undefined if none is frozen. */
  readonly frozen?: string;
  readonly gateway: GatewaySample;
  readonly readers: ReadersFigures;
  readonly fleet: { readonly changed: number; readonly cpuMs: number };
}

export interface SoakRun {
  readonly samples: readonly SoakSample[];
  /** Errors that must never happen. */
  readonly wrong: readonly string[];
  /** The comparison of each cycle: the time until all readers held the objects of the clusters, and the number of readers that did not. */
  readonly compared: readonly { readonly tookMs: number; readonly amiss: number }[];
  /** Sample of the gateway after all readers have left. */
  readonly left: GatewaySample | undefined;
}

export interface Verdict {
  readonly good: boolean;
  readonly text: string;
  readonly trends: Readonly<Record<string, Trend | 'too few samples'>>;
}

interface BoundedFigure {
  readonly value: (sample: GatewaySample) => number;
  readonly allowance: Allowance;
}

/**
 * Figures that must not grow from cycle to cycle. The number of timers varies a little, because connections to clusters start and stop
 * them.
 */
const watched: Readonly<Record<string, BoundedFigure>> = {
  'heap MB': { value: ({ heapMb }) => heapMb, allowance: { share: 0.03, least: 3 } },
  sockets: { value: ({ sockets }) => sockets, allowance: { share: 0.01, least: 5 } },
  listeners: { value: ({ listeners }) => listeners ?? Number.NaN, allowance: { share: 0.01, least: 50 } },
  timers: { value: ({ timers }) => timers, allowance: { share: 0.03, least: 20 } },
};

const columns = ['min', 'frozen', 'heap MB', 'rss MB', 'sockets', 'listeners', 'timers', 'streams', 'lag p99', 'max ms'];
const rates = ['gateway %', 'readers %', 'fleet %', 'changes/s', 'messages/s', 'resumed', 'slow'];

export function heading(): string {
  return row([...columns, ...rates]);
}

/** Renders the last sample as a line, with rates since the sample before. */
export function lineOf(samples: readonly SoakSample[]): string {
  const [sample, before] = samples.toReversed();
  if (sample === undefined) return '';
  const { gateway, readers, fleet } = sample;
  const seconds = (sample.atMs - (before?.atMs ?? 0)) / 1000;
  const percent = (now: number, then: number | undefined) => (then === undefined ? '' : ((now - then) / seconds / 10).toFixed(0));
  const rate = (now: number, then: number | undefined) => (then === undefined ? '' : ((now - then) / seconds).toFixed(0));
  return row([
    (sample.atMs / 60_000).toFixed(1),
    sample.resting ? 'rest' : (sample.frozen ?? ''),
    gateway.heapMb.toFixed(1),
    gateway.rssMb.toFixed(0),
    String(gateway.sockets),
    String(gateway.listeners ?? ''),
    String(gateway.timers),
    String(gateway.streams ?? ''),
    gateway.lagP99Ms.toFixed(1),
    gateway.lagMaxMs.toFixed(0),
    percent(gateway.cpuMs, before?.gateway.cpuMs),
    percent(readers.cpuMs, before?.readers.cpuMs),
    percent(fleet.cpuMs, before?.fleet.cpuMs),
    rate(fleet.changed, before?.fleet.changed),
    rate(readers.messages, before?.readers.messages),
    String(readers.resumed),
    String(readers.slow),
  ]);
}

/** Judges the run: text for people, and `good` for the exit code. */
export function verdictOf({ samples, wrong, compared, left }: SoakRun): Verdict {
  const trends = Object.fromEntries(
    Object.entries(watched).map(([name, { value, allowance }]) => {
      const values = samples.filter(({ resting }) => resting).map(({ atMs, gateway }) => ({ atMs, value: value(gateway) }));
      return [name, trendOf(values, allowance) ?? ('too few samples' as const)];
    }),
  );
  const growing = Object.values(trends).some((trend) => trend !== 'too few samples' && !trend.flat);
  const amiss = compared.reduce((sum, one) => sum + one.amiss, 0);
  const leftStreams = left?.streams ?? 0;
  const longest = Math.max(0, ...compared.map(({ tookMs }) => tookMs));
  const lines = [
    ...Object.entries(trends).map(([name, trend]) => `${name.padEnd(12)} ${textOf(trend)}`),
    `compared     ${compared.length} times, ${amiss} readers amiss, all true after ${(longest / 1000).toFixed(1)} s at most`,
    `wrong        ${wrong.length}`,
    `left         ${leftStreams} streams, ${left?.sockets} sockets, ${left?.listeners} listeners, ${left?.heapMb.toFixed(1)} MB of heap`,
    `ended        ${JSON.stringify(samples.at(-1)?.readers.closed ?? {})}`,
  ];
  const good = !growing && amiss === 0 && wrong.length === 0 && leftStreams === 0;
  return { good, trends, text: [...lines, good ? 'good' : 'NOT GOOD'].join('\n') };
}

function textOf(trend: Trend | 'too few samples'): string {
  if (trend === 'too few samples') return trend;
  const { median, growth, allowed, flat } = trend;
  return `${flat ? 'flat' : 'GROWS'}: ${median.toFixed(1)} in the middle of the second half, ${growth.toFixed(1)} more over it (allowed ${allowed.toFixed(1)})`;
}

function row(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(9)).join(' ');
}
