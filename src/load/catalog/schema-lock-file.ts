import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import {
  emptySchemaLock,
  joinSchemaLocks,
  parseSchemaLock,
  printSchemaLock,
  type SchemaLock,
  schemaLockVersion,
  withoutForgotten,
} from '../../model/schema-lock.ts';
import { debounce } from './debounce.ts';

/** The custom kinds of earlier runs, and the file to which this run writes its kinds. Disposing it writes what is not written yet. */
export interface SchemaLockFile extends AsyncDisposable {
  /** The lock when the file was opened, without kinds that no cluster has served for 30 days. */
  readonly earlier: SchemaLock;
  /**
   * Returns the reason why types may be missing now or after the next start. Undefined if there is none. The message has no path; the log
   * has it.
   */
  problem(): string | undefined;
  /**
   * Starts to keep the file equal to the lock of `compose`, joined with the locks that other gateways have written. Returns a function to
   * call after each change of the lock. Call `keep` once.
   *
   * Writes some seconds after each call of the returned function, some seconds after each write (another gateway may have written at the
   * same time), once an hour, and at the end.
   */
  keep(compose: () => SchemaLock): () => void;
}

interface SchemaLockFileOptions {
  /** The absolute path of the lock file. Undefined: kinds are not remembered between runs. */
  readonly file: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Milliseconds without a change before the file is written, and the maximum wait. A Helm chart applies several CRDs in a row. The pause
 * joins them into one write.
 */
const quietMs = 2_000;
const atMostMs = 10_000;

/** Interval in which the file is written even without a change, so that it has the current day for each served kind. */
const refreshMs = 3_600_000;

/** Maximum size of the file in bytes: ten times the lock of 500 CRDs. */
const maxBytes = 64 << 20;

/**
 * Opens the lock file. It may not exist yet, and several gateways may share it.
 *
 * No problem with the file is thrown, because a gateway works without it. Problems are logged and returned by `problem`. A file that is no lock
 * is renamed to `<file>.broken-<time>`. A file that cannot be read, or has another version, is left as it is. Each write reads the file again, and
 * treats it in the same way.
 */
export async function openSchemaLock({ file, clock, log }: SchemaLockFileOptions): Promise<SchemaLockFile> {
  if (file === undefined) return noSchemaLock;
  const writer = new LockWriter({ file, clock, log });
  const earlier = await writer.open();
  const ending = new AbortController();
  return {
    earlier,
    problem: () => writer.problem(),
    keep: (compose) => {
      const changed = debounce({ clock, quietMs, atMostMs, run: () => writer.write(compose, changed) }, ending.signal);
      void (async () => {
        for (;;) {
          await clock.sleep(refreshMs, ending.signal);
          if (ending.signal.aborted) return;
          changed();
        }
      })();
      return () => {
        writer.unwritten = compose;
        changed();
      };
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      if (writer.unwritten !== undefined) writer.write(writer.unwritten);
      await writer.idle();
    },
  };
}

/**
 * Returns the lock in a file, without kinds that no cluster has served for 30 days. An empty lock if the file does not exist. The file is
 * not changed.
 *
 * @throws {MusterError} `BAD_INPUT` if it cannot be read, or is no lock.
 */
export async function readSchemaLock(file: string, nowMs: number): Promise<SchemaLock> {
  try {
    const text = await textOf(file);
    return text === undefined ? emptySchemaLock : withoutForgotten(parseSchemaLock(parsed(text)), nowMs);
  } catch (error) {
    throw new MusterError('BAD_INPUT', `the schema lock file ${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** Returns the default path of the lock file. */
export function defaultSchemaLock(stateDirectory: string): string {
  return path.join(stateDirectory, 'schema.json');
}

/** A lock that remembers nothing. */
export const noSchemaLock: SchemaLockFile = {
  earlier: emptySchemaLock,
  problem: () => undefined,
  keep: () => () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

interface LockFileContent {
  readonly lock: SchemaLock;
  /** The text of the file. Undefined if there is no file. */
  readonly text?: string;
}

/** Reads and writes one lock file, one operation at a time. */
class LockWriter {
  readonly #options: SchemaLockFileOptions & { readonly file: string };
  /** Returns the lock that must still be written. Undefined if no write is due. */
  unwritten: (() => SchemaLock) | undefined;
  #last: Promise<void> = Promise.resolve();
  #broken: string | undefined;
  #failure: string | undefined;

  constructor(options: SchemaLockFileOptions & { readonly file: string }) {
    this.#options = options;
  }

  problem(): string | undefined {
    return [this.#broken, this.#failure].filter((text) => text !== undefined).join('; ') || undefined;
  }

  idle(): Promise<void> {
    return this.#last;
  }

  /**
   * Returns the lock in the file. Empty if the file does not exist, or if it is no lock: it is then renamed. If the file cannot be read or
   * has another version, logs and records the problem, and returns an empty lock. Called before the first write.
   */
  async open(): Promise<SchemaLock> {
    try {
      return (await this.#read()).lock;
    } catch (error) {
      const { file, log } = this.#options;
      this.#broken = `the schema lock file could not be read (${reasonOf(error)}): types of clusters that are down are missing`;
      log.warn({ file, reason: reasonOf(error) }, 'the schema lock file cannot be read, and is left as it is');
      return emptySchemaLock;
    }
  }

  /** Writes the lock. Calls `onWritten` if the file changed. A failed write is repeated with the next one. */
  write(compose: () => SchemaLock, onWritten?: () => void): void {
    this.unwritten = undefined;
    this.#last = this.#last.then(async () => {
      try {
        if (await this.#writeNow(compose())) onWritten?.();
        this.#failure = undefined;
      } catch (error) {
        this.unwritten ??= compose;
        this.#failure = `the schema lock file cannot be written (${reasonOf(error)}): types of clusters that are down may be missing after the next start`;
        this.#options.log.warn({ file: this.#options.file, reason: reasonOf(error) }, 'the schema lock file cannot be written');
      }
    });
  }

  /**
   * Reads the file, and leaves out kinds that no cluster has served for 30 days. Renames a file that is no lock. Throws if that fails, if
   * the file cannot be read, or if it has another version.
   */
  async #read(): Promise<LockFileContent> {
    const { file, clock } = this.#options;
    const text = await textOf(file);
    if (text === undefined) return { lock: emptySchemaLock };
    try {
      return { lock: withoutForgotten(parseSchemaLock(parsed(text)), clock.now()), text };
    } catch (error) {
      if (isOfAnotherVersion(text)) throw error;
      await this.#setAside(error);
      return { lock: emptySchemaLock };
    }
  }

  /**
   * Joins the lock with the file, and writes the result. Returns false if the file already has this content, or if there is nothing to write.
   * Writes to a temporary file and renames that file, so that the lock file is never incomplete.
   */
  async #writeNow(ours: SchemaLock): Promise<boolean> {
    const { file, clock } = this.#options;
    const kept = await this.#read();
    const text = printSchemaLock(withoutForgotten(joinSchemaLocks(kept.lock, ours), clock.now()));
    if (text === kept.text || (kept.text === undefined && ours.kinds.size === 0)) return false;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    try {
      await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
      await rename(draft, file);
      return true;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async #setAside(error: unknown): Promise<void> {
    const { file, clock, log } = this.#options;
    const aside = `${file}.broken-${new Date(clock.now()).toISOString().replaceAll(/[-:.]/g, '')}`;
    await rename(file, aside);
    this.#broken = `the schema lock file was broken (${reasonOf(error)}) and has been set aside: types of clusters that are down are missing`;
    log.warn({ file, aside, reason: reasonOf(error) }, 'the schema lock file is broken, and has been set aside');
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > maxBytes) throw new MusterError('BAD_INPUT', `expected at most ${maxBytes} bytes, got ${size}`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MusterError('BAD_INPUT', 'it is no JSON', { cause: error });
  }
}

/** True for a lock file of a release with another version of the format. */
function isOfAnotherVersion(text: string): boolean {
  const [, version] = /^\{"apiVersion":"(schema-lock\.muster\.dev\/[^"]{1,80})"/.exec(text) ?? [];
  return version !== undefined && version !== schemaLockVersion;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof MusterError ? message : (code ?? loggableError(error).message);
}
