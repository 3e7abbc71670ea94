/** When to stop watching Jobs: `any` once one is complete, `all` once all are complete. */
export const untilChoices = ['any', 'all'] as const;

export type UntilChoice = (typeof untilChoices)[number];

/** Counts of the Jobs that the flags select. */
export interface JobTally {
  readonly total: number;
  readonly complete: number;
  readonly failed: number;
  /** True if every selected cluster is in sync, so that no Job is unknown. */
  readonly isWhole: boolean;
}

/**
 * Returns `true` if the condition holds, `false` if it can no longer hold, and `open` if that is not known yet.
 *
 * `any`: true once one Job is complete, false once all have failed. `all`: true once all are complete, false once one has failed.
 * "All have failed" and "all are complete" stay open while some Jobs are unknown, and while there are no Jobs.
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
