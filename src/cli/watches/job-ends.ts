/** When to stop watching Jobs: `any` once one is complete, `all` once all are complete. */
export const untilChoices = ['any', 'all'] as const;

export type UntilChoice = (typeof untilChoices)[number];

/** Counts of the Jobs that match. */
export interface JobTally {
  readonly total: number;
  readonly complete: number;
  readonly failed: number;
  /** True if every selected cluster is in sync, so that no Job is unknown. */
  readonly isWhole: boolean;
}

/**
 * Returns whether the condition is true, can no longer become true, or is open.
 *
 * `any`: true once one Job is complete, false once all have failed. `all`: true once all are complete, false once one has failed. A
 * decision about all Jobs stays open while some are unknown, and while there are none.
 */
export function judgeJobs(until: UntilChoice, { total, complete, failed, isWhole }: JobTally): 'true' | 'false' | 'open' {
  const isEach = (count: number) => isWhole && total > 0 && count === total;
  switch (until) {
    case 'any':
      return complete > 0 ? 'true' : isEach(failed) ? 'false' : 'open';
    case 'all':
      return failed > 0 ? 'false' : isEach(complete) ? 'true' : 'open';
    default:
      throw until satisfies never;
  }
}
