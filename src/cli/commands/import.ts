import { type Command as Commander, Option } from 'commander';
import { collectValues, type GatewayFlags, parseKinds, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readDocumentFiles } from '../arguments/read-sources.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { type DocumentFormat, documentFormats, printAnswers } from '../output/print-answer.ts';
import { type ImportAnswer, type ImportRequest, importLines, importNotes, requestImport } from '../propagation/imported.ts';
import { noteLine } from '../propagation/plan-lines.ts';
import { changePropagations } from '../propagation/propagation-outcome.ts';

interface ImportFlags extends GatewayFlags {
  readonly filename?: readonly string[];
  readonly fromCluster?: string;
  readonly kinds?: readonly string[];
  readonly namespace?: readonly string[];
  readonly exact?: boolean;
  readonly output?: DocumentFormat;
  readonly apply?: boolean;
  readonly wait?: boolean;
}

const help = `
Translates what other systems use: policies of Karmada with the resources that
they select, federated kinds and preferences of KubeFed, annotations of
Federation v1, and MultiClusterResources. Writes nothing without --apply.
  muster import -f karmada/                     show what becomes of the files
  muster import -f karmada/ -o yaml > muster/   print Propagations, for Git
  muster import -f karmada/ --apply --wait      propagate them
  muster import --from-cluster host             read the living resources
Notes on standard error name every difference. --exact does what the other
system did, with the same replicas and the same quirks.
--apply propagates each, unless a note is an error: then it writes nothing.
Exits with 1 if a note is an error, a cluster has a fault, or a Propagation is
refused or ends badly. Exits with 2 if a file cannot be read.`;

/** Adds `muster import`: translates manifests of other systems to Propagations. */
export function addImportCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(program.command('import'))
    .description('translate manifests of Karmada, KubeFed, Federation v1 and MultiClusterResources')
    .option('-f, --filename <file>', 'a file, a directory of files, or - for standard input; may be repeated', collectValues)
    .option('--from-cluster <name>', 'read the living resources of this cluster')
    .option('--kinds <kinds>', 'with --from-cluster: only these kinds of propagated objects, such as deploy,configmaps', parseKinds)
    .option('-n, --namespace <name>', 'with --from-cluster: only this namespace; may be repeated (default: all)', collectValues)
    .option('--exact', 'do exactly what the other system did')
    .addOption(new Option('-o, --output <format>', 'print the Propagations, or with --apply the results').choices(documentFormats))
    .option('--apply', 'propagate them')
    .option('--wait', 'with --apply: wait until each rollout ends')
    .addHelpText('after', help)
    .action((flags: ImportFlags) => {
      checkFlags(flags);
      return run(flags, (session) => importThem(session, flags), { writes: flags.apply === true });
    });
}

function checkFlags({ filename, fromCluster, kinds, namespace, apply, wait }: ImportFlags): void {
  const refuse = (message: string) => {
    throw new CommandFailure(exitCodes.refused, message);
  };
  if ((filename === undefined) === (fromCluster === undefined))
    refuse(`expected either -f or --from-cluster, got ${filename === undefined ? 'none' : 'both'}`);
  if (fromCluster === undefined && (kinds ?? namespace) !== undefined) refuse('expected --kinds and -n only with --from-cluster');
  if (wait === true && apply !== true) refuse('expected --wait only with --apply');
}

async function importThem(session: Session, flags: ImportFlags): Promise<number> {
  const answer = await requestImport(session.gateway, await requestOf(session, flags));
  const notes = importNotes(answer);
  for (const note of notes) session.terminal.err(`${noteLine(note)}\n`);
  new ClusterFaultReport(session).print(answer.faults);
  const hasErrors = notes.some(({ severity }) => severity === 'ERROR');
  const isRefused = hasErrors && flags.apply === true;
  if (isRefused) session.terminal.err('muster: a note is an error, so nothing was written\n');
  const exitCode =
    flags.apply === true && !isRefused ? await propagateImported(session, answer, flags) : await showImported(session, answer, flags);
  return hasErrors || answer.faults.length > 0 ? exitCodes.failed : exitCode;
}

/** Prints the Propagations: as documents for programs, else as a table. */
async function showImported({ terminal, reader }: Session, answer: ImportAnswer, { output }: ImportFlags): Promise<number> {
  const resources = async () => Promise.all(answer.propagations.map(({ input }) => reader.resource(input)));
  await terminal.out(output === undefined ? importLines(answer) : printAnswers(await resources(), output));
  return exitCodes.good;
}

async function requestOf(session: Session, { filename, fromCluster, kinds, namespace, exact }: ImportFlags): Promise<ImportRequest> {
  const isExact = exact === true;
  if (fromCluster === undefined) return { yaml: await readDocumentFiles(session, { filename: filename ?? [] }), exact: isExact };
  return { cluster: fromCluster, kinds: kinds ?? null, namespaces: namespace ?? null, exact: isExact };
}

async function propagateImported(session: Session, { propagations }: ImportAnswer, { wait, output }: ImportFlags): Promise<number> {
  const changes = propagations.map(({ input }) => {
    const inputs = { input: { type: 'PropagationInput!', value: input } };
    return { namespace: input.namespace, name: input.name, field: 'propagate', inputs };
  });
  const until = session.ownsGateway || wait === true ? 'settled' : 'accepted';
  return changePropagations(session, changes, { output, until, word: ({ generation }) => (generation === 1 ? 'created' : 'configured') });
}
