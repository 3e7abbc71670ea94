import { Command as Commander, CommanderError } from 'commander';
import type { EnvironmentVariables, Flags } from '../config/config.ts';
import { remoteGateway } from '../config/remote-gateway.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { withCommandFirst, withDryRunValues } from './arguments/command-first.ts';
import type { CommandEffect, GatewayFlags } from './arguments/gateway-options.ts';
import { arrangeHelp } from './arguments/program-help.ts';
import { CommandFailure, exitCodes } from './client/command-failure.ts';
import { createGatewayClient, type GatewayAddress, type GatewayClient } from './client/gateway-client.ts';
import type { ManifestReader } from './client/manifest-reader.ts';
import type { Registrations } from './client/registrations.ts';
import type { Command } from './client/session.ts';
import type { OpenSubscription } from './client/subscription.ts';
import { addCommands } from './command-table.ts';
import { StartLine, type StartProgress } from './output/start-view.ts';
import { printable } from './output/table.ts';
import type { Terminal } from './output/terminal.ts';

/** A gateway in this process, for one command. Disposing it ends it. */
export interface OwnGateway extends AsyncDisposable {
  readonly address: GatewayAddress;
}

export interface OwnGatewayOptions {
  readonly flags: GatewayFlags;
  /** True if the command writes to clusters. Then the embedded fleet starts only with `--demo`. */
  readonly writes: boolean;
  readonly onProgress: (progress: StartProgress) => void;
}

export interface ProgramOptions {
  readonly version: string;
  /** Runs `muster serve` and resolves to the exit code. */
  readonly serve: (flags: Flags) => Promise<number>;
  /** Returns the schema as text for `muster schema`. Default: the command does not exist. */
  readonly schema?: (flags: Flags) => Promise<string>;
  /** Starts a gateway in this process. Resolves when the gateway can answer. */
  readonly start: (options: OwnGatewayOptions) => Promise<OwnGateway>;
  /** Opens subscriptions at a gateway. Default: over WebSocket. */
  readonly streams?: (address: GatewayAddress) => OpenSubscription;
  /** Reads the files of `-f`. */
  readonly reader: ManifestReader;
  /** Carries out `muster join` and `muster leave`. Default: the commands do not exist. */
  readonly registrations?: Registrations;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly environment: EnvironmentVariables;
  /** The folder that relative paths start from. */
  readonly directory: string;
  /** Ends a running command at once when it aborts. */
  readonly signal: AbortSignal;
}

/**
 * Parses the command line and runs its command. The default command is `serve`. Resolves to the exit code (see `exitCodes`). It is 2, after
 * one line on standard error, if the command line is invalid or the gateway cannot be reached.
 */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<number> {
  const { version, serve, terminal } = options;
  let exitCode: number = exitCodes.good;
  const program = new Commander('muster')
    .description('One GraphQL graph over every Kubernetes cluster a team runs')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.err,
      outputError: (text, write) => write(oneLine(text)),
    });
  const isCompletion = args[0] === '__complete';
  const words = args.slice(isCompletion ? 1 : 0);
  await addCommands(program, isCompletion ? words.slice(0, -1) : words, {
    ...options,
    run: async (flags, command, effect = {}) => {
      exitCode = await runCommand({ command, flags, effect }, options);
    },
    serve: async (flags) => {
      exitCode = await serve(flags);
    },
    onEnd: (code) => {
      exitCode = code;
    },
  });
  if (isCompletion) {
    const { runCompletion } = await import('./completion/run-completion.ts');
    return runCompletion(program, words, { terminal, signal: options.signal, gateway: (flags) => remoteOf(flags, options) });
  }
  arrangeHelp(program);
  try {
    await program.parseAsync([...withCommandFirst(withDryRunValues(args), program)], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommandFailure || error instanceof MusterError) return reportFailure(error, terminal);
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.good : exitCodes.refused;
  }
}

/** A parsed command with its flags. */
interface NamedCommand {
  readonly command: Command;
  readonly flags: GatewayFlags;
  readonly effect: CommandEffect;
}

/** Runs one command with its gateway, and returns the exit code. At the end, keeps what is drawn on the terminal and shows the cursor again. */
async function runCommand(named: NamedCommand, options: ProgramOptions): Promise<number> {
  const { terminal, signal } = options;
  try {
    return await orAborted(runWithGateway(named, options), signal);
  } catch (error) {
    // An aborted command prints no error: the process that aborted it knows the reason.
    if (signal.aborted) return exitCodes.failed;
    if (!(error instanceof CommandFailure) && !(error instanceof MusterError)) throw error;
    terminal.settle();
    return reportFailure(error, terminal);
  } finally {
    terminal.settle();
  }
}

/** Prints the error in one line and returns the exit code. */
function reportFailure(error: CommandFailure | MusterError, terminal: Terminal): number {
  terminal.err(`muster: ${printable(error.message)}\n`);
  return error instanceof CommandFailure ? error.exitCode : exitCodes.refused;
}

async function runWithGateway({ command, flags, effect }: NamedCommand, options: ProgramOptions): Promise<number> {
  const { terminal, reader, clock, signal, streams = lazySubscriptions } = options;
  const remote = await remoteOf(flags, options);
  await using own = remote === undefined ? await startOwn({ flags, effect }, options) : undefined;
  const address = remote ?? own?.address;
  if (address === undefined) throw new CommandFailure(exitCodes.refused, 'expected a gateway');
  signal.throwIfAborted();
  const announced = announceDemo(createGatewayClient(address, signal), terminal);
  const gateway = createGatewayClient(address, signal, announced);
  const clusters = await namedClusters();
  try {
    return await command({
      gateway,
      openStream: streams(address),
      terminal,
      reader,
      clock,
      signal,
      clusters,
      ownsGateway: own !== undefined,
    });
  } finally {
    await announced;
  }

  /**
   * Returns the names of the clusters that `--context` selects. Null: all clusters. A gateway in this process has only these clusters, but
   * may name them differently from the contexts, so it is queried for the names.
   */
  async function namedClusters(): Promise<readonly string[] | null> {
    if (flags.context === undefined) return null;
    if (own === undefined) return flags.context;
    const { targetClusters } = await import('./writes/write-targets.ts');
    return targetClusters({ gateway, clusters: null });
  }
}

/**
 * Returns the remote gateway that the flags or the environment name. Undefined: the command starts a gateway of its own. `MUSTER_GATEWAY` is ignored
 * if a flag is given that only an own gateway uses.
 */
async function remoteOf(flags: GatewayFlags, { environment, directory }: ProgramOptions): Promise<GatewayAddress | undefined> {
  const isOwn = flags.demo !== undefined || flags.kubeconfig !== undefined || flags.hub !== undefined || flags.config !== undefined;
  return remoteGateway({ flags, environment: isOwn ? {} : environment, directory });
}

/** Opens subscriptions over WebSocket. Imported at the first one, because most commands open none. */
function lazySubscriptions(address: GatewayAddress): OpenSubscription {
  return async function* open(request, signal) {
    const { webSocketSubscriptions } = await import('./client/open-stream.ts');
    yield* webSocketSubscriptions(address)(request, signal);
  };
}

/** Prints a line if the gateway serves the embedded fleet. The question is sent beside the first request of the command, which reports failures. */
async function announceDemo(gateway: GatewayClient, terminal: Terminal): Promise<void> {
  const { data } = await gateway.send({ query: '{ gateway { demo } }' }).catch(() => ({ data: undefined }));
  const isDemo = (data as { readonly gateway?: { readonly demo?: boolean } } | null | undefined)?.gateway?.demo === true;
  if (isDemo) terminal.err('DEMO the embedded fleet answers: its clusters are not yours, and nothing in them is real\n');
}

async function startOwn({ flags, effect }: Omit<NamedCommand, 'command'>, { start, terminal }: ProgramOptions): Promise<OwnGateway> {
  const { writes = false } = effect;
  const isWrite = typeof writes === 'function' ? await writes(terminal) : writes;
  const line = new StartLine();
  const onProgress = (progress: StartProgress) => (terminal.isWatched ? terminal.status(line.progressed(progress)) : undefined);
  try {
    return await start({ flags, writes: isWrite, onProgress });
  } finally {
    terminal.status('');
  }
}

/** Returns the result of the promise. Rejects at once with the reason of the signal if the signal aborts first. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const stop = Promise.withResolvers<never>();
  const abort = () => stop.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  promise.catch(() => undefined);
  try {
    if (signal.aborted) abort();
    return await Promise.race([promise, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function oneLine(text: string): string {
  return `${text
    .trim()
    .replace(/^error: /, 'muster: ')
    .replaceAll(/\s*\n\s*/g, ' ')}\n`;
}
