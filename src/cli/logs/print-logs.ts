import type { JsonObject } from '../../core/json.ts';
import { type ClusterFault, type ClusterFaultReport, faultFields, faultsInExtensions } from '../client/cluster-faults.ts';
import { exitCodes } from '../client/command-failure.ts';
import { dataOf } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import { type LogLine, type LogPrinter, type LogSource, nameOfLog } from './log-lines.ts';
import { findMissingLogs, type LogArguments } from './missing-logs.ts';

interface PodLog extends LogSource {
  readonly lines?: readonly LogLine[];
  readonly text?: string;
  readonly truncated: boolean;
  readonly fault: ClusterFault | null;
}

/** The logs to read. */
export interface ReadLogsRequest {
  /** The logs that the user requested. If one of them is missing, a line reports it. */
  readonly selected: LogArguments;
  /** The requests to send. Each has at most 20 containers, and together they read the logs of `selected`. */
  readonly parts: readonly LogArguments[];
  readonly extent: JsonObject;
  readonly printer: LogPrinter;
  readonly report: ClusterFaultReport;
}

/**
 * Prints the current logs, and on standard error the faults and missing Pods. Selects each log as one text unless times are needed: a text counts
 * less against the limits of an answer than its lines.
 *
 * @returns The exit code: 1 if a Pod or container does not exist, or a cluster of `--context` has a fault; 3 if a Pod or container was not found and
 * a cluster did not answer.
 */
export async function printLogs(session: Session, { selected, parts, extent, printer, report }: ReadLogsRequest): Promise<number> {
  const { terminal } = session;
  const logs: PodLog[] = [];
  for (const part of parts) logs.push(...(await readPart(session, part, { extent, printer, report })));
  const { absent, unknown, answers } = await findMissingLogs(session, selected, logs);
  for (const line of absent) terminal.err(`muster: ${printable(line)}\n`);
  const nobodys = (selected.names ?? []).filter((name) => absent.some((line) => line.startsWith(`there is no Pod ${name}`)));
  await hintAtExpression(session, { ...selected, names: nobodys });
  for (const what of unknown) answers.reportUnknown(session, what);
  if (absent.length > 0) return exitCodes.failed;
  if (unknown.length > 0) return exitCodes.unknown;
  if (logs.length === 0) terminal.err('No containers found\n');
  return report.exitCode();
}

async function readPart(
  session: Session,
  part: LogArguments,
  { extent, printer, report }: Pick<ReadLogsRequest, 'extent' | 'printer' | 'report'>,
): Promise<readonly PodLog[]> {
  const { gateway, terminal } = session;
  const query = `query ($clusters: [String!], $namespaces: [String!], $labels: String, $names: [String!], $container: String, $previous: Boolean,
    $sinceSeconds: Int, $sinceTime: DateTime, $tailLines: Int = 200) {
    podLogs(clusters: $clusters, namespaces: $namespaces, labels: $labels, names: $names, container: $container, previous: $previous,
      sinceSeconds: $sinceSeconds, sinceTime: $sinceTime, tailLines: $tailLines) {
      cluster { name } namespace pod container ${printer.needsTimes ? 'lines { time text }' : 'text'} truncated fault { ${faultFields} }
    }
  }`;
  const answer = await gateway.send({ query, variables: { ...part, ...extent } });
  const { podLogs } = dataOf<{ readonly podLogs: readonly PodLog[] }>(answer);
  printer.reserveWidth(podLogs);
  for (const log of podLogs) {
    await terminal.out(printer.print(log, log.lines ?? linesOf(log.text ?? '')));
    if (log.truncated) terminal.err(`warning: ${nameOfLog(log)}: the log is longer: its end is missing\n`);
    if (log.fault !== null) report.print([{ ...log.fault, cluster: { name: nameOfLog(log) }, kind: null }]);
  }
  // A cluster whose Pods are unknown has no log entry that could carry its fault.
  report.print(faultsInExtensions(answer).map((fault) => (fault.kind == null ? fault : { ...fault, kind: { plural: 'pods' } })));
  return podLogs;
}

/** Prints a hint if a name is part of the names of other Pods. */
async function hintAtExpression({ gateway, terminal }: Session, { names, container: _, ...selection }: LogArguments): Promise<void> {
  const query = `query ($clusters: [String!], $namespaces: [String!], $labels: String, $where: Where) {
    pods(clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, first: 1) { totalCount }
  }`;
  for (const name of names ?? []) {
    const where = { path: 'metadata.name', contains: name };
    const { pods } = await gateway.query<{ readonly pods: { readonly totalCount: number } }>(query, { ...selection, where });
    if (pods.totalCount > 0)
      terminal.err(
        `hint: ${printable(`${pods.totalCount} Pods have ${name} in their names; a regular expression finds them: '^${name}'`)}\n`,
      );
  }
}

function linesOf(text: string): readonly LogLine[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => ({ time: null, text: line }));
}
