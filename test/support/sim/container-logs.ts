import { Buffer } from 'node:buffer';
import type { Clock } from '../../../src/core/clock.ts';
import type { ContainerLines, LogEntry, LogKey } from '../../../src/sim/requests/container-lines.ts';

/** Maximum number of lines that are kept per run, as with rotated log files. The oldest lines are dropped first. */
const maxLines = 10_000;
const maxBytes = 16 * 2 ** 20;

interface Log {
  readonly entries: LogEntry[];
  bytes: number;
  /** Number of dropped lines. */
  dropped: number;
}

/** The logs of containers, written by tests. */
export class ContainerLogs implements ContainerLines {
  readonly #clock: Pick<Clock, 'now'>;
  /** Logs by Pod, then by container and run. */
  readonly #logs = new Map<string, Map<string, Log>>();
  readonly #listeners = new Set<(uid: string) => void>();
  #written = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Adds lines to the log with the current time. */
  write(key: LogKey, lines: readonly (string | Uint8Array)[]): void {
    const logs = this.#logs.get(key.uid) ?? new Map<string, Log>();
    this.#logs.set(key.uid, logs);
    const name = `${key.container} ${key.run}`;
    const log = logs.get(name) ?? { entries: [], bytes: 0, dropped: 0 };
    logs.set(name, log);
    logs.delete(`${key.container} ${key.run - 2}`);
    for (const line of lines) {
      this.#written = (this.#written + 1) % 1_000_000;
      const bytes = typeof line === 'string' ? Buffer.from(line) : line;
      log.entries.push({ timeMs: this.#clock.now(), nanos: this.#written, bytes });
      log.bytes += bytes.length;
    }
    trim(log);
    for (const listener of [...this.#listeners]) listener(key.uid);
  }

  /** Returns the remaining lines, and the number of the first one. */
  read(key: LogKey): { readonly entries: readonly LogEntry[]; readonly first: number } {
    const log = this.#logs.get(key.uid)?.get(`${key.container} ${key.run}`);
    return { entries: log?.entries ?? [], first: log?.dropped ?? 0 };
  }

  /** Deletes the logs of a deleted Pod. */
  forget(uid: string): void {
    this.#logs.delete(uid);
    for (const listener of [...this.#listeners]) listener(uid);
  }

  /** Calls back with the uid of each Pod that writes or whose logs are deleted. Ends when the result is disposed of. */
  onWrite(listener: (uid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}

function trim(log: Log): void {
  let excess = Math.max(0, log.entries.length - maxLines);
  for (const { bytes } of log.entries.slice(0, excess)) log.bytes -= bytes.length;
  for (; log.bytes > maxBytes; excess++) log.bytes -= log.entries[excess]?.bytes.length ?? 0;
  log.entries.splice(0, excess);
  log.dropped += excess;
}
