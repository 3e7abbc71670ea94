import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A running process of this project, with its output. */
export interface RunningProcess extends AsyncDisposable {
  readonly pid: number;
  /** Returns the stdout so far. */
  out(): string;
  /** Returns the stderr so far. */
  err(): string;
  /** Resolves when stdout matches. Rejects with the whole output if the process ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Closes the reading end of its stdout. */
  closeOut(): void;
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/**
 * Runs `muster` as `npm start` does, with an environment that has no clusters of this machine. Disposing of it kills the process.
 *
 * @param directory The folder for relative paths. Default: the folder of the test process.
 */
export function runMuster(args: readonly string[], environment: Readonly<Record<string, string>>, directory?: string): RunningProcess {
  return runNode([path.join(import.meta.dirname, '../../src/main.ts'), ...args], directory, environment);
}

/**
 * Runs a script by the Node of this process. Disposing of it kills the process.
 *
 * @param directory The folder for relative paths. Default: the folder of the test process.
 */
export function runNode(args: readonly string[], directory?: string, environment: Readonly<Record<string, string>> = {}): RunningProcess {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: directory,
    env: { PATH: process.env.PATH ?? '', ...environment },
  });
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    texts.err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  return {
    pid: child.pid ?? 0,
    out: () => texts.out,
    err: () => texts.err,
    ended,
    kill: (signal) => child.kill(signal),
    closeOut: () => child.stdout.destroy(),
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(texts.out);
          if (match !== null) resolve(match);
          return match !== null;
        };
        if (look()) return;
        child.stdout.on('data', look);
        void ended.then((how) => look() || reject(new Error(`ended with ${how}:\n${texts.out}\n${texts.err}`)));
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
