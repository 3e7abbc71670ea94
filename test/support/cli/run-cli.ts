import type { ManifestReader } from '../../../src/cli/client/manifest-reader.ts';
import { type OwnGateway, type ProgramOptions, runProgram } from '../../../src/cli/program.ts';
import { readManifestText } from '../../../src/manifests/read-manifests.ts';
import { readYamlDocuments } from '../../../src/manifests/yaml-documents.ts';
import { parseIntents, resourceOfInput } from '../../../src/propagate/model/parse-intents.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';
import type { TestGateway } from '../gateway/start-gateway.ts';
import { createFakeTerminal, type FakeTerminal, type FakeTerminalOptions } from './fake-terminal.ts';

export interface CliOptions extends FakeTerminalOptions {
  readonly signal?: AbortSignal;
  readonly environment?: Readonly<Record<string, string>>;
  readonly start?: ProgramOptions['start'];
  /** Streams that replace those of the gateway. */
  readonly streams?: ProgramOptions['streams'];
}

/** The reader of manifests that `main.ts` passes to commands. */
export const manifestReader: ManifestReader = {
  documents: async (text) => readYamlDocuments(text),
  manifests: async (text) => readManifestText(text, { lists: 'opened' }),
  intents: async (text, options) => parseIntents(text, options),
  resource: async (input) => resourceOfInput(input as PropagationInput),
};

/** A running command. Its clock is that of the test's gateway. */
export interface RunningCli {
  readonly terminal: FakeTerminal;
  /** Moves the clock until the command ends. Resolves with its exit code. */
  ended(): Promise<number>;
  /** Moves the clock until the condition holds. */
  until(isSo: (terminal: FakeTerminal) => boolean): Promise<void>;
  stop(): void;
}

/** Runs `muster …` in process. It uses the URL of the gateway unless the arguments name another. */
export function startCli(gateway: TestGateway, args: readonly string[], options: CliOptions = {}): RunningCli {
  const terminal = createFakeTerminal(options);
  const life = new AbortController();
  let code: number | undefined;
  const run = runProgram(args, {
    version: '1.2.3',
    serve: async () => 0,
    start: options.start ?? refuse,
    ...(options.streams === undefined ? {} : { streams: options.streams }),
    reader: manifestReader,
    terminal,
    clock: gateway.clock,
    environment: options.environment ?? { MUSTER_GATEWAY: gateway.url },
    directory: '.',
    signal: options.signal ?? life.signal,
  }).finally(() => {
    code ??= -1;
  });
  run.then(
    (exitCode) => {
      code = exitCode;
    },
    () => undefined,
  );
  return {
    terminal,
    ended: async () => {
      await gateway.until(() => code !== undefined, 120_000);
      return run;
    },
    until: (isSo) =>
      gateway.until(() => {
        if (code !== undefined && !isSo(terminal)) throw new Error(`it ended with ${code}:\n${terminal.written}\n${terminal.told}`);
        return isSo(terminal);
      }),
    stop: () => life.abort(),
  };
}

/** Runs a command to its end. Resolves with its output and exit code. */
export async function runCli(gateway: TestGateway, args: readonly string[], options: CliOptions = {}) {
  const running = startCli(gateway, args, options);
  const code = await running.ended();
  return { code, out: running.terminal.written, err: running.terminal.told };
}

async function refuse(): Promise<OwnGateway> {
  throw new Error('expected a command that asks the gateway of the test');
}
