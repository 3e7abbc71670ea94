import { type Command as Commander, Option } from 'commander';
import { describeObjects } from '../describe-objects.ts';
import { type GatewayFlags, type Run, type SelectionFlags, selectionOf, withGatewayOptions, withNamespaces } from '../gateway-options.ts';
import { type DocumentFormat, documentFormats } from '../print-answer.ts';

type DescribeFlags = GatewayFlags & SelectionFlags & { readonly output?: DocumentFormat };

const help = `
Of each object, in each cluster and namespace that has one of the name: what
muster list -o wide shows of it, what it is related to in its cluster (its
owner, Pods, Services, Node and so on, at most 20 of each), its YAML, and its
last 20 events. The values of Secrets are never shown.
  muster describe deploy web -n shop
  muster describe node/worker-1 pod/web-0 --context eu-prod

Exits with 1 if one of the names is in no cluster, with 3 if one was not found
and a cluster did not answer.`;

/** `muster describe`: all there is to know of objects in all clusters. */
export function addDescribe(program: Commander, run: Run): void {
  withNamespaces(withGatewayOptions(program.command('describe')))
    .description('all there is to know of objects, in all clusters')
    .argument('<object...>', 'KIND NAME, with further names, or KIND/NAME')
    .addOption(new Option('-o, --output <format>', 'for programs: whole objects and what they are related to').choices(documentFormats))
    .addHelpText('after', help)
    .action((words: readonly string[], flags: DescribeFlags) =>
      run(flags, (session) => describeObjects(session, { words, namespaces: selectionOf(flags).namespaces, output: flags.output })),
    );
}
