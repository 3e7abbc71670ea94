// The readers of the soak, in a process of their own. Answers `ReadersQuestion`s over IPC.
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../../bench/forked.ts';
import { type ReaderCounts, SoakReader } from '../reader.ts';
import { eventLine, type ReaderLine, SocketLine } from '../reader-line.ts';
import { planReaders, type ReaderPlan, streamsPerSocket } from '../reader-plan.ts';
import type { TrueObject } from '../soak-cluster.ts';

export type ReadersQuestion =
  /** Opens all readers, within a few seconds. `steady`: no reader has a habit. */
  | {
      readonly type: 'start';
      readonly port: number;
      readonly readers: number;
      readonly namespaces: readonly string[];
      readonly steady?: boolean;
    }
  /**
   * Connects all readers and suspends their habits until `go-on`. Waits until each holds the objects of the clusters, at most `withinMs`.
   * The answer names the readers that still differ.
   */
  | { readonly type: 'compare'; readonly truth: readonly TrueObject[]; readonly clusters: readonly string[]; readonly withinMs: number }
  /** Lets the readers follow their habits again. */
  | { readonly type: 'go-on' }
  | { readonly type: 'figures' }
  /** Stops all readers for good. */
  | { readonly type: 'end' };

export interface ReadersAnswer {
  readonly figures?: ReadersFigures;
  readonly amiss?: readonly string[];
  readonly tookMs?: number;
}

export interface ReadersFigures {
  readonly messages: number;
  readonly begun: number;
  readonly resumed: number;
  readonly slow: number;
  readonly closed: Readonly<Record<string, number>>;
  /** Errors that must never happen, since the last `figures` question. */
  readonly wrong: readonly string[];
  /** CPU milliseconds of the process so far. */
  readonly cpuMs: number;
  readonly rssMb: number;
}

const tickMs = 100;
const counts: ReaderCounts = { messages: 0, resumed: 0, begun: 0, slow: 0, closed: new Map() };
const wrong: string[] = [];
let readers: readonly SoakReader[] = [];
/** True while the readers are compared: no reader follows its habit then. */
let isResting = false;
let isEnded = false;

/** Parsed messages by their text. Readers of one view get equal texts at about the same time, so each text is parsed once. */
let parsed = new Map<string, unknown>();

answerParent(answer);

async function answer(question: ReadersQuestion): Promise<ReadersAnswer> {
  switch (question.type) {
    case 'start':
      await start(question);
      return {};
    case 'compare':
      return compare(question);
    case 'go-on':
      isResting = false;
      return {};
    case 'figures':
      return { figures: figures() };
    case 'end':
      isEnded = true;
      for (const reader of readers) reader.end();
      return {};
    default:
      return question satisfies never;
  }
}

async function start({ port, readers: count, namespaces, steady = false }: ReadersQuestion & { readonly type: 'start' }): Promise<void> {
  const planned = planReaders(count, namespaces);
  const plans = steady ? planned.map((plan) => ({ ...plan, habit: 'steady' as const })) : planned;
  const lines = linesOf(plans, port);
  readers = plans.map((plan, index) => {
    const line = lines[index];
    if (line === undefined) throw new Error('expected a connection for each reader');
    return new SoakReader({ plan, line, counts, parse, wrong: (what) => void (wrong.length < 100 && wrong.push(what)) });
  });
  for (const [index, reader] of readers.entries()) {
    reader.start();
    void followHabit(reader);
    // The gateway bounds how many sockets of one address may wait for their first message.
    if (index % 10 === 9) await sleep(20);
  }
}

function linesOf(plans: readonly ReaderPlan[], port: number): readonly ReaderLine[] {
  let shared: ReaderLine | undefined;
  let streams = 0;
  return plans.map(({ transport }) => {
    if (transport === 'sse') return eventLine(port);
    if (transport === 'own') return new SocketLine(port, { alone: true });
    if (shared === undefined || streams % streamsPerSocket === 0) shared = new SocketLine(port, { alone: false });
    streams += 1;
    return shared;
  });
}

function parse(text: string): unknown {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  if (parsed.size >= 500) parsed = new Map();
  const value: unknown = JSON.parse(text);
  parsed.set(text, value);
  return value;
}

/** Repeats the habit of one reader until the soak ends. */
async function followHabit(reader: SoakReader): Promise<void> {
  const { habit } = reader.plan;
  while (!isEnded) {
    await randomPause(10_000, 50_000);
    if (isEnded) return;
    switch (habit) {
      case 'steady':
        return;
      case 'slow':
        reader.pause();
        await randomPause(5_000, 18_000);
        reader.resume();
        break;
      case 'resuming':
      case 'leaving':
        reader.stop({ forget: habit === 'leaving' });
        await randomPause(100, 8_000);
        if (!isEnded) reader.start();
        break;
      default:
        return habit satisfies never;
    }
  }
}

/** Waits for a random time between the two bounds, and then until no comparison runs. */
async function randomPause(leastMs: number, mostMs: number): Promise<void> {
  const untilMs = performance.now() + leastMs + Math.random() * (mostMs - leastMs);
  while (!isEnded && (isResting || performance.now() < untilMs)) await sleep(tickMs);
}

async function compare({ truth, clusters, withinMs }: ReadersQuestion & { readonly type: 'compare' }): Promise<ReadersAnswer> {
  isResting = true;
  const fromMs = performance.now();
  for (const reader of readers) {
    reader.resume();
    reader.start();
  }
  let amiss = amissOf(readers, truth, clusters);
  while (amiss.length > 0 && performance.now() - fromMs < withinMs) {
    await sleep(250);
    amiss = amissOf(
      amiss.map(({ reader }) => reader),
      truth,
      clusters,
    );
  }
  return {
    amiss: amiss.map(({ reader, what }) => `${reader.plan.name} ${reader.plan.field}: ${what}`),
    tookMs: performance.now() - fromMs,
  };
}

interface Amiss {
  readonly reader: SoakReader;
  readonly what: string;
}

function amissOf(candidates: readonly SoakReader[], truth: readonly TrueObject[], clusters: readonly string[]): readonly Amiss[] {
  const chosen = new Map<string, readonly TrueObject[]>();
  return candidates.flatMap((reader) => {
    const { field, namespace, tier } = reader.plan;
    const kind = field === 'configMaps' ? 'ConfigMap' : 'Job';
    const key = `${kind}/${namespace ?? ''}/${tier ?? ''}`;
    const isChosen = (one: TrueObject) =>
      one.kind === kind && (namespace === undefined || one.namespace === namespace) && (tier === undefined || one.tier === tier);
    const expected = chosen.get(key) ?? truth.filter(isChosen);
    chosen.set(key, expected);
    const what = reader.amiss(expected, clusters);
    return what === undefined ? [] : [{ reader, what }];
  });
}

function figures(): ReadersFigures {
  const { user, system } = process.cpuUsage();
  const { messages, begun, resumed, slow, closed } = counts;
  const memory = process.memoryUsage().rss / 1e6;
  const totals = { messages, begun, resumed, slow, closed: Object.fromEntries(closed) };
  return { ...totals, wrong: wrong.splice(0), cpuMs: (user + system) / 1000, rssMb: memory };
}
