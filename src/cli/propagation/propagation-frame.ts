import { ageText, phaseText } from '../../core/columns/kubectl-text.ts';
import { propagationSummary } from '../../core/columns/propagation-texts.ts';
import type { TerminalSize } from '../output/live-region.ts';
import { createTableColumns, type Paint, paintFor, printable } from '../output/table.ts';
import { type ClusterCopyState, propagationName, reasonText, type ShownPropagation } from './propagation-state.ts';

export interface PropagationFrameOptions {
  /** The Propagations in the order of the command line. */
  readonly states: readonly ShownPropagation[];
  readonly size: TerminalSize;
  readonly nowMs: number;
  readonly hasColor: boolean;
}

const header = ['CLUSTER', 'WAVE', 'PHASE', 'REPLICAS', 'READY', 'HEALTH', 'SINCE', 'WHY'];
const phaseColumn = 2;

const colors: Readonly<Record<string, number>> = {
  SETTLED: 32,
  FAILED: 31,
  DENIED: 31,
  DEGRADED: 31,
  HELD: 33,
  PAUSED: 33,
  UNKNOWN: 33,
  ROLLING_BACK: 33,
  APPLYING: 36,
  PROGRESSING: 36,
  SOAKING: 36,
  ROLLING: 36,
  DRAINING: 36,
  DELETING: 36,
};

/** The phases by importance. If the table has too few lines, clusters with the last phases are left out first. */
const importance: readonly string[] = [
  ...['FAILED', 'DENIED', 'UNKNOWN', 'ROLLING_BACK', 'PROGRESSING', 'APPLYING', 'DRAINING', 'DELETING', 'SOAKING', 'WAITING', 'SETTLED'],
];

/**
 * Returns the lines of the live table of Propagations: for each a heading and its clusters by name. At most as many lines as the terminal
 * has. Settled clusters are left out first, and a line counts the clusters left out.
 */
export function propagationFrame({ states, size, nowMs, hasColor }: PropagationFrameOptions): readonly string[] {
  if (states.length === 0) return ['waiting for the first state'];
  const paint = paintFor({ hasColor });
  // Each Propagation has a heading, a header and a line that counts clusters left out. An empty line separates two Propagations.
  const room = Math.max(1, Math.floor((size.rows - states.length * 4 + 1) / states.length));
  return states
    .flatMap((state, index) => [...(index === 0 ? [] : ['']), ...propagationLines(state, { nowMs, room, paint })])
    .slice(0, size.rows);
}

interface StateOptions {
  readonly nowMs: number;
  readonly room: number;
  readonly paint: Paint;
}

/** Returns the lines of one Propagation: a heading, and a table of at most `room` clusters. */
export function propagationLines(state: ShownPropagation, { nowMs, room, paint }: StateOptions): readonly string[] {
  const { clusters, phase } = state;
  const shown = clusters.length <= room ? clusters : chosen(clusters, room);
  const left = clusters.length - shown.length;
  const heading = printable(`${propagationName(state)}: ${propagationSummary(state)}`);
  const table = createTableColumns(header).lines(
    shown.map((line) => cellsOf(line, nowMs)),
    (text, { row, column }) => {
      if (row === -1) return paint(1, text);
      const color = column === phaseColumn ? colors[shown[row]?.phase ?? ''] : undefined;
      return color === undefined ? text : paint(color, text);
    },
  );
  return [paint(colors[phase] ?? 1, heading), ...table, ...(left > 0 ? [`… and ${left} more`] : [])];
}

function cellsOf(line: ClusterCopyState, nowMs: number): readonly string[] {
  const { cluster, wave, phase, replicas, ready, health, since } = line;
  return [
    ...[cluster.name, wave === null ? '' : String(wave + 1), phaseText(phase), replicas === null ? '' : String(replicas)],
    ...[ready === null ? '' : String(ready), phaseText(health), ageText(since, nowMs), reasonText(line)],
  ];
}

function chosen(clusters: readonly ClusterCopyState[], room: number): readonly ClusterCopyState[] {
  const kept = new Set(clusters.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, room));
  return clusters.filter((line) => kept.has(line));
}

function rankOf({ phase }: ClusterCopyState): number {
  const rank = importance.indexOf(phase);
  return rank === -1 ? 0 : rank;
}
