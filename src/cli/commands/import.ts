import { type Command as Commander, Option } from 'commander';
import type { IntentNote } from '../../core/columns/plan-texts.ts';
import { textAt } from '../../core/json-at.ts';
import { collectValues, type GatewayFlags, parseKinds, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readDocumentFiles } from '../arguments/read-sources.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { ImportedInput } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { type DocumentFormat, documentFormats, printAnswers } from '../output/print-answer.ts';
import { printable } from '../output/table.ts';
import {
  type ImportAnswer,
  type ImportOrigin,
  type ImportRequest,
  importLines,
  importNotes,
  requestImport,
  unreadLines,
} from '../propagation/imported.ts';
import { importedFrom } from '../propagation/imported-from.ts';
import { noteLine } from '../propagation/plan-lines.ts';
import { changePropagations, keyInputs } from '../propagation/propagation-outcome.ts';

interface ImportFlags extends GatewayFlags {
  readonly filename?: readonly string[];
  readonly fromCluster?: string;
  readonly kinds?: readonly string[];
  readonly namespace?: readonly string[];
  readonly exact?: boolean;
  readonly output?: DocumentFormat;
  readonly apply?: boolean;
  readonly undo?: boolean;
  readonly wait?: boolean;
}

const help = `
Translates what other systems use: policies of Karmada with the resources that
they select, federated kinds and preferences of KubeFed, annotations of
Federation v1, and MultiClusterResources. Writes nothing without --apply.
  muster import -f karmada/                     show what becomes of the files
  muster import -f karmada/ -o yaml             print Propagations, for Git
  muster import -f karmada/ --apply --wait      propagate them
  muster import --from-cluster host             read the living resources
  muster import --from-cluster host --undo      give the copies back
Notes on standard error name every difference. --exact does what the other
system did, with the same replicas and the same quirks.
--apply propagates each, unless a note is an error, something could not be read,
or a namespace is not on the hub: then it writes nothing. Namespaces come first.
--undo deletes the Propagations that were imported from the cluster.
Their copies stay as they are, without a mark of Muster.
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
    .option('--undo', 'with --from-cluster: delete the Propagations that were imported, and leave their copies')
    .option('--wait', 'with --apply: wait until each rollout ends; with --undo: until each Propagation is gone')
    .addHelpText('after', help)
    .action((flags: ImportFlags) => {
      checkFlags(flags);
      const { fromCluster, undo, apply } = flags;
      if (fromCluster !== undefined && undo === true)
        return run(flags, (session) => undoImport(session, fromCluster, flags), { writes: true });
      return run(flags, (session) => importManifests(session, flags), { writes: apply === true });
    });
}

function checkFlags({ filename, fromCluster, kinds, namespace, exact, output, apply, undo, wait }: ImportFlags): void {
  const refuse = (message: string) => {
    throw new CommandFailure(exitCodes.refused, message);
  };
  if ((filename === undefined) === (fromCluster === undefined))
    refuse(`expected either -f or --from-cluster, got ${filename === undefined ? 'none' : 'both'}`);
  if (fromCluster === undefined && (kinds ?? namespace) !== undefined) refuse('expected --kinds and -n only with --from-cluster');
  if (fromCluster === undefined && undo === true) refuse('expected --undo only with --from-cluster');
  if (namespace?.includes('') === true) refuse('expected the name of a namespace with -n, got ""');
  if (undo === true && (exact ?? output ?? apply) !== undefined) refuse('expected --undo without --exact, -o and --apply');
  if (wait === true && apply !== true && undo !== true) refuse('expected --wait only with --apply or --undo');
}

async function importManifests(session: Session, flags: ImportFlags): Promise<number> {
  const { request, from } = await requestOf(session, flags);
  const answer = await requestImport(session.gateway, request);
  const notes = importNotes(answer, from);
  for (const line of [...notes.map(noteLine), ...unreadLines(answer, from)]) session.terminal.err(`${line}\n`);
  new ClusterFaultReport(session).print(answer.faults);
  const failure = failureOf(notes, answer);
  const obstacle = failure ?? (notes.some(({ code }) => code === 'NO_NAMESPACE') ? 'a namespace is not on the hub' : undefined);
  if (flags.apply === true && obstacle === undefined) return await propagateImported(session, answer, flags);
  if (flags.apply === true) session.terminal.err(`muster: ${obstacle}, so nothing was written\n`);
  await showImported(session, answer, flags);
  return (flags.apply === true ? obstacle : failure) === undefined ? exitCodes.good : exitCodes.failed;
}

/**
 * Returns the reason why the import is incomplete. Undefined if it is complete. An incomplete import must not be applied. For example, without the
 * overrides the Propagations would differ from the source, and could restart Pods.
 */
function failureOf(notes: readonly IntentNote[], { faults }: ImportAnswer): string | undefined {
  if (notes.some(({ severity }) => severity === 'ERROR')) return 'a note is an error';
  return faults.length > 0 ? 'something could not be read' : undefined;
}

/** Maximum number of documents in a file that Muster reads. */
const maxDocuments = 1_000;

/** Prints the Propagations: as documents if `-o` is given, else as a table. Warns if there are none, or more documents than `muster plan -f` reads. */
async function showImported({ terminal, reader }: Session, answer: ImportAnswer, { output }: ImportFlags): Promise<void> {
  if (answer.propagations.length === 0) terminal.err('nothing was found that can be imported\n');
  const resources = async () => Promise.all(answer.propagations.map(({ input }) => reader.resource(input)));
  if (output !== undefined && answer.propagations.length > maxDocuments)
    terminal.err(
      `warning: muster plan -f reads at most ${maxDocuments} documents: split the ${answer.propagations.length} of this import\n`,
    );
  await terminal.out(output === undefined ? importLines(answer) : printAnswers(await resources(), output));
}

interface OriginRequest {
  readonly request: ImportRequest;
  readonly from: ImportOrigin;
}

async function requestOf(
  session: Session,
  { filename = [], fromCluster, kinds, namespace, exact = false }: ImportFlags,
): Promise<OriginRequest> {
  if (fromCluster !== undefined)
    return { request: { cluster: fromCluster, kinds: kinds ?? null, namespaces: namespace ?? null, exact }, from: 'cluster' };
  const { text, count } = await readDocumentFiles(session, { filename });
  return { request: { yaml: text, exact }, from: count > 1 ? 'files' : 'file' };
}

/**
 * Propagates the imported Namespaces first and waits for them, because the other Propagations need their namespaces on the hub. If a Namespace does
 * not settle, the other Propagations are not written. Returns the exit code.
 */
async function propagateImported(session: Session, { propagations }: ImportAnswer, flags: ImportFlags): Promise<number> {
  const namespaces = propagations.filter(({ input }) => isOfNamespace(input));
  const others = propagations.filter(({ input }) => !isOfNamespace(input));
  if (namespaces.length === 0 || others.length === 0) return await propagateAll(session, propagations, flags);
  const code = await propagateAll(session, namespaces, { ...flags, wait: true });
  if (code !== exitCodes.good) {
    session.terminal.err('muster: the namespaces are not ready, so nothing else was written\n');
    return code;
  }
  if (flags.output === 'yaml') await session.terminal.out('---\n');
  return await propagateAll(session, others, flags);
}

function isOfNamespace({ template }: ImportedInput): boolean {
  const [first] = Array.isArray(template) ? template : [];
  return ['json', 'ref'].some((form) => textAt(first, form, 'kind') === 'Namespace' && textAt(first, form, 'apiVersion') === 'v1');
}

async function propagateAll(
  session: Session,
  propagations: ImportAnswer['propagations'],
  { wait, output }: Pick<ImportFlags, 'wait' | 'output'>,
): Promise<number> {
  const changes = propagations.map(({ input }) => {
    const inputs = { input: { type: 'PropagationInput!', value: input } };
    return { namespace: input.namespace, name: input.name, field: 'propagate', inputs };
  });
  const until = session.ownsGateway || wait === true ? 'settled' : 'accepted';
  return changePropagations(session, changes, { output, until, word: ({ generation }) => (generation === 1 ? 'created' : 'configured') });
}

/**
 * Deletes the Propagations that were imported from the cluster. Their copies stay. Waits until the Propagations are gone if the gateway ends with the
 * command or `--wait` is given. Returns the exit code.
 */
async function undoImport(session: Session, cluster: string, { kinds, namespace, wait }: ImportFlags): Promise<number> {
  const imported = await importedFrom(session, { cluster, kinds, namespaces: namespace });
  if (imported.length === 0) session.terminal.err(`no such Propagation was imported from cluster ${printable(cluster)}\n`);
  const changes = imported.map((key) => {
    const deletion = { type: 'DeletionInput', value: { policy: 'ORPHAN' } };
    return { ...key, field: 'deletePropagation', inputs: { ...keyInputs(key), deletion } };
  });
  const until = session.ownsGateway || wait === true ? 'gone' : 'accepted';
  return changePropagations(session, changes, { output: undefined, until, word: () => 'deleted' });
}
