import { cellsOfJob, countInPhase, type JobState, shownPhases } from '../../core/columns/job-cells.ts';
import { humanDuration } from '../../core/columns/kubectl-text.ts';
import { compareText } from '../../core/text.ts';
import type { TerminalSize } from '../output/live-region.ts';
import { createTableColumns, type Paint, paintFor } from '../output/table.ts';
import type { JobSummary } from './job-status.ts';

export interface JobFrameOptions {
  readonly jobs: Iterable<JobState>;
  /** The summary of the last message. Undefined before the first message. */
  readonly summary: JobSummary | undefined;
  readonly size: TerminalSize;
  readonly nowMs: number;
  readonly hasColor: boolean;
}

const statusColumn = 3;

/** Above this number of clusters, only the sum of all is shown. */
const maxClusterLines = 12;

/** The phases by importance. If the table has too few lines, Jobs with the last phases are left out first. */
const importance: readonly string[] = ['RUNNING', 'FAILURE_TARGET', 'FAILED', 'TERMINATING', 'SUSPENDED', 'COMPLETE'];

const colors: Readonly<Record<string, number>> = {
  COMPLETE: 32,
  FAILED: 31,
  FAILURE_TARGET: 31,
  RUNNING: 36,
  SUSPENDED: 33,
  TERMINATING: 33,
};

/**
 * Returns the lines of the live table of Jobs, at most as many as the terminal has. First come the Jobs, by cluster, namespace and name. Then comes
 * the number of Jobs in each phase. If there are too many Jobs, complete Jobs are left out first and running Jobs last (`importance`). A line counts
 * the Jobs that are left out.
 */
export function jobFrame({ jobs, summary, size, nowMs, hasColor }: JobFrameOptions): readonly string[] {
  if (summary === undefined) return ['waiting for the first state'];
  const paint = paintFor({ hasColor });
  const counts = summaryLines(summary, { nowMs, room: size.rows - 4, paint });
  const all = [...jobs];
  // The counts follow a header, the line that counts Jobs left out, and an empty line.
  const room = Math.max(0, size.rows - counts.length - 3);
  const shown = chosen(all, all.length <= room + 1 ? room + 1 : room);
  const left = all.length - shown.length;
  const columns = createTableColumns(['CLUSTER', 'NAMESPACE', 'NAME', 'STATUS', 'COMPLETIONS', 'DURATION', 'AGE']);
  const rows = shown.map((state) => {
    const { status, completions, duration, age } = cellsOfJob(state, nowMs);
    return [state.cluster.name, state.namespace, state.name, status, completions, duration, age];
  });
  const table = columns.lines(rows, (text, { row, column }) => {
    if (row === -1) return paint(1, text);
    const color = column === statusColumn ? colors[shown[row]?.phase ?? ''] : undefined;
    return color === undefined ? text : paint(color, text);
  });
  return [...table, ...(left > 0 ? [`… and ${left} more`] : []), ...(table.length > 0 ? [''] : []), ...counts].slice(
    0,
    Math.max(1, size.rows),
  );
}

function chosen(jobs: readonly JobState[], room: number): readonly JobState[] {
  const kept = jobs.length <= room ? jobs : jobs.toSorted((a, b) => rankOf(a) - rankOf(b) || startOf(b) - startOf(a)).slice(0, room);
  return kept.toSorted(
    (a, b) => compareText(a.cluster.name, b.cluster.name) || compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
  );
}

function rankOf({ phase }: JobState): number {
  const rank = importance.indexOf(phase);
  return rank === -1 ? importance.length : rank;
}

function startOf({ startTime }: JobState): number {
  return startTime === null ? 0 : Date.parse(startTime);
}

interface SummaryOptions {
  readonly nowMs: number;
  /** The largest number of lines: at least two. */
  readonly room: number;
  readonly paint: Paint;
}

/**
 * Returns a table of the number of Jobs in each phase: a line for each cluster, and the line `all` with the sums. With too little room, it has
 * only the line `all`. A cluster that is out of sync shows since when and why.
 */
function summaryLines({ total, stale, byPhase, byCluster }: JobSummary, { nowMs, room, paint }: SummaryOptions): readonly string[] {
  const phases = shownPhases(byPhase);
  const shown = byCluster.length <= Math.min(maxClusterLines, Math.max(0, room - 2)) ? byCluster : [];
  const columns = createTableColumns(['JOBS', 'TOTAL', ...phases.map((phase) => phase.replace('_', ' ')), 'SYNC']);
  const counted = (name: string, of: Pick<JobSummary, 'total' | 'byPhase'>, sync: string) => {
    return [name, String(of.total), ...phases.map((phase) => String(countInPhase(of.byPhase, phase))), sync];
  };
  const rows = [
    ...shown.map((one) => counted(one.cluster.name, one, syncText(one.sync, nowMs))),
    counted('all', { total, byPhase }, stale > 0 ? `${stale} stale` : ''),
  ];
  const isStale = (row: number) => (shown[row] === undefined ? stale > 0 : shown[row].sync.phase !== 'SYNCED');
  return columns.lines(rows, (text, { row }) => (row === -1 ? paint(1, text) : isStale(row) ? paint(33, text) : text));
}

/** Returns `SYNCED`, or `STALE for 12s: UNREACHABLE the connection was refused`. */
function syncText({ phase, asOf, fault }: JobSummary['byCluster'][number]['sync'], nowMs: number): string {
  if (phase === 'SYNCED') return phase;
  const since = asOf === null ? '' : ` for ${humanDuration(nowMs - Date.parse(asOf))}`;
  return `${phase}${since}${fault === null ? '' : `: ${fault.code} ${fault.message}`}`;
}
