import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type Run, type SelectionFlags, selectionOf, withGatewayOptions, withNamespaces } from '../gateway-options.ts';
import { type DocumentFormat, documentFormats } from '../print-answer.ts';
import { showTrees } from '../show-trees.ts';

type TreeFlags = GatewayFlags & SelectionFlags & { readonly output?: DocumentFormat };

const help = `
In each cluster: the object below its owners, and below it all that it owns, of
every kind that may be listed, with how each of them is. That takes a while
where a gateway has not read all these kinds yet.
  muster tree deploy web -n shop
  muster tree cronjob/nightly -o json

Exits with 1 if one of the names is in no cluster, with 3 if one was not found
and a cluster did not answer.`;

/** `muster tree`: owners and owned, in all clusters. */
export function addTree(program: Commander, run: Run): void {
  withNamespaces(withGatewayOptions(program.command('tree')))
    .description('what owns objects and what they own, in all clusters')
    .argument('<object...>', 'KIND NAME, with further names, or KIND/NAME')
    .addOption(new Option('-o, --output <format>', 'for programs: what is owned within what owns it').choices(documentFormats))
    .addHelpText('after', help)
    .action((words: readonly string[], flags: TreeFlags) =>
      run(flags, (session) => showTrees(session, { words, namespaces: selectionOf(flags).namespaces, output: flags.output })),
    );
}
