import { type Command as Commander, Option } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import { ClusterAnswers } from '../cluster-answers.ts';
import { FaultReport } from '../cluster-faults.ts';
import { exitCodes } from '../command-failure.ts';
import {
  type GatewayFlags,
  kindsOf,
  type Run,
  type SelectionFlags,
  selectionOf,
  withGatewayOptions,
  withSelection,
} from '../gateway-options.ts';
import { listDocuments } from '../list-documents.ts';
import { listTables } from '../list-tables.ts';
import type { Selected } from '../listed-pages.ts';
import type { Session } from '../session.ts';
import { allOf, parseWhere, pathOf, whereHelp } from '../where-text.ts';

const outputs = ['wide', 'json', 'yaml', 'name'] as const;

type Output = (typeof outputs)[number];

type ListFlags = GatewayFlags &
  SelectionFlags & { readonly output?: Output; readonly where?: readonly JsonObject[]; readonly sortBy?: string };

const help = `
KIND is any name of a kind: pods, po, Pod, deployments.apps, certificates. What
is shown of it is what kubectl shows; of custom resources what their definition
in each cluster says. Several kinds are a table each.
${whereHelp}

  -o wide  adds the columns that kubectl adds
  -o json  a List, as kubectl prints it; each object says its cluster in the
           annotation muster.dev/cluster:
             jq -r '.items[].metadata | .annotations["muster.dev/cluster"]'
  -o yaml  a document per object, below a comment with its cluster
  -o name  a line per object: CLUSTER/NAMESPACE/KIND/NAME; the namespace is
           empty for what has none

What a cluster cannot do is told on standard error, and the others are listed
all the same. Exits with 1 only if that cluster was named by --context; with 3
if nothing was found and a cluster did not answer.`;

/** `muster list`: objects of some kinds, of all clusters. */
export function addList(program: Commander, run: Run): void {
  withGatewayOptions(withSelection(program.command('list')))
    .alias('get')
    .description('list objects of all clusters')
    .argument('<kind[,kind]>', 'which kinds', kindsOf)
    .addOption(new Option('-o, --output <format>', 'how they are printed').choices(outputs))
    .option('--where <condition>', 'only what is so, such as spec.replicas>3; may be repeated: all must hold', wheres)
    .option('--sort-by <path>', 'sort by this, such as metadata.creationTimestamp', pathOf)
    .addHelpText('after', help)
    .action((kinds: readonly string[], flags: ListFlags) => run(flags, (session) => listObjects(session, kinds, flags)));
}

async function listObjects(session: Session, kinds: readonly string[], flags: ListFlags): Promise<number> {
  const { output, sortBy } = flags;
  const [report, answers] = [new FaultReport(session), new ClusterAnswers()];
  const selected: Selected = {
    ...selectionOf(flags),
    where: allOf(flags.where),
    orderBy: sortBy === undefined ? null : [{ path: sortBy }],
  };
  const isTable = output === undefined || output === 'wide';
  const isFound = isTable
    ? await listTables(session, { kinds, selected, report, answers, isWide: output === 'wide' })
    : await listDocuments(session, { kinds, selected, report, answers, output });
  if (!isFound && !answers.isComplete) {
    answers.reportUnknown(session, kinds.join(','));
    return exitCodes.unknown;
  }
  if (!isFound && isTable) session.terminal.err('No resources found\n');
  return report.exitCode();
}

function wheres(text: string, before: readonly JsonObject[] = []): readonly JsonObject[] {
  return [...before, parseWhere(text)];
}
