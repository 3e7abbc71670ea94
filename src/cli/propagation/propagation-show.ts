import type { Session } from '../client/session.ts';
import { phaseText } from '../output/kubectl-text.ts';
import { createTableColumns, textOfLines } from '../output/table.ts';
import { createLiveTable } from '../watches/live-table.ts';
import { propagationFrame } from './propagation-frame.ts';
import { type PropagationState, progressText, propagationName, reasonText } from './propagation-state.ts';

/** Shows how Propagations come along. */
export interface PropagationShow {
  show(state: PropagationState): Promise<void>;
  /** Shows what was not shown yet, then no more. Twice is once. */
  end(): void;
}

/** Shows nothing, for programs. */
export const silentShow: PropagationShow = { show: async () => undefined, end: () => undefined };

/** On a terminal a table that is drawn again in place; elsewhere a line for each change. */
export function createPropagationShow(session: Session, places: readonly string[]): PropagationShow {
  return session.terminal.isInteractive ? tableShow(session, places) : lineShow(session, { isMixed: places.length > 1 });
}

function tableShow(session: Session, places: readonly string[]): PropagationShow {
  const { terminal, clock } = session;
  const states = new Map<string, PropagationState>();
  const inOrder = () => places.flatMap((place) => states.get(place) ?? []);
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

/** As wide as the widest that may come, so that later lines line up. */
const phaseHeader = 'PHASE'.padEnd('Progressing'.length);

/** A line for each cluster that is other than before, and one for the whole, whose cluster is empty. */
function lineShow({ terminal }: Session, { isMixed }: { readonly isMixed: boolean }): PropagationShow {
  const columns = createTableColumns([...(isMixed ? ['PROPAGATION'] : []), 'CLUSTER', phaseHeader, 'READY', 'WHY']);
  const told = new Map<string, string>();
  return {
    show: async (state) => {
      const { phase, clusters } = state;
      const place = propagationName(state);
      const rows = [
        ...clusters.map((line) => [line.cluster.name, phaseText(line.phase), countsOf(line), reasonText(line)]),
        ['', phaseText(phase), countsOf({ ready: state.ready, replicas: state.desired }), progressText(state)],
      ].filter((row) => {
        const key = JSON.stringify([place, row[0]]);
        const text = JSON.stringify(row);
        const isNew = told.get(key) !== text;
        told.set(key, text);
        return isNew;
      });
      const lines = columns.lines(rows.map((row) => (isMixed ? [place, ...row] : row)));
      if (lines.length > 0) await terminal.out(textOfLines(lines));
    },
    end: () => undefined,
  };
}

function countsOf({ ready, replicas }: { readonly ready: number | null; readonly replicas: number | null }): string {
  return replicas === null ? '' : `${ready ?? 0}/${replicas}`;
}
