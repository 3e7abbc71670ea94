import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import { completionsText } from '../columns/workload-tables.ts';
import { ageText, humanDuration, phaseText } from '../output/kubectl-text.ts';
import type { ChangeMessage } from './streamed-objects.ts';

/** A Job in a message of `jobStatus`. */
export interface JobState {
  readonly id: string;
  readonly cluster: { readonly name: string };
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly active: number;
  readonly ready: number | null;
  readonly succeeded: number;
  readonly failed: number;
  readonly parallelism: number | null;
  readonly completions: number | null;
  readonly startTime: string | null;
  readonly completionTime: string | null;
  readonly conditions: readonly {
    readonly type: string | null;
    readonly status: string | null;
    readonly lastTransitionTime: string | null;
  }[];
  readonly job: {
    readonly metadata: { readonly uid: string | null; readonly creationTimestamp: string | null; readonly resourceVersion: string | null };
  };
}

export interface PhaseCount {
  readonly phase: string;
  readonly count: number;
}

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

const stateFields = `id cluster { name } namespace name phase active ready succeeded failed parallelism completions startTime completionTime
  conditions { type status reason message lastTransitionTime } job { metadata { uid creationTimestamp resourceVersion } }`;

/** The subscription that gives `JobMessage`s. */
export const jobStatusQuery = `subscription ($clusters: [String!], $namespaces: [String!], $labels: String, $after: String) {
  jobStatus(clusters: $clusters, namespaces: $namespaces, labels: $labels, after: $after) {
    type cluster { name } cursor fault { ${faultFields} }
    added { ${stateFields} } modified { ${stateFields} } deleted { ${stateFields} }
    summary {
      total stale byPhase { phase count }
      byCluster { cluster { name } total byPhase { phase count } sync { phase asOf fault { ${faultFields} } } }
    }
  }
}`;

/** The columns of a Job, as `kubectl get jobs` prints them. */
export interface JobCells {
  readonly status: string;
  readonly completions: string;
  readonly duration: string;
  readonly age: string;
}

/** Returns the cells of a Job at `nowMs`. The duration of a failed Job ends at its failure. In kubectl it keeps growing. */
export function cellsOfJob(state: JobState, nowMs: number): JobCells {
  const { phase, startTime, job } = state;
  return {
    status: phaseText(phase),
    completions: completionsText(state),
    duration: startTime === null ? '' : humanDuration((endMsOf(state) ?? nowMs) - Date.parse(startTime)),
    age: ageText(job.metadata.creationTimestamp, nowMs),
  };
}

/** Returns the number of Jobs in a phase. */
export function countInPhase(byPhase: readonly PhaseCount[], phase: string): number {
  return byPhase.find((one) => one.phase === phase)?.count ?? 0;
}

function endMsOf({ completionTime, conditions }: JobState): number | undefined {
  const failed = conditions.find(({ type, status }) => type === 'Failed' && status === 'True');
  const end = completionTime ?? failed?.lastTransitionTime;
  return end === undefined || end === null ? undefined : Date.parse(end);
}
