import { type Command as Commander, Help } from 'commander';

/** The commands under each heading of the help of the program. All other commands are under `Others:`. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'Look:': ['clusters', 'list', 'describe', 'tree', 'logs', 'watch', 'wait', 'query', 'api-resources', 'explain', 'auth', 'version'],
  'Change objects:': ['apply', 'delete', 'scale', 'restart', 'label', 'annotate', 'patch', 'diff'],
  'Keep the same objects in many clusters, and move them:': ['plan', 'propagate', 'rollout', 'migrate', 'import'],
  'Run a gateway:': ['serve', 'config', 'join', 'leave', 'schema', 'demo'],
};

/**
 * Arranges the help of the program: the commands by their purpose, and after them the flags. `serve` is the default command, so its flags are listed too.
 *
 * @param program The program with the commands that it needs for its arguments, or with all.
 */
export function arrangeHelp(program: Commander): void {
  const serving = program.commands.find((command) => command.name() === 'serve')?.options ?? [];
  const headings = new Map(Object.entries(groups).flatMap(([heading, names]) => names.map((name) => [name, heading] as const)));
  for (const command of program.commands) command.helpGroup(headings.get(command.name()) ?? 'Others:');
  // Commander adds the command `help` itself. Only an explicit `helpCommand(true)` puts it under this heading.
  program.commandsGroup('Others:').helpCommand(true);
  const plain = new Help();
  program.configureHelp({
    visibleOptions: (of) => (of === program ? [...serving, ...plain.visibleOptions(of)] : plain.visibleOptions(of)),
    visibleCommands: (of) => inOrder(plain.visibleCommands(of)),
    // The sections have the order of the items that are shown. By default they have the order in which the commands were added.
    groupItems: (_, visible, headingOf) => plain.groupItems(visible, visible, headingOf),
    formatHelp: (of, helper) => {
      const text = Help.prototype.formatHelp.call(helper, of, helper);
      return of === program ? optionsLast(text) : text;
    },
  });
}

/** Sorts commands in the order of `groups`. Commands that are not in `groups` follow, in their own order. */
function inOrder(commands: readonly Commander[]): Commander[] {
  const names = Object.values(groups).flat();
  const placeOf = (command: Commander) => (names.includes(command.name()) ? names.indexOf(command.name()) : names.length);
  return commands.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Moves the section of the flags behind the sections of the commands. */
function optionsLast(text: string): string {
  const sections = text.trimEnd().split(/\n\n(?=\S)/);
  const flags = sections.filter((section) => section.startsWith('Options:'));
  return `${[...sections.filter((section) => !section.startsWith('Options:')), ...flags].join('\n\n')}\n`;
}
