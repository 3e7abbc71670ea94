import { ageText, humanDuration, phaseText } from './kubectl-text.ts';
import { completionsText } from './workload-tables.ts';

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

/** The number of Jobs in one phase. */
export interface PhaseCount {
  readonly phase: string;
  readonly count: number;
}

/** The GraphQL selection that gives a `JobState`. */
export const jobStateFields = `id cluster { name } namespace name phase active ready succeeded failed parallelism completions startTime completionTime
  conditions { type status reason message lastTransitionTime } job { metadata { uid creationTimestamp resourceVersion } }`;

/** The columns of a Job, as `kubectl get jobs` prints them. */
export interface JobCells {
  readonly status: string;
  readonly completions: string;
  readonly duration: string;
  readonly age: string;
}

/** Returns the cells of a Job at `nowMs`. The duration of a failed Job ends at its failure. In kubectl, the duration of such a Job keeps growing. */
export function cellsOfJob(state: JobState, nowMs: number): JobCells {
  const { phase, startTime, job } = state;
  return {
    status: phaseText(phase),
    completions: completionsText(state),
    duration: startTime === null ? '' : humanDuration((endMsOf(state) ?? nowMs) - Date.parse(startTime)),
    age: ageText(job.metadata.creationTimestamp, nowMs),
  };
}

/** Phases that are shown even if no Job is in them. */
const usualPhases: readonly string[] = ['COMPLETE', 'FAILED', 'RUNNING'];

/** Returns the phases that a summary shows: those that are usual or have Jobs. */
export function shownPhases(byPhase: readonly PhaseCount[]): readonly string[] {
  return byPhase.filter(({ phase, count }) => usualPhases.includes(phase) || count > 0).map(({ phase }) => phase);
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
