import type { JsonObject } from '../core/json.ts';
import { type ClusterFault, FaultReport, faultFields } from './cluster-faults.ts';
import { type Followed, follow } from './follow.ts';
import { type LogLine, type LogPrinter, type LogSource, maxTailLines, nameOfLog } from './log-lines.ts';
import { LogProgress } from './log-progress.ts';
import { type LogsAsked, missingLogs } from './missing-logs.ts';
import type { Session } from './session.ts';
import { printable } from './table.ts';

/** Which logs to follow, and how much of what was written before. */
export interface FollowedLogs {
  readonly selection: LogsAsked;
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

/** Prints logs as they are written, until the signal aborts. A stream that is lost goes on where it was. */
export async function followLogs(session: Session, { selection, extent, printer }: FollowedLogs): Promise<number> {
  const { open, clock, signal, terminal, gateway } = session;
  const progress = new LogProgress();
  const report = new FaultReport(session);
  const startMs = clock.now();
  const variables = (how: 'first' | 'resumed' | 'anew'): JsonObject => {
    if (how === 'first') return { ...selection, ...extent };
    // Nothing told: all that there is was written since, unless old lines were not wanted.
    const since = progress.resume() ?? (extent.tailLines === 0 ? new Date(startMs).toISOString() : null);
    return { ...selection, sinceTime: since, tailLines: maxTailLines };
  };
  if (selection.names !== null || selection.container !== null)
    for (const line of (await missingLogs(session, selection, [])).absent) terminal.err(`warning: ${printable(line)}: waiting for it\n`);
  for await (const event of follow({ open, clock, query, variables, url: gateway.address.url }, signal)) {
    if (event.type !== 'message') {
      tellLoss(terminal, event);
      continue;
    }
    const batch = (event.answer.data as { readonly podLogs: LogBatch } | null | undefined)?.podLogs;
    if (batch === undefined) continue;
    if (batch.dropped > 0)
      terminal.err(`warning: ${nameOfLog(batch)}: ${batch.dropped} lines are missing here: they came faster than they were read\n`);
    await terminal.out(printer.print(batch, progress.take(batch, batch.lines)));
    if (batch.fault !== null) report.tell([{ ...batch.fault, cluster: { name: nameOfLog(batch) }, kind: null }]);
  }
  return report.exitCode();
}

/** Tells that a stream was lost, and that it is there again: a line each. */
export function tellLoss(terminal: Session['terminal'], event: Exclude<Followed, { type: 'message' }>): void {
  switch (event.type) {
    case 'lost':
      terminal.err(`warning: ${event.reason}: trying again in ${Math.ceil(event.delayMs / 1000)} s\n`);
      break;
    case 'resumed':
      terminal.err('the gateway is there again\n');
      break;
    case 'restarted':
      break;
    default:
      event satisfies never;
  }
}
