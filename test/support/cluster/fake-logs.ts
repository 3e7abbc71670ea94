import type { LogPart, LogRequest } from '../../../src/cluster/cluster-api.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { Fault, FaultCode } from '../../../src/core/faults.ts';
import type { ClusterName } from '../../../src/core/names.ts';

/** A stored line. */
interface Line {
  readonly time: string;
  readonly bytes: Uint8Array;
  /** True for a piece of a long line. It has a time only if it begins with one. */
  readonly isPiece?: boolean;
}

interface Run {
  readonly lines: Line[];
  ended: boolean;
}

interface Follower {
  readonly request: LogRequest;
  push(part: LogPart): void;
}

/** The log of one container, written by a test. */
export interface FakeLog {
  /** Writes lines with the time of the clock. Followers receive them at once. */
  write(...lines: readonly (string | Uint8Array)[]): void;
  /** Writes pieces of one long line. */
  pieces(...texts: readonly string[]): void;
  /** Ends the container. Followers end cleanly. */
  end(): void;
  /** Ends the container and starts a new run with an empty log. */
  restart(): void;
  /** Makes current followers fail, as a cut network does. */
  cut(fault?: Fault): void;
  /** Ends current followers cleanly while the container runs on, as when a kubelet restarts. */
  close(): void;
  /** Number of followers. */
  readonly followers: number;
}

const encoder = new TextEncoder();

/**
 * `ClusterApi.logs` of one cluster, without a network. Times have nanoseconds, and `sinceTime` is rounded to seconds, as on a real
 * server.
 */
export class FakeLogs {
  readonly seen: LogRequest[] = [];
  /** Faults of the next requests, in this order. */
  readonly failing: Fault[] = [];
  /** While true, no request is answered until its caller gives up. */
  silent = false;
  readonly #cluster: ClusterName;
  readonly #clock: Clock;
  readonly #runs = new Map<string, Run[]>();
  readonly #followers = new Map<string, Set<Follower>>();
  #open = 0;

  constructor(cluster: ClusterName, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** Number of requests that have not ended. */
  get open(): number {
    return this.#open;
  }

  of(namespace: string, pod: string, container: string): FakeLog {
    const key = `${namespace}/${pod}/${container}`;
    const runs = this.#runs.get(key) ?? [{ lines: [], ended: false }];
    this.#runs.set(key, runs);
    const tell = (part: LogPart) => {
      for (const follower of this.#followers.get(key) ?? []) follower.push(part);
    };
    const current = () => runs.at(-1) ?? { lines: [], ended: false };
    const end = () => {
      current().ended = true;
      tell({ type: 'closed' });
    };
    const append = (lines: readonly Line[]) => {
      current().lines.push(...lines);
      for (const { request, push } of this.#followers.get(key) ?? []) push(partOf(lines, request));
    };
    const time = () => new Date(this.#clock.now()).toISOString().replace('Z', '000000Z');
    const followers = () => this.#followers.get(key)?.size ?? 0;
    return {
      write: (...texts) => append(texts.map((text) => ({ time: time(), bytes: typeof text === 'string' ? encoder.encode(text) : text }))),
      pieces: (...texts) => append(texts.map((text) => ({ time: time(), bytes: encoder.encode(text), isPiece: true }))),
      end,
      restart() {
        end();
        runs.push({ lines: [], ended: false });
      },
      cut: (fault = this.fault('UNREACHABLE')) => tell({ type: 'failed', fault }),
      close: () => tell({ type: 'closed' }),
      get followers() {
        return followers();
      },
    };
  }

  fault(code: FaultCode): Fault {
    return { code, cluster: this.#cluster, message: code, retry: code === 'NOT_FOUND' ? 'NEVER' : 'LATER' };
  }

  async *logs(request: LogRequest, signal: AbortSignal): AsyncGenerator<LogPart, void> {
    this.seen.push(request);
    this.#open++;
    try {
      if (this.silent) await ended(signal);
      if (signal.aborted) return;
      const fault = this.failing.shift();
      if (fault !== undefined) return yield { type: 'failed', fault };
      yield* this.#answer(request, signal);
    } finally {
      this.#open--;
    }
  }

  async *#answer(request: LogRequest, signal: AbortSignal): AsyncGenerator<LogPart, void> {
    const key = `${request.namespace}/${request.pod}/${request.container}`;
    const runs = this.#runs.get(key);
    const run = runs?.at(request.previous ? -2 : -1);
    if (run === undefined) return yield { type: 'failed', fault: this.fault('NOT_FOUND') };
    yield { type: 'opened' };
    const lines = chosen(run.lines, request, this.#clock);
    const seen = run.lines.length;
    if (lines.length > 0) yield limited(partOf(lines, request), request.limitBytes);
    if (!request.follow || run.ended || signal.aborted) return signal.aborted ? undefined : yield { type: 'closed' };
    yield* this.#follow(key, { request, seen, run }, signal);
  }

  async *#follow(
    key: string,
    { request, seen, run }: { readonly request: LogRequest; readonly seen: number; readonly run: Run },
    signal: AbortSignal,
  ): AsyncGenerator<LogPart, void> {
    const parts: LogPart[] = [];
    let wake: () => void = ignore;
    const follower: Follower = {
      request,
      push(part) {
        parts.push(part);
        wake();
      },
    };
    const missed = run.lines.slice(seen);
    if (missed.length > 0) parts.push(partOf(missed, request));
    if (run.ended) parts.push({ type: 'closed' });
    const all = this.#followers.get(key) ?? new Set();
    this.#followers.set(key, all.add(follower));
    const aborted = () => wake();
    signal.addEventListener('abort', aborted, { once: true });
    try {
      while (!signal.aborted) {
        const part = parts.shift();
        if (part === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else {
          yield part;
          if (part.type === 'closed' || part.type === 'failed') return;
        }
      }
    } finally {
      all.delete(follower);
      signal.removeEventListener('abort', aborted);
    }
  }
}

function ignore(): void {
  // No request waits yet.
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));
}

function chosen(lines: readonly Line[], { sinceSeconds, sinceTime, tailLines }: LogRequest, clock: Clock): readonly Line[] {
  const sinceMs =
    sinceTime === undefined ? clock.now() - (sinceSeconds ?? Infinity) * 1_000 : Math.floor(Date.parse(sinceTime) / 1_000) * 1_000;
  const since = lines.filter(({ time }) => Date.parse(time) >= sinceMs);
  return tailLines === undefined ? since : since.slice(since.length - Math.min(tailLines, since.length));
}

function partOf(lines: readonly Line[], { timestamps }: LogRequest): Extract<LogPart, { type: 'lines' }> {
  const whole = lines.map(({ time, bytes, isPiece = false }) =>
    timestamps && !isPiece ? Buffer.concat([encoder.encode(`${time} `), bytes]) : bytes,
  );
  return { type: 'lines', lines: whole, bytes: whole.reduce((sum, { length }) => sum + length + 1, 0), isCut: false };
}

function limited(part: Extract<LogPart, { type: 'lines' }>, limitBytes: number | undefined): LogPart {
  if (limitBytes === undefined || part.bytes <= limitBytes) return part;
  const lines: Uint8Array[] = [];
  let left = limitBytes;
  for (const line of part.lines) {
    if (left <= 0) break;
    lines.push(line.subarray(0, left));
    left -= line.length + 1;
  }
  return { type: 'lines', lines, bytes: limitBytes, isCut: left < 0 };
}
