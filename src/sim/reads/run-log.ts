import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import type { LogEntry, LogKey } from '../requests/container-lines.ts';
import type { SimServer } from '../requests/sim-server.ts';
import { type GeneratedRun, generatedLines } from './generated-lines.ts';
import type { LogQuery } from './log-query.ts';

/** A log line as a kubelet sends it. */
export interface LoggedLine {
  /** RFC 3339 with nine digits of a second. */
  readonly time: string;
  readonly bytes: Uint8Array;
}

export interface RunLogOptions {
  readonly server: SimServer;
  readonly key: LogKey;
  /** Returns the current Pod. Undefined once it is gone. */
  readonly pod: () => KubernetesObject | undefined;
}

/** The log of one run for one reader: written lines and generated lines. */
export class RunLog implements Disposable {
  readonly #options: RunLogOptions;
  readonly #listening = new DisposableStack();
  #wake: (() => void) | undefined;
  /** Numbers of the next written line and the next generated line to read. */
  #written = 0;
  #generated = 0;

  constructor(options: RunLogOptions) {
    this.#options = options;
    const { server, key } = options;
    const storage = server.state.storageOf('Pod');
    this.#listening.use(server.hooks.lines?.onWrite((uid) => uid === key.uid && this.#wake?.()));
    this.#listening.use(server.state.onWrite((change) => change.storage === storage && change.object.uid === key.uid && this.#wake?.()));
  }

  /** True if the run has ended, so that no more lines follow. */
  get isOver(): boolean {
    const { pod, key } = this.#options;
    const now = pod();
    const status = now === undefined ? undefined : containerStatusOf(now, key.container);
    return status === undefined || (status?.restartCount ?? 0) !== key.run || status?.state?.running === undefined;
  }

  /** Returns the existing lines that the query selects. */
  firstLines({ sinceMs = Number.NEGATIVE_INFINITY, tailLines = Number.POSITIVE_INFINITY }: LogQuery): readonly LoggedLine[] {
    const since = this.#entries().filter(({ timeMs }) => timeMs >= sinceMs);
    return since.slice(since.length - Math.min(tailLines, since.length)).map(loggedLine);
  }

  /** Returns the lines since the last call. */
  newLines(): readonly LoggedLine[] {
    return this.#entries().map(loggedLine);
  }

  /** Resolves when there may be new lines, or the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    const { server } = this.#options;
    const { clock } = server.state;
    const run = this.#generatedRun();
    const dueMs = run === undefined ? undefined : generatedLines(run, { from: this.#generated, nowMs: clock.now() }).nextMs;
    const over = new AbortController();
    const end = () => over.abort();
    this.#wake = end;
    signal.addEventListener('abort', end, { once: true });
    // Without a generated line to come, the wait ends after an hour at the latest.
    await clock.sleep(dueMs === undefined ? 3_600_000 : Math.max(1, dueMs - clock.now()), over.signal);
    signal.removeEventListener('abort', end);
    this.#wake = undefined;
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #entries(): readonly LogEntry[] {
    const { server, key } = this.#options;
    const { entries, first } = server.hooks.lines?.read(key) ?? { entries: [], first: 0 };
    const written = entries.slice(Math.max(0, this.#written - first));
    this.#written = first + entries.length;
    const run = this.#generatedRun();
    if (run === undefined) return written;
    const generated = generatedLines(run, { from: this.#generated, nowMs: server.state.clock.now() });
    this.#generated = generated.count;
    return [...written, ...generated.entries].sort((a, b) => a.timeMs - b.timeMs || a.nanos - b.nanos);
  }

  /** Returns the run for generated lines. Undefined if the container generates none. */
  #generatedRun(): GeneratedRun | undefined {
    const { server, key, pod } = this.#options;
    const now = server.generatesLogs ? pod() : undefined;
    const status = now === undefined ? undefined : containerStatusOf(now, key.container);
    if (status === undefined) return undefined;
    const seed = `${key.uid} ${key.container} ${key.run}`;
    const startedAt = status?.state?.running?.startedAt;
    if (startedAt !== undefined && status?.restartCount === key.run) return { seed, startMs: Date.parse(startedAt) };
    const ended = status.state?.terminated?.finishedAt === undefined ? status.lastState?.terminated : status.state.terminated;
    const startMs = Date.parse(ended?.startedAt ?? '');
    const endMs = Date.parse(ended?.finishedAt ?? '');
    return Number.isNaN(startMs) || Number.isNaN(endMs) ? undefined : { seed, startMs, endMs };
  }
}

function loggedLine({ timeMs, nanos, bytes }: LogEntry): LoggedLine {
  const time = new Date(timeMs).toISOString().replace('Z', `${String(nanos).padStart(6, '0')}Z`);
  return { time, bytes };
}

/** Returns the status of a container of any type: init, normal or ephemeral. Undefined if the Pod does not report it. */
export function containerStatusOf({ status }: Stored<V1Pod>, container: string): Stored<V1ContainerStatus> | undefined {
  return [status?.initContainerStatuses, status?.containerStatuses, status?.ephemeralContainerStatuses]
    .flatMap(itemsOf)
    .find(({ name }) => name === container);
}
