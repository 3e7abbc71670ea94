import { phaseText } from './kubectl-text.ts';

/** How far a Propagation is. */
export interface PropagationProgress {
  readonly phase: string;
  readonly desired: number | null;
  readonly ready: number | null;
  readonly unplaced: number;
  readonly progress: {
    readonly wave: number;
    readonly waves: number;
    readonly clusters: number;
    readonly done: number;
    readonly failed: number;
  };
}

/** The state of the copies in one cluster. `Fault` is the type of faults in the answer. */
export interface CopiesInCluster<Fault> {
  readonly cluster: { readonly name: string };
  readonly phase: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly wave: number | null;
  readonly replicas: number | null;
  readonly ready: number | null;
  readonly health: string;
  readonly since: string;
  readonly fault: Fault | null;
}

/** A condition of a Propagation. */
export interface AnsweredCondition {
  readonly type: string | null;
  readonly status: string | null;
  readonly reason: string | null;
  readonly message: string | null;
}

/** Returns `Rolling, wave 2 of 3, 1 of 3 clusters done, 1 failed, 4 of 8 replicas ready, 2 unplaced`. */
export function propagationSummary(state: PropagationProgress): string {
  return [phaseText(state.phase), progressText(state)].filter((part) => part !== '').join(', ');
}

/** Returns the summary without the phase. Empty before there is a plan. */
export function progressText({ progress, desired, ready, unplaced }: PropagationProgress): string {
  const { wave, waves, clusters, done, failed } = progress;
  return [
    ...(waves > 1 && done < clusters ? [`wave ${Math.min(wave + 1, waves)} of ${waves}`] : []),
    ...(clusters > 0 ? [`${done} of ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'} done`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(desired === null ? [] : [`${ready ?? 0} of ${desired} replicas ready`]),
    ...(unplaced > 0 ? [`${unplaced} unplaced`] : []),
  ].join(', ');
}

/**
 * Returns the reason for the state of the copies in a cluster, as one line. Empty if there is none.
 *
 * @param faultReason The text of the fault. It is left out if the reason already contains the message of the fault.
 */
export function copiesReason(
  { reason, message, fault }: Pick<CopiesInCluster<{ readonly message: string }>, 'reason' | 'message' | 'fault'>,
  faultReason: string,
): string {
  const text = [reason ?? '', message ?? ''].filter((part) => part !== '').join(': ');
  const failed = fault === null || text.includes(fault.message) ? '' : faultReason;
  return [text, failed].filter((part) => part !== '').join('; ');
}
