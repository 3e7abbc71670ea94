import type { Command as Commander } from 'commander';
import type { EnvironmentVariables, Flags } from '../config/config.ts';
import type { RunCommand } from './arguments/gateway-options.ts';
import type { Registrations } from './client/registrations.ts';
import type { Terminal } from './output/terminal.ts';

/** The functions and values that commands are made with. */
export interface CommandParts {
  /** Runs a command with the gateway that its flags choose. */
  readonly run: RunCommand;
  readonly version: string;
  readonly terminal: Terminal;
  /** The folder that relative paths start from. */
  readonly directory: string;
  readonly environment: EnvironmentVariables;
  /** Runs `muster serve`. */
  readonly serve: (flags: Flags) => Promise<void>;
  /** Undefined: there is no command `schema`. */
  readonly schema?: ((flags: Flags) => Promise<string>) | undefined;
  /** Undefined: there are no commands `join` and `leave`. */
  readonly registrations?: Registrations | undefined;
  /** Sets the exit code. */
  readonly onEnd: (code: number) => void;
}

/** Adds commands to the program. */
type AddCommands = (program: Commander, parts: CommandParts) => unknown;

/** Commands of one module, which is imported only for them. */
interface CommandModule {
  /** The names of the commands, with their aliases. */
  readonly names: readonly string[];
  readonly load: () => Promise<AddCommands>;
}

/** The commands in the order of the help. */
export const commandTable: readonly CommandModule[] = [
  commandModule(
    ['serve'],
    () => import('./commands/serve.ts'),
    ({ addServeCommand }) =>
      (program, { serve }) =>
        addServeCommand(program, serve),
  ),
  gatewayCommand(['clusters'], () => import('./commands/clusters.ts').then((module) => module.addClustersCommand)),
  gatewayCommand(['list', 'get'], () => import('./commands/list.ts').then((module) => module.addListCommand)),
  gatewayCommand(['describe'], () => import('./commands/describe.ts').then((module) => module.addDescribeCommand)),
  gatewayCommand(['tree'], () => import('./commands/tree.ts').then((module) => module.addTreeCommand)),
  gatewayCommand(['watch'], () => import('./commands/watch.ts').then((module) => module.addWatchCommand)),
  gatewayCommand(['logs'], () => import('./commands/logs.ts').then((module) => module.addLogsCommand)),
  gatewayCommand(['query'], () => import('./commands/query.ts').then((module) => module.addQueryCommand)),
  gatewayCommand(['wait'], () => import('./commands/objects/wait.ts').then((module) => module.addWaitCommand)),
  gatewayCommand(['api-resources', 'explain'], () =>
    import('./commands/discovery/api-resources.ts').then((module) => module.addDiscoveryCommands),
  ),
  gatewayCommand(['auth'], () => import('./commands/auth.ts').then((module) => module.addAuthCommand)),
  gatewayCommand(['plan'], () => import('./commands/plan.ts').then((module) => module.addPlanCommand)),
  gatewayCommand(['diff'], () => import('./commands/objects/diff.ts').then((module) => module.addDiffCommand)),
  gatewayCommand(['propagate'], () => import('./commands/propagate.ts').then((module) => module.addPropagateCommand)),
  gatewayCommand(['import'], () => import('./commands/import.ts').then((module) => module.addImportCommand)),
  gatewayCommand(['rollout'], () => import('./commands/rollout.ts').then((module) => module.addRolloutCommand)),
  gatewayCommand(['migrate'], () => import('./commands/migrate.ts').then((module) => module.addMigrateCommand)),
  gatewayCommand(['apply'], () => import('./commands/apply.ts').then((module) => module.addApplyCommand)),
  gatewayCommand(['delete'], () => import('./commands/delete.ts').then((module) => module.addDeleteCommand)),
  gatewayCommand(['scale'], () => import('./commands/workloads.ts').then((module) => module.addScaleCommand)),
  gatewayCommand(['restart'], () => import('./commands/workloads.ts').then((module) => module.addRestartCommand)),
  gatewayCommand(['label', 'annotate'], () => import('./commands/label.ts').then((module) => module.addLabelCommands)),
  gatewayCommand(['patch'], () => import('./commands/patch.ts').then((module) => module.addPatchCommand)),
  gatewayCommand(['demo'], () => import('./commands/demo.ts').then((module) => module.addDemoCommand)),
  { names: ['config'], load: () => import('./commands/config.ts').then((module) => module.addConfigCommand) },
  commandModule(
    ['completion'],
    () => import('./completion/completion-command.ts'),
    ({ addCompletionCommand }) =>
      (program, { terminal }) =>
        addCompletionCommand(program, terminal),
  ),
  commandModule(
    ['version'],
    () => import('./commands/discovery/version.ts'),
    ({ addVersionCommand }) =>
      (program, { run, version }) =>
        addVersionCommand(program, run, version),
  ),
  commandModule(
    ['join', 'leave'],
    () => import('./commands/join.ts'),
    ({ addRegistrationCommands }) =>
      (program, { registrations, ...parts }) => {
        if (registrations !== undefined) addRegistrationCommands(program, { ...parts, registrations });
      },
  ),
  commandModule(
    ['schema'],
    () => import('./commands/serve.ts'),
    ({ addSchemaCommand }) =>
      (program, { schema, terminal }) => {
        if (schema !== undefined) addSchemaCommand(program, async (flags) => void terminal.out(await schema(flags)));
      },
  ),
];

/** Describes a module that `add` turns into the function that adds its commands. */
function commandModule<Module>(names: readonly string[], load: () => Promise<Module>, add: (module: Module) => AddCommands): CommandModule {
  return { names, load: async () => add(await load()) };
}

/** Describes a module whose commands use a gateway. */
function gatewayCommand(names: readonly string[], load: () => Promise<(program: Commander, run: RunCommand) => void>): CommandModule {
  return commandModule(
    names,
    load,
    (add) =>
      (program, { run }) =>
        add(program, run),
  );
}

/**
 * Adds the commands of a command line: only the command that its first word names, because the code of the others takes longer to import
 * than most commands to run. Adds all commands if the first word names none, and no command for `--version` alone.
 */
export async function addCommands(program: Commander, words: readonly string[], parts: CommandParts): Promise<void> {
  const [first = ''] = words;
  if (words.length === 1 && ['--version', '-V'].includes(first)) return;
  const named = commandTable.filter(({ names }) => names.includes(first));
  const modules = await Promise.all((named.length === 0 ? commandTable : named).map(({ load }) => load()));
  for (const add of modules) add(program, parts);
}
