import { type Command as Commander, Option } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import {
  type GatewayFlags,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  withGatewayOptions,
  withSelection,
} from '../arguments/gateway-options.ts';
import { type ListTarget, parseListTargets } from '../arguments/object-words.ts';
import { allConditions, parseWhere, schemaPath, whereHelp } from '../arguments/where-text.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { ObjectSelection } from '../client/list-pages.ts';
import { resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { FoundNames } from '../lists/find-named.ts';
import { listDocuments } from '../lists/list-documents.ts';
import { listTables } from '../lists/list-tables.ts';
import { printable } from '../output/table.ts';

const outputs = ['wide', 'json', 'yaml', 'name'] as const;

type Output = (typeof outputs)[number];

type ListFlags = GatewayFlags &
  SelectionFlags & { readonly output?: Output; readonly where?: readonly JsonObject[]; readonly sortBy?: string };

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
  -o name  a line per object: CLUSTER/NAMESPACE/KIND/NAME; the namespace is
           empty for cluster-scoped objects
Faults of clusters are printed on standard error, and the other clusters are
listed anyway. Exits with 1 only if a cluster of --context had a fault; with 3
if nothing was found and a cluster did not answer.`;

/** Adds `muster list`: lists objects of all clusters. */
export function addListCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withSelection(program.command('list')))
    .alias('get')
    .description('list objects of all clusters')
    .argument('<object...>', 'KIND[,KIND], with names for some objects; or KIND/NAME')
    // Allows any number of names.
    .allowExcessArguments(true)
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputs))
    .option('--where <condition>', 'only matching objects, such as spec.replicas>3; may be repeated: all must hold', wheres)
    .option('--sort-by <path>', 'sort by a field, such as metadata.creationTimestamp', schemaPath)
    .addHelpText('after', help)
    .action((words: readonly string[], flags: ListFlags) => {
      const targets = parseListTargets(words);
      if (targets.some(({ names }) => names !== undefined) && (flags.selector !== undefined || flags.where !== undefined))
        throw new CommandFailure(exitCodes.refused, 'expected names, or -l and --where, got both');
      return run(flags, (session) => listObjects(session, targets, flags));
    });
}

async function listObjects(session: Session, targets: readonly ListTarget[], flags: ListFlags): Promise<number> {
  const { output, sortBy } = flags;
  const kinds = targets.map(({ kind }) => kind);
  await hintAtBooleans(session, kinds, flags.where ?? []);
  const [report, found] = [new ClusterFaultReport(session), new FoundNames()];
  const orderBy = sortBy === undefined ? null : [{ path: sortBy }];
  const selected: ObjectSelection = { ...selectionVariables(flags), where: allConditions(flags.where), orderBy };
  const isTable = output === undefined || output === 'wide';
  const isFound = isTable
    ? await listTables(session, { targets, selected, report, found, isWide: output === 'wide' })
    : await listDocuments(session, { targets, selected, report, found, output });
  if (targets.some(({ names }) => names !== undefined))
    return found.reportMissing(session, targets, selected.namespaces) || report.exitCode();
  if (!isFound && !found.answers.isComplete) {
    found.answers.reportUnknown(session, kinds.join(','));
    return exitCodes.unknown;
  }
  if (!isFound && isTable) session.terminal.err('No resources found\n');
  return report.exitCode();
}

function wheres(text: string, before: readonly JsonObject[] = []): readonly JsonObject[] {
  return [...before, parseWhere(text)];
}

/**
 * Prints a hint on standard error for each condition `PATH` or `!PATH` on a Boolean field. Such a condition tests only whether the field is set. The hint
 * shows the condition that tests its value.
 *
 * @param kinds The kinds as the user wrote them.
 */
async function hintAtBooleans(session: Session, kinds: readonly string[], conditions: readonly JsonObject[]): Promise<void> {
  const tested = conditions.flatMap(({ path, exists }) =>
    typeof path === 'string' && typeof exists === 'boolean' ? [{ path, exists }] : [],
  );
  if (tested.length === 0) return;
  const types = new Set((await resolveKinds(session, kinds)).map(({ kind }) => kind.type));
  for (const { path, exists } of tested) {
    const found = await Promise.all([...types].map((type) => isBoolean(session, type, path.split('.'))));
    if (!found.includes(true)) continue;
    const [what, sign] = exists ? ['is set', '='] : ['is not set', '!='];
    session.terminal.err(
      `hint: ${printable(path)} is a Boolean field, and this condition tests whether it ${what}: ${printable(path)}${sign}true tests its value\n`,
    );
  }
}

interface TypeOfField {
  readonly name: string | null;
  readonly ofType?: TypeOfField | null;
}

interface Fields {
  readonly __type: { readonly fields: readonly { readonly name: string; readonly type: TypeOfField }[] | null } | null;
}

/** True if the path leads to a Boolean field. False if it leaves the fields of the type, for example to a label or the cluster. */
async function isBoolean({ gateway }: Session, type: string, path: readonly string[]): Promise<boolean> {
  const query = `query ($name: String!) {
    __type(name: $name) { fields { name type { name ofType { name ofType { name ofType { name } } } } } }
  }`;
  let name: string | undefined = type;
  for (const segment of path) {
    if (name === undefined) return false;
    const { __type: found }: Fields = await gateway.query<Fields>(query, { name });
    name = nameOf(found?.fields?.find((field) => field.name === segment)?.type);
  }
  return name === 'Boolean';
}

/** Returns the name of the type inside lists and non-nulls. Undefined if the introspection names none. */
function nameOf(type: TypeOfField | null | undefined): string | undefined {
  return type === null || type === undefined ? undefined : (type.name ?? nameOf(type.ofType));
}
