import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Figures } from './bench-case.ts';

export interface ProgramOptions {
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Runs a program of `programs/` in its own process until it ends. Resolves with the JSON object on its last line.
 *
 * @throws {Error} if the exit code is not 0. The message has the program's output.
 */
export async function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<Figures> {
  const file = fileURLToPath(new URL(`./programs/${program}`, import.meta.url));
  const child = spawn(process.execPath, [...(options.nodeFlags ?? []), file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    signal: options.signal,
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${errors}${output}`);
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Figures;
}

/** A running server of `programs/`. It prints one line of JSON when it listens. */
export interface RunningServer extends AsyncDisposable {
  readonly address: Readonly<Record<string, string>>;
}

/** Starts a server and waits for its line of JSON. SIGTERM ends it when the result is disposed or the signal aborts. */
export async function startServer(program: string, args: readonly string[], options: ProgramOptions): Promise<RunningServer> {
  const file = fileURLToPath(new URL(`./programs/${program}`, import.meta.url));
  const child = spawn(process.execPath, [...(options.nodeFlags ?? []), file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: options.signal,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`${program} ended with ${code} before it listened`)));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });
  return {
    address: JSON.parse(line) as Record<string, string>,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
