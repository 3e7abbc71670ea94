import type { Command as Commander } from 'commander';
import { fullObjectName, objectOfKey } from '../../../core/columns/object-names.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import { type GatewayFlags, type RunCommand, type SourceFlags, withGatewayOptions, withSources } from '../../arguments/gateway-options.ts';
import { readManifestFiles } from '../../arguments/read-sources.ts';
import { ClusterFaultReport } from '../../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../../client/command-failure.ts';
import type { Session } from '../../client/session.ts';
import { diffLines } from '../../output/diff-lines.ts';
import { paintFor, printable, textOfLines } from '../../output/table.ts';
import { planDifferences } from '../../propagation/plan-differences.ts';
import { planOf } from '../../propagation/plan-intents.ts';
import { type ListMutation, sendListMutation } from '../../writes/write-objects.ts';
import type { ObjectWriteResult } from '../../writes/write-results.ts';
import { isPropagation, targetClusters } from '../../writes/write-targets.ts';

type DiffFlags = GatewayFlags & SourceFlags;

const help = `
Compares the objects of the files with those in each cluster of --context, else
in all: each API server tries the write, and nothing is written.
  muster diff -f app/ --context eu-prod
A line CONFLICT names each field that another manager owns: muster apply would
take it only with --force. For a Propagation, compares its copies with its intent:
  muster diff propagation web -n shop
Exits with 0 if nothing differs, with 1 if something does, with 2 if an object is
refused, with 3 if nothing differs but a cluster did not answer.`;

/** Adds `muster diff`: shows what `muster apply` would change, and how copies differ from their intent. */
export function addDiffCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withSources(program.command('diff')))
    .description('show what apply would change in each cluster, or how copies differ from their intent')
    .argument('[propagation...]', 'propagation NAME, or propagation/NAME; or -f')
    .allowExcessArguments(true)
    .addHelpText('after', help)
    .action((words: readonly string[], flags: DiffFlags) => {
      if ((words.length === 0) === (flags.filename === undefined)) throw refused('expected either -f or propagation NAME');
      const name = words.length === 0 ? undefined : propagationName(words);
      return run(flags, (session) => (name === undefined ? diffFiles(session, flags) : diffPropagation(session, name, flags)));
    });
}

function propagationName(words: readonly string[]): string {
  const [, name] = /^prop(?:agations?)?(?:\.muster\.dev)?[/ ]([^/ ]+)$/i.exec(words.join(' ')) ?? [];
  if (name === undefined) throw refused(`expected propagation NAME, got ${words.join(' ')}`);
  return name;
}

/** Codes of faults after which it is unknown whether an object differs. Any other fault means that the object is refused. */
const inconclusiveCodes = new Set(['UNREACHABLE', 'TIMEOUT', 'UNAVAILABLE', 'UNAUTHENTICATED', 'SYNCING', 'THROTTLED', 'GONE']);

async function diffFiles(session: Session, flags: DiffFlags): Promise<number> {
  const manifests = await readManifestFiles(session, flags);
  const intent = manifests.find(isPropagation);
  if (intent !== undefined)
    throw refused(`expected objects of clusters, got the Propagation ${intent.metadata.name}: use muster plan --exit-code`);
  const clusters = await targetClusters(session);
  const run = (force: boolean) => {
    const rest = {
      clusters: { type: '[String!]!', value: clusters },
      force: { type: 'Boolean', value: force },
      dryRun: { type: 'Boolean', value: true },
    };
    const list = { name: 'manifests', type: '[Manifest!]!', items: manifests.map((json) => ({ json })) };
    const mutation: ListMutation = { field: 'apply', list, writesPerItem: clusters.length, rest, output: undefined };
    return sendListMutation(session.gateway, mutation);
  };
  const [forced, unforced] = [await run(true), await run(false)];
  const report = new ClusterFaultReport(session);
  const lines = forced.flatMap((result, at) => linesOf(session, result, unforced[at]));
  if (lines.length > 0) await session.terminal.out(textOfLines(lines));
  const failed = forced.filter(({ action }) => action === 'FAILED');
  report.print(
    failed.flatMap(({ key, fault, cluster }) =>
      fault === null ? [] : [{ ...fault, cluster: { name: fullObjectName(cluster.name, objectOfKey(key)) }, kind: null }],
    ),
  );
  if (failed.some(({ fault }) => !inconclusiveCodes.has(fault?.code ?? ''))) return exitCodes.refused;
  if (lines.length > 0) return exitCodes.failed;
  return failed.length > 0 ? exitCodes.unknown : exitCodes.good;
}

function linesOf(
  { terminal }: Session,
  { cluster, key, action, diff }: ObjectWriteResult,
  unforced: ObjectWriteResult | undefined,
): readonly string[] {
  const name = printable(fullObjectName(cluster.name, objectOfKey(key)));
  const causes = (
    unforced?.fault as { readonly status?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] } } | null
  )?.status?.causes;
  const conflicts =
    unforced?.fault?.code === 'CONFLICT'
      ? (causes ?? []).map(({ field, message }) => `CONFLICT ${name} ${printable(`${field}: ${message}`)}`)
      : [];
  const isDifferent = action !== 'UNCHANGED' && action !== 'FAILED';
  if (!isDifferent && conflicts.length === 0) return [];
  const paint = paintFor(terminal);
  return [
    ...(isDifferent ? [paint(1, `${name} ${action === 'CREATED' ? 'would be created' : 'differs'}`), ...diffLines(diff ?? '', paint)] : []),
    ...conflicts,
  ];
}

async function diffPropagation(session: Session, name: string, { namespace = 'default' }: DiffFlags): Promise<number> {
  const query = 'query ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { spec } }';
  const { propagation } = await session.gateway.query<{ readonly propagation: { readonly spec: JsonObject } | null }>(query, {
    namespace,
    name,
  });
  if (propagation === null)
    throw new CommandFailure(exitCodes.failed, `there is no Propagation ${name} in the namespace ${namespace} of the hub`);
  const { suspend: _, ...spec } = isJsonObject(propagation.spec) ? propagation.spec : {};
  const plan = await planOf(session, { ...spec, namespace, name }, undefined);
  const { differences, exitCode } = planDifferences(plan);
  const paint = paintFor(session.terminal);
  const lines = differences.flatMap(({ cluster, object }) => [
    paint(1, printable(`${fullObjectName(cluster, objectOfKey(object.key))} ${object.action}`)),
    ...diffLines(object.diff ?? '', paint),
    ...object.conflicts.map(({ manager, path }) =>
      printable(`CONFLICT ${fullObjectName(cluster, objectOfKey(object.key))} ${path}: ${manager}`),
    ),
  ]);
  if (lines.length > 0) await session.terminal.out(textOfLines(lines));
  new ClusterFaultReport(session).print(plan.faults);
  return exitCode;
}

function refused(message: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, message);
}
