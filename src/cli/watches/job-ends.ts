/** When to stop watching Jobs: once any of them is complete, or all are. */
export const untilChoices = ['any', 'all'] as const;

export type UntilChoice = (typeof untilChoices)[number];

/** What is known of the Jobs that match. */
export interface JobTally {
  readonly total: number;
  readonly complete: number;
  readonly failed: number;
  /** Every cluster asked is in sync: there are no Jobs but these. */
  readonly isWhole: boolean;
}

/**
 * Whether it has come true, can no longer, or is still open.
 *
 * `any`: true once one is complete; false once all have failed. `all`: true once each is complete; false once one has failed. What needs all Jobs to be
 * known stays open while they are not, and while there are none.
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
