import { countInPhase, type JobState, jobStateFields, type PhaseCount, shownPhases } from '../../core/columns/job-cells.ts';
import { phaseText } from '../../core/columns/kubectl-text.ts';
import type { ChangeMessage } from '../../core/streams/streamed-objects.ts';
import type { AnsweredSync } from '../objects/answers.ts';
import type { TableColumn } from '../table/table-column.ts';

/** The number of Jobs in each phase, in one cluster or in all. */
interface JobCounts {
  readonly total: number;
  readonly byPhase: readonly PhaseCount[];
}

/** The summary of a message of `jobStatus`. */
export interface ShownJobSummary extends JobCounts {
  readonly byCluster: readonly (JobCounts & {
    readonly cluster: { readonly name: string };
    readonly sync: AnsweredSync;
  })[];
}

/** A message of `jobStatus`. */
export interface ShownJobMessage extends ChangeMessage<JobState> {
  readonly cursor: string;
  readonly summary: ShownJobSummary;
}

/** The subscription that gives `ShownJobMessage`s. */
export const jobsQuery = `subscription ($clusters: [String!], $namespaces: [String!], $labels: String, $where: Where, $after: String) {
  jobStatus(clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, after: $after) {
    type cluster { name } cursor fault { code message }
    added { ${jobStateFields} } modified { ${jobStateFields} } deleted { id }
    summary {
      total byPhase { phase count }
      byCluster { cluster { name } total byPhase { phase count } sync { phase ageSeconds fault { code message } } }
    }
  }
}`;

/** A row of the summary: one cluster, or all. */
export interface SummaryRow extends JobCounts {
  readonly name: string;
  /** False: the cluster has never sent its Jobs, so the counts mean nothing. */
  readonly isKnown: boolean;
}

/** Returns a row for all clusters, and then one for each. */
export function summaryRows({ total, byPhase, byCluster }: ShownJobSummary): readonly SummaryRow[] {
  return [
    { name: 'all', total, byPhase, isKnown: true },
    ...byCluster.map((one) => ({ name: one.cluster.name, total: one.total, byPhase: one.byPhase, isKnown: one.sync.ageSeconds !== null })),
  ];
}

/** Returns the columns of the summary: one for each phase that is usual or has Jobs. */
export function summaryColumns({ byPhase }: ShownJobSummary): readonly TableColumn<SummaryRow>[] {
  return [
    { header: 'Cluster', text: ({ name }) => name },
    { header: 'Total', text: ({ total, isKnown }) => (isKnown ? String(total) : '–'), isNumeric: true },
    ...shownPhases(byPhase).map((phase): TableColumn<SummaryRow> => {
      const count = (row: SummaryRow) => countInPhase(row.byPhase, phase);
      return {
        header: phaseText(phase),
        text: (row) => (row.isKnown ? String(count(row)) : '–'),
        isNumeric: true,
        tone: (row) => (count(row) === 0 ? 'dim' : phase === 'FAILED' ? 'bad' : undefined),
      };
    }),
  ];
}
