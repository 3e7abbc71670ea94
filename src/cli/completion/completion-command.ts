import { Argument, type Command as Commander } from 'commander';
import type { Terminal } from '../output/terminal.ts';
import { shellScripts, shells } from './shell-scripts.ts';

const help = `
Prints the script that completes commands, flags, clusters, kinds, namespaces and
names of objects in the shell. Names come from the gateway of MUSTER_GATEWAY:
  bash  source <(muster completion bash)
  zsh   source <(muster completion zsh)
  fish  muster completion fish | source
kubectl muster is completed by kubectl's own script, with kubectl_complete-muster
on the path.`;

/** Adds `muster completion`: prints the completion script of a shell. */
export function addCompletionCommand(program: Commander, terminal: Pick<Terminal, 'out'>): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .allowExcessArguments(false)
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', help)
    .action((shell: (typeof shells)[number]) => terminal.out(shellScripts[shell]));
}
