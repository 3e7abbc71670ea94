import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { MusterError } from '../../core/errors.ts';
import { parseWhere, schemaPath, whereHelp } from '../../core/filters/where-text.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type GatewayFlags,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  withFieldSelector,
  withGatewayOptions,
  withSelection,
} from '../arguments/gateway-options.ts';
import { type ListOutput, listFormats, parseListOutput } from '../arguments/list-output.ts';
import { type ListTarget, parseListTargets } from '../arguments/object-words.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { withEarlyRequest } from '../client/gateway-client.ts';
import type { ObjectSelection } from '../client/list-pages.ts';
import type { Session } from '../client/session.ts';
import { type ConditionFlags, whereOfFlags } from '../lists/field-conditions.ts';
import { FoundNames, nameCondition } from '../lists/find-named.ts';
import { listDocuments } from '../lists/list-documents.ts';
import { likelyTableRequest, listTables } from '../lists/list-tables.ts';
import { type ResolvedListTarget, resolveListTargets } from '../lists/target-kinds.ts';
import { watchObjects } from '../watches/watch-objects.ts';

type ListFlags = GatewayFlags &
  SelectionFlags &
  ConditionFlags & {
    readonly output?: string;
    readonly sortBy?: string;
    readonly headers: boolean;
    readonly showLabels?: boolean;
    readonly labelColumns?: readonly string[];
    readonly allowMissingTemplateKeys: 'true' | 'false';
    readonly ignoreNotFound?: boolean;
    readonly watch?: boolean;
    readonly watchOnly?: boolean;
    readonly outputWatchEvents?: boolean;
  };

const help = `
KIND is any name of a kind: pods, po, Pod, deployments.apps, certificates. The
columns are those of kubectl; for custom resources, those of the definition in
each cluster. Several kinds give one table each. Names select objects, in all
clusters:
  muster get pod web-0
  muster get deploy/checkout svc/checkout -n shop
${whereHelp}
  -o wide  adds kubectl's wide columns
  -o json  a List, as kubectl prints it; the annotation muster.dev/cluster of
           each object names its cluster:
             jq -r '.items[].metadata | .annotations["muster.dev/cluster"]'
  -o yaml  a document per object, after a comment with its cluster
  -o jsonpath='{.items[*].metadata.name}'   kubectl's templates, on what -o json
           prints. One name, one --context and one -n give the object itself
  -o custom-columns=NAME:.metadata.name,REGION:.cluster.region   these columns
           only; a path may begin with .cluster
  -o name  a line per object: CLUSTER/NAMESPACE/KIND/NAME; the namespace is
           empty for cluster-scoped objects
-w prints the table, then a row per change, until it is interrupted. With -o it
prints a document per change; JSON is one line.
Faults of clusters are printed on standard error, and the other clusters are
listed anyway. Exits with 1 only if a cluster of --context had a fault; with 3
if nothing was found and a cluster did not answer.`;

/** Adds `muster list`: lists objects of all clusters. */
export function addListCommand(program: Commander, run: RunCommand): void {
  withFieldSelector(withGatewayOptions(withSelection(program.command('list'))))
    .alias('get')
    .description('list objects of all clusters')
    .argument('<object...>', 'KIND[,KIND], with names for some objects; or KIND/NAME')
    // Allows any number of names.
    .allowExcessArguments(true)
    .option('-o, --output <format>', `output format: ${listFormats.join(', ')}`)
    .option('--where <condition>', 'only matching objects, such as spec.replicas>3; may be repeated: all must hold', wheres)
    .option('--sort-by <path>', 'sort by a field, such as metadata.creationTimestamp', schemaPath)
    .option('--no-headers', 'tables without headers')
    .option('--show-labels', 'a last column with all labels')
    .option('-L, --label-columns <keys>', 'a column for each of these labels; may be repeated', labelKeys)
    .option('--ignore-not-found', 'exit with 0 and print nothing if an object does not exist')
    .addOption(
      new Option('--allow-missing-template-keys <bool>', 'jsonpath: a missing field prints nothing')
        .choices(['true', 'false'])
        .default('true'),
    )
    .option('-w, --watch', 'after the table, print a row per change')
    .option('--watch-only', 'print a row per change, without the existing objects')
    .option('--output-watch-events', 'with -w: a first column EVENT with ADDED, MODIFIED or DELETED')
    .addHelpText('after', help)
    .action(async (words: readonly string[], flags: ListFlags) => {
      const targets = parseListTargets(words);
      if (targets.some(({ names }) => names !== undefined)) refuseConditions(flags);
      const output = await parseListOutput(flags.output);
      const isWatch = flags.watch === true || flags.watchOnly === true;
      if (!isWatch && flags.outputWatchEvents === true)
        throw new CommandFailure(exitCodes.refused, 'expected -w or --watch-only with --output-watch-events');
      const show = isWatch ? watchList : listObjects;
      return run(flags, (session) => show(session, { targets, flags, output }));
    });
}

/** @throws {CommandFailure} if the flags have conditions. The words name objects, and names exclude conditions. */
function refuseConditions({ selector, where, fieldSelector }: SelectionFlags & ConditionFlags): void {
  if (selector !== undefined || where !== undefined || fieldSelector !== undefined)
    throw new CommandFailure(exitCodes.refused, 'expected names, or -l, --where and --field-selector, got both');
}

interface ListRequest {
  readonly targets: readonly ListTarget[];
  readonly flags: ListFlags;
  readonly output: ListOutput;
}

async function listObjects(asked: Session, request: ListRequest): Promise<number> {
  const { targets: words, flags, output } = request;
  const session = await withLikelyTable(asked, request);
  const targets = await resolveListTargets(session, words);
  const kinds = targets.map(({ kind }) => kind);
  const [report, found] = [new ClusterFaultReport(session), new FoundNames()];
  const selected = selectionOf(flags, await whereOfFlags(session, kinds, flags));
  const { headers: hasHeaders, ignoreNotFound } = flags;
  const listed = { targets, selected, report, found, hasHeaders };
  const isFound =
    output.type === 'table'
      ? await listTables(session, { ...listed, table: tableFlags(flags, output) })
      : await listDocuments(session, {
          ...listed,
          output,
          isSingle: isSingleObject(targets, flags),
          allowsMissingKeys: flags.allowMissingTemplateKeys === 'true',
        });
  if (targets.some(({ names }) => names !== undefined)) {
    const missing = { targets, namespaces: selected.namespaces, ignoresAbsence: ignoreNotFound };
    return found.reportMissing(session, missing) || report.exitCode();
  }
  if (!isFound && !found.answers.isComplete) {
    found.answers.reportUnknown(session, kinds.join(','));
    return exitCodes.unknown;
  }
  if (!isFound && output.type === 'table' && ignoreNotFound !== true) session.terminal.err('No resources found\n');
  return report.exitCode();
}

/**
 * Returns a session that has sent the request for the table of one kind without conditions, if the kind is probably a built-in one. The command
 * then waits once for the gateway, and not first for the kind and then for the objects.
 */
async function withLikelyTable(session: Session, { targets: [target, another], flags, output }: ListRequest): Promise<Session> {
  const hasConditions = flags.where !== undefined || flags.fieldSelector !== undefined;
  if (target === undefined || another !== undefined || target.names !== undefined || hasConditions || output.type !== 'table')
    return session;
  const table = { selected: selectionOf(flags, null), table: tableFlags(flags, output) };
  const request = await likelyTableRequest(session, target.kind, table);
  return request === undefined ? session : { ...session, gateway: withEarlyRequest(session.gateway, request) };
}

function selectionOf(flags: ListFlags, where: JsonObject | null): ObjectSelection {
  return { ...selectionVariables(flags), where, orderBy: flags.sortBy === undefined ? null : [{ path: flags.sortBy }] };
}

function tableFlags(
  { headers: hasHeaders, showLabels: showsLabels = false, labelColumns = [] }: ListFlags,
  { isWide }: { readonly isWide: boolean },
) {
  return { isWide, hasHeaders, showsLabels, labelColumns };
}

/** Prints the objects, then each change of them, until the signal aborts. */
async function watchList(session: Session, { targets: words, flags, output }: ListRequest): Promise<number> {
  const targets = await resolveListTargets(session, words);
  const kinds = targets.map(({ kind }) => kind);
  const [named, ...others] = targets;
  if (others.some(({ names }) => names?.join() !== named?.names?.join()))
    throw new CommandFailure(exitCodes.refused, 'expected the same names for each kind with -w');
  if (flags.sortBy !== undefined) session.terminal.err('warning: --sort-by has no effect with -w\n');
  const where = named?.names === undefined ? await whereOfFlags(session, kinds, flags) : nameCondition(named);
  return watchObjects(session, {
    kinds,
    selection: { clusters: session.clusters, ...selectionVariables(flags), where },
    output,
    table: { hasHeaders: flags.headers, showsLabels: flags.showLabels === true, labelColumns: flags.labelColumns ?? [] },
    hasEvents: flags.outputWatchEvents === true,
    showsExisting: flags.watchOnly !== true,
    allowsMissingKeys: flags.allowMissingTemplateKeys === 'true',
  });
}

/** True if the words can mean one object only: one name in one cluster and, unless the kind has none, one namespace. */
function isSingleObject([target, another]: readonly ResolvedListTarget[], { context, namespace }: ListFlags): boolean {
  if (target?.names?.length !== 1 || another !== undefined || context?.length !== 1) return false;
  return namespace?.length === 1 || target.kinds.every(({ namespaced }) => !namespaced);
}

function labelKeys(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').filter((key) => key !== '')];
}

function wheres(text: string, before: readonly JsonObject[] = []): readonly JsonObject[] {
  try {
    return [...before, parseWhere(text)];
  } catch (error) {
    if (error instanceof MusterError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
