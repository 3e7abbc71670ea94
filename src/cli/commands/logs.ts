import { type Command as Commander, InvalidArgumentError } from 'commander';
import { parseDuration } from '../../core/json/json-values.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type GatewayFlags,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  wholeNumberParser,
  withGatewayOptions,
  withSelection,
} from '../arguments/gateway-options.ts';
import { type ClusterFault, ClusterFaultReport, faultFields, faultsInExtensions } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { dataOf } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import { type LogLine, LogPrinter, type LogSource, maxTailLines, nameOfLog } from '../logs/log-lines.ts';
import { findMissingLogs, type LogArguments } from '../logs/missing-logs.ts';
import { printFollowedLogs } from '../logs/print-followed-logs.ts';
import { printable } from '../output/table.ts';

type LogsFlags = GatewayFlags &
  SelectionFlags & {
    readonly container?: string;
    readonly follow?: boolean;
    readonly previous?: boolean;
    readonly since?: number;
    readonly tail?: number;
    readonly timestamps?: boolean;
  };

const help = `
Each line starts with its source: CLUSTER/NAMESPACE/POD/CONTAINER. Without -c
all containers of a Pod are read, at most 20 in all. Logs of a Job in all
clusters:
  muster logs -l job-name=invoice-run -f
-f also follows Pods that appear later, until it is interrupted. A lost
connection is opened again, and no line is repeated.
Exits with 1 if a named Pod or container does not exist, or a cluster of
--context had a fault; with 3 if nothing was found and a cluster did not
answer.`;

/** Adds `muster logs`: prints logs of containers in all clusters. */
export function addLogsCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withSelection(program.command('logs')))
    .description('show or follow the logs of containers of all clusters')
    .argument('[pod...]', 'names of Pods; or select them with -l')
    // Allows any number of names.
    .allowExcessArguments(true)
    .option('-c, --container <name>', 'only containers of this name')
    .option('-f, --follow', 'follow new lines')
    .option('-p, --previous', "logs of the containers' previous run")
    .option('--since <duration>', 'only lines of the last 5m, 90s, 1h30m', seconds)
    .option(
      '--tail <lines>',
      'the last lines of each log; -1 for the maximum of 10000 (default: 200, with -f 10)',
      wholeNumberParser(-1, maxTailLines),
    )
    .option('--timestamps', 'print the time of each line')
    .addHelpText('after', help)
    .action((pods: readonly string[], flags: LogsFlags) => run(flags, (session) => showLogs(session, pods, flags)));
}

async function showLogs(session: Session, pods: readonly string[], flags: LogsFlags): Promise<number> {
  if (pods.length === 0 && flags.selector === undefined)
    throw new CommandFailure(exitCodes.refused, 'expected the name of a Pod, or -l with labels of Pods');
  if (flags.follow === true && flags.previous === true)
    throw new CommandFailure(exitCodes.refused, 'expected --previous or --follow, got both: an ended run cannot be followed');
  const selection: LogArguments = {
    clusters: session.clusters,
    ...selectionVariables(flags),
    names: pods.length === 0 ? null : pods.map(podName),
    container: flags.container ?? null,
  };
  const extent = {
    ...(flags.since === undefined ? {} : { sinceSeconds: flags.since }),
    ...(flags.tail === undefined ? {} : { tailLines: flags.tail === -1 ? maxTailLines : flags.tail }),
  };
  const hasTimes = flags.timestamps === true;
  const printer = new LogPrinter({ hasColor: session.terminal.hasColor, hasTimes });
  if (flags.follow === true) return printFollowedLogs(session, { selection, extent, printer });
  return readLogs(session, { selected: selection, extent: { ...extent, previous: flags.previous === true }, printer, hasTimes });
}

/** Returns `web` for `pod/web`. Other kinds are refused: labels select their Pods. */
function podName(word: string): string {
  const name = word.replace(/^(?:pods?|po)\//, '');
  if (name.includes('/')) throw new CommandFailure(exitCodes.refused, `expected the name of a Pod, or -l with labels of Pods, got ${word}`);
  return name;
}

interface PodLog extends LogSource {
  readonly lines?: readonly LogLine[];
  readonly text?: string;
  readonly truncated: boolean;
  readonly fault: ClusterFault | null;
}

interface Reading {
  readonly selected: LogArguments;
  readonly extent: JsonObject;
  readonly printer: LogPrinter;
  readonly hasTimes: boolean;
}

/**
 * Prints the current logs, and the faults and missing Pods on standard error. Selects each log as one text unless times are needed: a text
 * counts less against the limits of an answer than its lines.
 *
 * @returns The exit code: 1 if a Pod or container does not exist or a named cluster had a fault; 3 if a Pod or container was not found and
 * a cluster did not answer.
 */
async function readLogs(session: Session, { selected, extent, printer, hasTimes }: Reading): Promise<number> {
  const { gateway, terminal } = session;
  const query = `query ($clusters: [String!], $namespaces: [String!], $labels: String, $names: [String!], $container: String, $previous: Boolean,
    $sinceSeconds: Int, $tailLines: Int = 200) {
    podLogs(clusters: $clusters, namespaces: $namespaces, labels: $labels, names: $names, container: $container, previous: $previous,
      sinceSeconds: $sinceSeconds, tailLines: $tailLines) {
      cluster { name } namespace pod container ${hasTimes ? 'lines { time text }' : 'text'} truncated fault { ${faultFields} }
    }
  }`;
  const answer = await gateway.send({ query, variables: { ...selected, ...extent } });
  const { podLogs } = dataOf<{ readonly podLogs: readonly PodLog[] }>(answer);
  printer.reserveWidth(podLogs);
  const report = new ClusterFaultReport(session);
  for (const log of podLogs) {
    await terminal.out(printer.print(log, log.lines ?? linesOf(log.text ?? '')));
    if (log.truncated) terminal.err(`warning: ${nameOfLog(log)}: the log is longer: its end is missing\n`);
    if (log.fault !== null) report.print([{ ...log.fault, cluster: { name: nameOfLog(log) }, kind: null }]);
  }
  // A cluster whose Pods are unknown has no log entry that could carry its fault.
  report.print(faultsInExtensions(answer).map((fault) => (fault.kind == null ? fault : { ...fault, kind: { plural: 'pods' } })));
  const { absent, unknown, answers } = await findMissingLogs(session, selected, podLogs);
  for (const line of absent) terminal.err(`muster: ${printable(line)}\n`);
  for (const what of unknown) answers.reportUnknown(session, what);
  if (absent.length > 0) return exitCodes.failed;
  if (unknown.length > 0) return exitCodes.unknown;
  if (podLogs.length === 0) terminal.err('No containers found\n');
  return report.exitCode();
}

function linesOf(text: string): readonly LogLine[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => ({ time: null, text: line }));
}

function seconds(text: string): number {
  const nanoseconds = parseDuration(text) ?? 0n;
  const rounded = Number((nanoseconds + 999_999_999n) / 1_000_000_000n);
  if (nanoseconds > 0n && rounded < 2 ** 31) return rounded;
  throw new InvalidArgumentError('Expected a length of time such as 90s, 5m or 1h30m.');
}
