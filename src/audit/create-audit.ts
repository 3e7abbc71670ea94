import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import type { Audit, AuditedAction, RefusedLogin } from './audit.ts';
import { lineOfAction, lineOfLogin } from './audit-line.ts';
import type { AuditSink } from './audit-sinks.ts';

interface AuditOptions {
  readonly sink: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds that an action waits for its line. */
const waitMs = 5_000;

/** Maximum bytes of unwritten lines. While there are any, `check` refuses actions, so only actions in flight add to them. */
const maxUnwrittenBytes = 64 << 20;

/** Maximum lines of refused credentials in one second. */
const maxLoginLines = 100;
const loginWindowMs = 1_000;

/** Creates an audit that writes to `sink`. Disposing of it waits until all lines are written, at most 5 s, and closes the sink. */
export function createAudit(options: AuditOptions): Audit & AsyncDisposable {
  return new AuditLines(options);
}

class AuditLines implements Audit, AsyncDisposable {
  readonly #options: AuditOptions;
  readonly #life = new AbortController();
  /** Bytes that are not written yet, oldest first. The first ones may begin within a line, after a write that wrote only a part. */
  #unwritten: Uint8Array[] = [];
  #unwrittenBytes = 0;
  /** The flush in progress. It resolves with the error that stopped it. */
  #flushing: Promise<unknown> | undefined;
  #hasFailed = false;
  #logins: LoginWindow | undefined;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  async check(): Promise<void> {
    if (this.#hasFailed || this.#unwritten.length > 0) await this.#flushed();
    try {
      await this.#options.sink.check();
    } catch (error) {
      this.#failed(error);
      throw unwritable(error);
    }
  }

  async record(action: AuditedAction): Promise<void> {
    this.#append(lineOfAction(action, this.#options.clock.now()));
    await this.#flushed();
  }

  refusedLogin(login: RefusedLogin): void {
    const { clock } = this.#options;
    const nowMs = clock.now();
    const window = this.#logins ?? this.#openLogins();
    if (window.lines < maxLoginLines && !this.#hasFailed) {
      window.lines++;
      this.#appendLogin(lineOfLogin(login, nowMs, 1));
      return;
    }
    const { method, reason } = login;
    const key = JSON.stringify([method, reason]);
    const others = window.others.get(key) ?? { method, reason, count: 0 };
    others.count++;
    window.others.set(key, others);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writeLogins();
    await this.#flushed().catch(() => undefined);
    this.#life.abort();
    await this.#options.sink[Symbol.asyncDispose]();
  }

  #openLogins(): LoginWindow {
    const window: LoginWindow = { lines: 0, others: new Map() };
    this.#logins = window;
    void this.#closeLogins();
    return window;
  }

  /**
   * Ends the window of refused credentials after one second, and writes its counts. While no line can be written, the window stays open, and
   * credentials are only counted.
   */
  async #closeLogins(): Promise<void> {
    const { signal } = this.#life;
    do {
      await this.#options.clock.sleep(loginWindowMs, signal);
      if (this.#hasFailed) await this.#flush();
    } while (this.#hasFailed && !signal.aborted);
    if (!signal.aborted) this.#writeLogins();
  }

  /** Writes the numbers of refused credentials that have no line of their own, one line for each method and reason, and ends the window. */
  #writeLogins(): void {
    const { others } = this.#logins ?? {};
    this.#logins = undefined;
    const nowMs = this.#options.clock.now();
    for (const { count, ...login } of others?.values() ?? []) this.#appendLogin(lineOfLogin(login, nowMs, count));
  }

  #appendLogin(line: string): void {
    this.#append(line);
    void this.#flush().then((error) => {
      if (error !== undefined) this.#failed(error);
    });
  }

  /**
   * Adds a line to those that wait to be written.
   *
   * @throws {MusterError} `UNAVAILABLE` if too many lines wait. The line is then lost, which the log reports.
   */
  #append(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.#unwrittenBytes + bytes.length > maxUnwrittenBytes) {
      this.#options.log.error({ bytes: bytes.length }, 'an audit line was lost: too many lines wait to be written');
      throw unwritable(undefined);
    }
    this.#unwritten.push(bytes);
    this.#unwrittenBytes += bytes.length;
  }

  /**
   * Writes all lines that wait.
   *
   * @throws {MusterError} `UNAVAILABLE` if they are not written within 5 s.
   */
  async #flushed(): Promise<void> {
    const done = new AbortController();
    const late = this.#options.clock.sleep(waitMs, done.signal).then(() => new Error(`not written within ${waitMs / 1_000} s`));
    const error = await Promise.race([this.#flush(), late]);
    done.abort();
    if (error === undefined) return;
    this.#failed(error);
    throw unwritable(error);
  }

  /** Writes all lines that wait, and those that are added meanwhile. Resolves with the error of the sink, or undefined. Never rejects. */
  #flush(): Promise<unknown> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #write(): Promise<unknown> {
    try {
      while (this.#unwritten.length > 0) {
        const bytes = Buffer.concat(this.#unwritten);
        this.#unwritten = [bytes];
        const written = await this.#options.sink.write(bytes);
        this.#unwrittenBytes -= written;
        // Further lines may have been added during the write.
        this.#unwritten[0] = bytes.subarray(written);
        if (written === bytes.length) this.#unwritten.shift();
      }
    } catch (error) {
      return error ?? new Error('a write failed');
    }
    if (this.#hasFailed) this.#options.log.info({}, 'audit lines are written again');
    this.#hasFailed = false;
    return undefined;
  }

  #failed(error: unknown): void {
    if (!this.#hasFailed)
      this.#options.log.error({ error: loggableError(error) }, 'audit lines cannot be written: changes are refused until they can');
    this.#hasFailed = true;
  }
}

/** The refused credentials of one second: the number of those with a line of their own, and the counts of the others. */
interface LoginWindow {
  lines: number;
  readonly others: Map<string, { readonly method: string; readonly reason: string; count: number }>;
}

function unwritable(cause: unknown): MusterError {
  return new MusterError('UNAVAILABLE', 'the audit cannot be written now: without a line in it nothing is changed, and no Secret is read', {
    cause,
  });
}
