import { phaseText } from '../../core/columns/kubectl-text.ts';
import { progressText } from '../../core/columns/propagation-texts.ts';
import type { Session } from '../client/session.ts';
import { createTableColumns, textOfLines } from '../output/table.ts';
import { createLiveTable } from '../watches/live-table.ts';
import { propagationFrame } from './propagation-frame.ts';
import { propagationName, reasonText, type ShownPropagation } from './propagation-state.ts';

/** Shows the progress of Propagations. */
export interface PropagationShow {
  show(state: ShownPropagation): Promise<void>;
  /** Shows the last state, then stops. A second call does nothing. */
  end(): void;
}

/** Shows nothing. Used with output for programs. */
export const silentShow: PropagationShow = { show: async () => undefined, end: () => undefined };

/** Creates a table that is redrawn in place on a terminal, or a line per change elsewhere. */
export function createPropagationShow(session: Session, names: readonly string[]): PropagationShow {
  return session.terminal.isInteractive ? tableShow(session, names) : lineShow(session, { isMixed: names.length > 1 });
}

function tableShow(session: Session, names: readonly string[]): PropagationShow {
  const { terminal, clock } = session;
  const states = new Map<string, ShownPropagation>();
  const inOrder = () => names.flatMap((name) => states.get(name) ?? []);
  const { hasColor } = terminal;
  const table = createLiveTable(session, () =>
    propagationFrame({ states: inOrder(), size: terminal.size(), nowMs: clock.now(), hasColor }),
  );
  return {
    show: async (state) => {
      states.set(propagationName(state), state);
      table.wake();
    },
    end: () => table.end(),
  };
}

/** The header PHASE, as wide as the widest phase, so that later lines align. */
const phaseHeader = 'PHASE'.padEnd('Progressing'.length);

/** Prints a line for each cluster that has changed, and one with an empty cluster for the whole Propagation. */
function lineShow({ terminal }: Session, { isMixed }: { readonly isMixed: boolean }): PropagationShow {
  const columns = createTableColumns([...(isMixed ? ['PROPAGATION'] : []), 'CLUSTER', phaseHeader, 'READY', 'WHY']);
  const printed = new Map<string, string>();
  return {
    show: async (state) => {
      const { phase, clusters } = state;
      const name = propagationName(state);
      const rows = [
        ...clusters.map((line) => [line.cluster.name, phaseText(line.phase), countsOf(line), reasonText(line)]),
        ['', phaseText(phase), countsOf({ ready: state.ready, replicas: state.desired }), progressText(state)],
      ].filter((row) => {
        const key = JSON.stringify([name, row[0]]);
        const text = JSON.stringify(row);
        const isNew = printed.get(key) !== text;
        printed.set(key, text);
        return isNew;
      });
      const lines = columns.lines(rows.map((row) => (isMixed ? [name, ...row] : row)));
      if (lines.length > 0) await terminal.out(textOfLines(lines));
    },
    end: () => undefined,
  };
}

function countsOf({ ready, replicas }: { readonly ready: number | null; readonly replicas: number | null }): string {
  return replicas === null ? '' : `${ready ?? 0}/${replicas}`;
}
