import type { JsonObject } from '../../core/json.ts';
import { type ClusterFault, ClusterFaultReport, faultFields } from '../client/cluster-faults.ts';
import { followSubscriptionField } from '../client/follow-subscription.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import { type LogLine, type LogPrinter, type LogSource, maxTailLines, nameOfLog } from './log-lines.ts';
import { LogProgress } from './log-progress.ts';
import { findMissingLogs, type LogArguments } from './missing-logs.ts';

/** The logs to follow, and how many old lines to print first. */
export interface PrintFollowedLogsOptions {
  readonly selection: LogArguments;
  readonly extent: { readonly sinceSeconds?: number; readonly tailLines?: number };
  readonly printer: LogPrinter;
}

interface LogBatch extends LogSource {
  readonly type: string;
  readonly lines: readonly LogLine[];
  readonly dropped: number;
  readonly fault: ClusterFault | null;
}

const query = `subscription ($clusters: [String!], $namespaces: [String!], $labels: String, $names: [String!], $container: String,
  $sinceSeconds: Int, $sinceTime: DateTime, $tailLines: Int = 10) {
  podLogs(clusters: $clusters, namespaces: $namespaces, labels: $labels, names: $names, container: $container,
    sinceSeconds: $sinceSeconds, sinceTime: $sinceTime, tailLines: $tailLines) {
    type cluster { name } namespace pod container lines { time text } dropped fault { ${faultFields} }
  }
}`;

/** Prints logs as they are written, until the signal aborts. A lost stream resumes at the last printed lines. */
export async function printFollowedLogs(session: Session, { selection, extent, printer }: PrintFollowedLogsOptions): Promise<number> {
  const { clock, terminal } = session;
  const progress = new LogProgress();
  const report = new ClusterFaultReport(session);
  const startMs = clock.now();
  const variables = (how: 'first' | 'resumed' | 'anew'): JsonObject => {
    if (how === 'first') return { ...selection, ...extent };
    // If no line was printed yet, the stream restarts with all lines. With `--tail 0`, only with those since the command started.
    const since = progress.resumeTime() ?? (extent.tailLines === 0 ? new Date(startMs).toISOString() : null);
    return { ...selection, sinceTime: since, tailLines: maxTailLines };
  };
  if (selection.names !== null || selection.container !== null)
    for (const line of (await findMissingLogs(session, selection, [])).absent)
      terminal.err(`warning: ${printable(line)}: waiting for it\n`);
  for await (const event of followSubscriptionField<LogBatch>(session, { query, field: 'podLogs', variables })) {
    if (event.type !== 'message') continue;
    const batch = event.message;
    if (batch.dropped > 0)
      terminal.err(`warning: ${nameOfLog(batch)}: ${batch.dropped} lines are missing here: they came faster than they were read\n`);
    await terminal.out(printer.print(batch, progress.newLines(batch, batch.lines)));
    if (batch.fault !== null) report.print([{ ...batch.fault, cluster: { name: nameOfLog(batch) }, kind: null }]);
  }
  return report.exitCode();
}
