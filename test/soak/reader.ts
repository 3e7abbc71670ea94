import { type ChangeMessage, HeldObjects } from '../support/gateway/held-objects.ts';
import type { LineListener, ReaderLine, StartedStream } from './reader-line.ts';
import { type ReaderPlan, requestOf } from './reader-plan.ts';
import type { TrueObject } from './soak-cluster.ts';

/** Counters over all readers. */
export interface ReaderCounts {
  messages: number;
  resumed: number;
  begun: number;
  slow: number;
  /** Number of streams that the gateway ended, by reason. */
  readonly closed: Map<string, number>;
}

interface Summary {
  readonly total: number;
  readonly stale: number;
  readonly byPhase: readonly { readonly phase: string; readonly count: number }[];
  readonly byCluster: readonly { readonly total: number; readonly byPhase: readonly { readonly count: number }[] }[];
}

interface StatusMessage extends Omit<ChangeMessage, 'added' | 'modified' | 'deleted'> {
  readonly summary: Summary;
  readonly added: readonly JobState[];
  readonly modified: readonly JobState[];
  readonly deleted: readonly JobState[];
}

interface JobState {
  readonly id: string;
  readonly job: Pick<ChangeMessage['added'][number], 'metadata'>;
}

interface Result {
  readonly data?: { readonly stream: ChangeMessage | StatusMessage } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

export interface ReaderOptions {
  readonly plan: ReaderPlan;
  readonly line: ReaderLine;
  readonly counts: ReaderCounts;
  /** Parses a result; equal texts may give the same object. */
  readonly parse: (text: string) => unknown;
  /** Reports an error that must never happen. */
  readonly wrong: (what: string) => void;
}

/** Codes with which the gateway may end a stream. The client then resumes with `after`. */
const expectedEnds = ['SLOW_CONSUMER', 'UNAVAILABLE', 'SHUTTING_DOWN'];

/** Bounds of the random delay before a reader reconnects after its stream ended unexpectedly. */
const comeBackMs = { least: 100, most: 1_500 };

/** A client that folds the messages of one stream into objects and checks each message. Its habit decides when it disconnects. */
export class SoakReader implements LineListener {
  readonly plan: ReaderPlan;
  readonly #options: ReaderOptions;
  #held = new HeldObjects();
  #summary: Summary | undefined;
  #stream: StartedStream | undefined;
  #lastCode: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(options: ReaderOptions) {
    this.plan = options.plan;
    this.#options = options;
  }

  /** Starts the stream. Resumes at the cursor of the held objects, if there is one. */
  start(): void {
    if (this.#isEnded || this.#stream !== undefined) return;
    clearTimeout(this.#timer);
    const { counts, line } = this.#options;
    const { cursor } = this.#held;
    if (cursor === undefined) counts.begun += 1;
    else counts.resumed += 1;
    this.#held = this.#held.resumed();
    this.#lastCode = undefined;
    this.#stream = line.start(requestOf(this.plan, cursor), this);
  }

  /** Stops the stream. With `forget`, drops the held objects and the cursor, so the next start is that of a new client. */
  stop({ forget }: { readonly forget: boolean }): void {
    this.#stream?.stop();
    this.#stream = undefined;
    clearTimeout(this.#timer);
    if (!forget) return;
    this.#held = new HeldObjects();
    this.#summary = undefined;
  }

  /** Stops the stream for good. */
  end(): void {
    this.stop({ forget: true });
    this.#isEnded = true;
  }

  pause(): void {
    this.#options.line.pause();
  }

  resume(): void {
    this.#options.line.resume();
  }

  next(text: string): void {
    this.#options.counts.messages += 1;
    const { data, errors } = this.#options.parse(text) as Result;
    if (errors !== undefined) {
      this.#lastCode = errors[0]?.extensions.code;
      if (!expectedEnds.includes(this.#lastCode ?? '')) this.#wrong(text.slice(0, 500));
    }
    if (data != null) this.#take(data.stream);
  }

  ended(failure: string | undefined): void {
    this.#stream = undefined;
    const { counts } = this.#options;
    const reason = this.#lastCode ?? failure ?? 'complete';
    if (reason === 'SLOW_CONSUMER') counts.slow += 1;
    counts.closed.set(reason, (counts.closed.get(reason) ?? 0) + 1);
    if (failure?.startsWith('{')) this.#wrong(failure.slice(0, 500));
    this.#timer = setTimeout(() => this.start(), comeBackMs.least + Math.random() * (comeBackMs.most - comeBackMs.least));
  }

  /**
   * Describes how the reader differs from `truth`, the objects that it should hold. Undefined if it holds them all and every cluster is
   * synced.
   */
  amiss(truth: readonly TrueObject[], clusters: readonly string[]): string | undefined {
    if (this.#stream === undefined) return 'it has no stream';
    const synced = this.#held.synced();
    const unsynced = clusters.filter((name) => !synced.includes(name));
    if (unsynced.length > 0) return `${unsynced} not synced`;
    const behind = this.#held.behind();
    if (behind.length > 0) return `${behind} behind`;
    const expected = truth
      .map(({ cluster, namespace, name, uid, version }) => `${cluster}/${namespace}/${name} ${uid} ${version}`)
      .toSorted();
    const held = this.#held.identities();
    if (held.length !== expected.length) return `${held.length} held, ${expected.length} true: ${difference(held, expected)}`;
    const wrongAt = held.findIndex((identity, index) => identity !== expected[index]);
    if (wrongAt !== -1) return `${held[wrongAt]} held, ${expected[wrongAt]} true`;
    return this.plan.field === 'jobStatus' ? this.#summaryAmiss(truth) : undefined;
  }

  #summaryAmiss(truth: readonly TrueObject[]): string | undefined {
    const summary = this.#summary;
    if (summary === undefined) return 'no summary';
    if (summary.total !== truth.length || summary.stale !== 0)
      return `${summary.total} jobs counted, ${summary.stale} stale, ${truth.length} true`;
    const wrong = summary.byPhase.find(({ phase, count }) => count !== truth.filter((job) => job.phase === phase).length);
    return wrong === undefined ? undefined : `${wrong.count} ${wrong.phase} counted`;
  }

  #take(message: ChangeMessage | StatusMessage): void {
    try {
      if ('summary' in message) this.#takeStatus(message);
      else this.#held.take(message);
    } catch (error) {
      this.#wrong(error instanceof Error ? error.message : String(error));
      // Starts again without a cursor, so that one wrong message is reported once.
      this.stop({ forget: true });
      this.#timer = setTimeout(() => this.start(), comeBackMs.most);
    }
  }

  #takeStatus(message: StatusMessage): void {
    const objectOf = ({ id, job }: JobState) => ({ id, metadata: job.metadata });
    const { summary, added, modified, deleted, ...rest } = message;
    this.#held.take({ ...rest, added: added.map(objectOf), modified: modified.map(objectOf), deleted: deleted.map(objectOf) });
    const sums = [summary.byPhase, ...summary.byCluster.map(({ byPhase }) => byPhase)].map((counts) =>
      sumOf(counts.map(({ count }) => count)),
    );
    const totals = [summary.total, ...summary.byCluster.map(({ total }) => total)];
    const isExact = sums.every((sum, index) => sum === totals[index]) && sumOf(totals.slice(1)) === summary.total;
    if (!isExact || summary.byPhase.length !== 6) throw new Error(`expected counts that add up, got ${JSON.stringify(summary)}`);
    this.#summary = summary;
  }

  #wrong(what: string): void {
    this.#options.wrong(`${this.plan.name} ${this.plan.field} ${this.plan.habit}: ${what}`);
  }
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function difference(held: readonly string[], expected: readonly string[]): string {
  const tooMany = held.filter((identity) => !expected.includes(identity)).slice(0, 3);
  const missing = expected.filter((identity) => !held.includes(identity)).slice(0, 3);
  return `not true: ${tooMany}; not held: ${missing}`;
}
