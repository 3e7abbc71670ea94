#!/usr/bin/env node
import { createLog, quieted } from './cli/log.ts';
import { runProgram } from './cli/program.ts';
import { createStartView } from './cli/start-view.ts';
import type { Flags } from './config/config.ts';
import { gatewayVersion } from './config/gateway-version.ts';
import { loadConfig } from './config/load-config.ts';
import { systemClock } from './core/clock.ts';
import { MusterError } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { listen } from './serve/server.ts';

/** What the shell is told: all is well; a bug; what was asked cannot be done. */
const exitCodes = { good: 0, bug: 1, refused: 2 } as const;

/** A second signal within this time is the same one: npm passes on what the terminal has sent already. */
const sameSignalMs = 1_000;

/** How long what still holds the process may do so after the orderly end. */
const lingerMs = 500;

process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const exitCode = await runProgram(process.argv.slice(2), {
  version: gatewayVersion,
  serve,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
process.exitCode = exitCode;
setTimeout(() => process.exit(exitCode), lingerMs).unref();

async function serve(flags: Flags): Promise<number> {
  const stopping = new AbortController();
  const forget = onSignals(() => stopping.abort());
  try {
    await runGateway(flags, stopping.signal);
    return exitCodes.good;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    process.stderr.write(`muster: ${error.message}\n`);
    return exitCodes.refused;
  } finally {
    forget();
  }
}

async function runGateway(flags: Flags, stopping: AbortSignal): Promise<void> {
  const config = await loadConfig({ flags, environment: process.env, directory: process.cwd() });
  await using listening = await listen(config);
  const log = createLog({ level: config.logLevel, write: (line) => process.stderr.write(line), isTerminal: process.stderr.isTTY === true });
  dieOfBugs(log);
  const view = createStartView({ write: (line) => process.stdout.write(line), isTerminal: process.stdout.isTTY === true });
  let starting = process.stdout.isTTY === true && process.stderr.isTTY === true;
  // Importing it takes most of a second: who only wants help, or a port that is in use, is told before.
  const { createGateway } = await import('./gateway.ts');
  await using gateway = await createGateway({
    config,
    listening,
    clock: systemClock,
    log: quieted(log, () => starting),
    onProgress: view.progressed,
  });
  await gateway.whenReady(stopping);
  starting = false;
  if (!stopping.aborted) view.ready({ url: gateway.url, demo: gateway.demo, queries: gateway.demo ? gateway.queries : [] });
  await aborted(stopping);
  await gateway.stop();
}

/** Calls back at the first signal to end; at one that comes more than a second later, ends at once. */
function onSignals(stop: () => void): () => void {
  let firstMs: number | undefined;
  const hear = (signal: NodeJS.Signals) => {
    firstMs ??= performance.now();
    if (performance.now() - firstMs > sameSignalMs) process.exit(signal === 'SIGINT' ? 130 : 143);
    stop();
  };
  process.on('SIGTERM', hear).on('SIGINT', hear);
  return () => process.off('SIGTERM', hear).off('SIGINT', hear);
}

function dieOfBugs(log: Log): void {
  const die = (error: unknown) => {
    log.error({ error }, 'a bug: the process cannot go on');
    process.exit(exitCodes.bug);
  };
  process.on('unhandledRejection', die).on('uncaughtException', die);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
