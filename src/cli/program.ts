import { Command, CommanderError, Help, Option } from 'commander';
import type { Flags } from '../config/config.ts';
import { logLevels } from '../config/defaults.ts';

export interface ProgramOptions {
  readonly version: string;
  /** `muster serve`: resolves to the exit code. */
  readonly serve: (flags: Flags) => Promise<number>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Reads the command line and runs the command it names; `serve` if it names none. Resolves to the exit code: 2 for a command line that
 * cannot be understood, after one line on `err`.
 */
export async function runProgram(args: readonly string[], { version, serve, out, err }: ProgramOptions): Promise<number> {
  let exitCode = 0;
  const program = new Command('muster')
    .description('One GraphQL graph over every Kubernetes cluster a team runs')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err, outputError: (text, write) => write(oneLine(text)) });
  const serving = addServe(program.command('serve', { isDefault: true }), async (flags) => {
    exitCode = await serve(flags);
  });
  // Who names no command serves: so these flags are the program's as well.
  const ownOptions = (of: Command) => new Help().visibleOptions(of);
  program.configureHelp({ visibleOptions: (of) => (of === program ? [...serving.options, ...ownOptions(of)] : ownOptions(of)) });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

function addServe(command: Command, run: (flags: Flags) => Promise<void>): Command {
  return command
    .description('answer GraphQL over the clusters of a kubeconfig, or over an embedded fleet where there is none')
    .allowExcessArguments(false)
    .option('--kubeconfig <file>', 'the kubeconfig (default: KUBECONFIG, ~/.kube/config, in-cluster)')
    .option('--context <name>', 'only this context; may be repeated (default: every context)', collected)
    .option('--demo', 'an embedded fleet of three clusters that live')
    .option('--host <address>', 'the address to listen on; other than loopback only with --token-file (default: 127.0.0.1)')
    .option('--port <number>', 'the port to listen on; 0 for any (default: 4000)')
    .option('--allow-origin <url>', 'a web origin that may ask; may be repeated', collected)
    .option('--token-file <file>', 'a file with the bearer token that every request must show')
    .addOption(new Option('--log-level <level>', `${logLevels.join(', ')} (default: info)`))
    .option('--config <file>', 'the config file (YAML)')
    .action((flags: Flags) => run(flags));
}

function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function oneLine(text: string): string {
  return `${text
    .trim()
    .replace(/^error: /, 'muster: ')
    .replaceAll(/\s*\n\s*/g, ' ')}\n`;
}
