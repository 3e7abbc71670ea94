import { type JobState, jobStateFields, type PhaseCount } from '../../core/columns/job-cells.ts';
import type { ChangeMessage } from '../../core/streams/streamed-objects.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';

/** Counts of all visible Jobs at the time of a message. */
export interface JobSummary {
  readonly total: number;
  readonly stale: number;
  readonly byPhase: readonly PhaseCount[];
  readonly byCluster: readonly {
    readonly cluster: { readonly name: string };
    readonly total: number;
    readonly byPhase: readonly PhaseCount[];
    readonly sync: { readonly phase: string; readonly asOf: string | null; readonly fault: ClusterFault | null };
  }[];
}

/** One message of `jobStatus`. */
export interface JobMessage extends ChangeMessage<JobState> {
  readonly cursor: string;
  readonly fault: ClusterFault | null;
  readonly summary: JobSummary;
}

/** The subscription that gives `JobMessage`s. */
export const jobStatusQuery = `subscription ($clusters: [String!], $namespaces: [String!], $labels: String, $after: String) {
  jobStatus(clusters: $clusters, namespaces: $namespaces, labels: $labels, after: $after) {
    type cluster { name } cursor fault { ${faultFields} }
    added { ${jobStateFields} } modified { ${jobStateFields} } deleted { ${jobStateFields} }
    summary {
      total stale byPhase { phase count }
      byCluster { cluster { name } total byPhase { phase count } sync { phase asOf fault { ${faultFields} } } }
    }
  }
}`;
