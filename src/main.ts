#!/usr/bin/env node
import { exitCodes } from './cli/client/command-failure.ts';
import { createStartView } from './cli/output/start-view.ts';
import { createTerminal } from './cli/output/terminal.ts';
import { type OwnGateway, type OwnGatewayOptions, runProgram } from './cli/program.ts';
import type { Config, Flags } from './config/config.ts';
import { gatewayVersion } from './config/gateway-version.ts';
import { systemClock } from './core/clock.ts';
import { MusterError } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { loggableError } from './core/loggable-error.ts';
import { whenAborted } from './core/scheduling/until-aborted.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import type { PropagationInput } from './propagate/model/propagations.ts';

/** Milliseconds within which a second signal counts as the first one. npm forwards signals that the terminal has already sent. */
const sameSignalMs = 1_000;

/** Milliseconds that open handles may keep the process alive after an orderly end. */
const lingerMs = 500;

/** Milliseconds that a command waits for slow clusters. After that, its answer has faults for them. */
const patienceMs = 10_000;

/**
 * Milliseconds before the first request of the controller. That request imports client-node, which blocks the event loop for 0.4 s. By
 * then the first answers are sent, and a command that only reads has ended.
 */
const controllerStartMs = 1_000;

const stopping = new AbortController();
/** The exit code of a command that was stopped early. A gateway that serves exits with 0 after a signal. */
let endedBy: number | undefined;
onSignals((signal) => {
  endedBy = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  stopping.abort();
});

const { stdin, stdout, stderr } = process;
const terminal = createTerminal({ stdin, stdout, stderr, term: process.env.TERM });
process.on('exit', () => terminal.settle());
let isServing = false;
/** True if the process was stopped while the gateway was starting. */
let wasAbandoned = false;
stdout.on('error', () => {
  // A reader such as `head` has closed the pipe. A gateway that serves continues; a command ends.
  if (isServing) return;
  endedBy ??= exitCodes.unread;
  stopping.abort();
});
stderr.on('error', () => undefined);

const registrationPorts = { environment: process.env, clock: systemClock };
const exitCode = await runProgram(process.argv.slice(2), {
  version: gatewayVersion,
  serve,
  schema: schemaText,
  start: startOwn,
  reader: {
    documents: async (text) => (await import('./manifests/yaml-documents.ts')).readYamlDocuments(text),
    manifests: async (text) => (await import('./manifests/read-manifests.ts')).readManifestText(text, { lists: 'opened' }),
    resource: async (input) => (await import('./propagate/model/parse-intents.ts')).resourceOfInput(input as PropagationInput),
    intents: async (text, options) => (await import('./propagate/model/parse-intents.ts')).parseIntents(text, options),
  },
  registrations: {
    join: async (input) => (await registrationCommands()).runJoin(input, registrationPorts, stopping.signal),
    leave: async (input) => (await registrationCommands()).runLeave(input, registrationPorts, stopping.signal),
  },
  terminal,
  clock: systemClock,
  environment: process.env,
  directory: process.cwd(),
  signal: stopping.signal,
});
const exitStatus = isServing ? exitCode : (endedBy ?? exitCode);
process.exitCode = exitStatus;
// A gateway that is still starting would keep the process alive for seconds.
if (wasAbandoned) process.exit(exitStatus);
setTimeout(() => process.exit(exitStatus), lingerMs).unref();

/** Imported at the first use, because other commands do not need the cluster API. */
function registrationCommands() {
  return import('./registration/registration-commands.ts');
}

/** Imported at the first use, because a command that asks a running gateway needs no config file, log or listener. */
async function gatewayParts() {
  const [{ loadConfig }, { createProcessLog, withQuietFaults, withQuietInfo }, { openListener }] = await Promise.all([
    import('./config/load-config.ts'),
    import('./cli/output/process-log.ts'),
    import('./caller-side.ts'),
  ]);
  return { loadConfig, createProcessLog, withQuietFaults, withQuietInfo, openListener };
}

async function serve(flags: Flags): Promise<number> {
  isServing = true;
  try {
    await runGateway(flags);
    return exitCodes.good;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    stderr.write(`muster: ${error.message}\n`);
    return exitCodes.refused;
  }
}

async function schemaText(flags: Flags): Promise<string> {
  const { loadConfig, createProcessLog } = await gatewayParts();
  const { schemaLock, stateDirectory, kinds: groups } = await loadConfig({ flags, environment: process.env, directory: process.cwd() });
  const [{ offlineSchema }, { defaultSchemaLock }] = await Promise.all([
    import('./graph/offline-schema.ts'),
    import('./load/catalog/schema-lock-file.ts'),
  ]);
  const log = createProcessLog({ level: 'warn', write: terminal.err, isTerminal: terminal.isWatched });
  return offlineSchema({ file: schemaLock ?? defaultSchemaLock(stateDirectory), groups, clock: systemClock, log });
}

async function runGateway(flags: Flags): Promise<void> {
  const { loadConfig, openListener, createProcessLog, withQuietInfo } = await gatewayParts();
  const config = await loadConfig({ flags, environment: process.env, directory: process.cwd() });
  await using listening = await openListener(config);
  const log = createProcessLog({ level: config.logLevel, write: (line) => stderr.write(line), isTerminal: stderr.isTTY === true });
  dieOfBugs(log);
  const view = createStartView({ write: (line) => stdout.write(line), isTerminal: stdout.isTTY === true });
  let starting = stdout.isTTY === true && stderr.isTTY === true;
  await using gateway = await started({
    config,
    listening,
    clock: systemClock,
    log: withQuietInfo(log, () => starting),
    onProgress: view.progressed,
  });
  await gateway?.whenStarted(stopping.signal);
  starting = false;
  if (gateway === undefined || stopping.signal.aborted) return;
  view.ready({ url: gateway.url, demo: gateway.demo, queries: gateway.demo ? gateway.queries : [] });
  await whenAborted(stopping.signal);
  await gateway.stop();
}

/**
 * Starts a gateway for one command, on a free port and with a random token. Its log has only warnings and errors. Warnings about faults are
 * left out, because the command prints faults with its answer.
 */
async function startOwn(options: OwnGatewayOptions): Promise<OwnGateway> {
  const { writes, onProgress } = options;
  const { loadConfig, createProcessLog, withQuietFaults } = await gatewayParts();
  const { context, kubeconfig, hub, demo, config: file } = options.flags;
  const flags: Flags = { host: '127.0.0.1', port: '0', context, kubeconfig, hub, demo, config: file };
  const loaded = await loadConfig({ flags, environment: process.env, directory: process.cwd() });
  // Only this command uses the gateway, as the person of the kubeconfig. The settings for other callers do not apply.
  const local = { allowOrigins: [], authentication: undefined, tls: undefined, audit: undefined, metricsPort: undefined };
  const config: Config = { ...loaded, ...local };
  const level = config.logLevel === 'error' || config.logLevel === 'silent' ? config.logLevel : 'warn';
  const log = createProcessLog({ level, write: terminal.err, isTerminal: terminal.isWatched });
  dieOfBugs(log);
  // Imported here, because the import takes 5 ms of CPU.
  const { randomBytes } = await import('node:crypto');
  const token = randomBytes(24).toString('base64url');
  const gateway = await started({
    config,
    token,
    withoutClusters: writes ? 'refuse' : 'demo',
    clock: systemClock,
    log: withQuietFaults(log),
    onProgress,
  });
  stopping.signal.throwIfAborted();
  if (gateway === undefined) throw new MusterError('UNAVAILABLE', 'the gateway was stopped while it was starting');
  const patience = new AbortController();
  const either = AbortSignal.any([stopping.signal, patience.signal]);
  void systemClock.sleep(patienceMs, either).then(() => patience.abort());
  await gateway.whenStarted(either);
  patience.abort();
  return { address: { url: gateway.url, token: async () => token }, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

/** Starts a gateway. Undefined if a signal arrives before it has started; the start ends with the process. */
async function started(options: GatewayOptions): Promise<Gateway | undefined> {
  const starting = (async () => {
    // Imported here, because the import takes most of a second. `--help` and a port that is in use do not wait for it.
    const { createGateway } = await import('./gateway.ts');
    return createGateway({ ...options, controllerStartMs });
  })();
  const isFirst = await Promise.race([starting.then(() => true), whenAborted(stopping.signal).then(() => false)]);
  if (isFirst) return starting;
  wasAbandoned = true;
  starting.catch(() => undefined);
  return undefined;
}

/** Calls back at the first signal. A signal more than a second later ends the process at once. */
function onSignals(stop: (signal: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    firstMs ??= performance.now();
    if (performance.now() - firstMs > sameSignalMs) process.exit(signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated);
    stop(signal);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

function dieOfBugs(log: Log): void {
  const die = (error: unknown) => {
    log.error({ error: loggableError(error) }, 'a bug: the process cannot continue');
    process.exit(exitCodes.failed);
  };
  process.on('unhandledRejection', die).on('uncaughtException', die);
}
