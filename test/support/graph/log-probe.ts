import type { Caller } from '../../../src/access/access.ts';
import type { MusterError } from '../../../src/core/errors.ts';
import type { LogBatchView, LogExtent, LogSelection } from '../../../src/load/logs/logs.ts';
import type { StreamReader } from '../../../src/streams/stream-source.ts';
import { turns } from '../manual-clock.ts';
import type { LogWorld } from './log-world.ts';
import { idleContext } from './read-context.ts';

/** A reader of followed logs that records its batches. It takes them at once unless it is slow. */
export interface LogProbe extends Disposable {
  readonly reader: StreamReader<LogBatchView>;
  readonly batches: readonly LogBatchView[];
  /** Returns the batches since the last call: `north/default/web/main: text`, `…: ENDED`, `…: FAILED CODE`, and `…: dropped 3`. */
  news(): Promise<readonly string[]>;
  /** Number of notifications. */
  readonly told: number;
  readonly reason: MusterError | undefined;
}

export interface LogProbeOptions {
  readonly selection?: LogSelection;
  readonly extent?: LogExtent;
  /** A text is the key of a caller without a user. Default: `me`. */
  readonly caller?: string | Caller;
  readonly signal?: AbortSignal;
  /** True: the reader takes nothing by itself. */
  readonly isSlow?: boolean;
}

/**
 * Opens a reader.
 *
 * @throws if `open` throws.
 */
export async function followLogs({ logs }: LogWorld, options: LogProbeOptions = {}): Promise<LogProbe> {
  const { selection = {}, extent = {}, caller = 'me', signal = new AbortController().signal, isSlow = false } = options;
  const batches: LogBatchView[] = [];
  let told = 0;
  let seen = 0;
  let reason: MusterError | undefined;
  let reader: StreamReader<LogBatchView> | undefined;
  const listener = {
    ready() {
      if (reader === undefined) throw new Error('expected not to be told from within open');
      told++;
      if (isSlow) return;
      for (let batch = reader.take(); batch !== undefined; batch = reader.take()) batches.push(batch);
    },
    ended(why: MusterError) {
      reason = why;
    },
  };
  const opened = await logs
    .follow(idleContext({ caller: typeof caller === 'string' ? { key: caller } : caller }), selection, extent)
    .open(listener, signal);
  reader = opened;
  return {
    reader: opened,
    batches,
    async news() {
      await turns();
      const fresh = batches.slice(seen);
      seen = batches.length;
      return fresh.flatMap(textsOf);
    },
    get told() {
      return told;
    },
    get reason() {
      return reason;
    },
    [Symbol.dispose]: () => opened[Symbol.dispose](),
  };
}

/** Prints a batch, line by line. */
export function textsOf({ cluster, namespace, pod, container, type, lines, dropped, fault }: LogBatchView): readonly string[] {
  const place = `${cluster.name}/${namespace}/${pod}/${container}`;
  const lost = dropped === 0 ? [] : [`${place}: dropped ${dropped}`];
  if (type === 'LINES') return [...lost, ...lines.map(({ text }) => `${place}: ${text}`)];
  return [...lost, `${place}: ${type}${fault === undefined ? '' : ` ${fault.code}`}`];
}
