import type { Caller } from '../access/access.ts';
import type { TimeSlices } from '../core/scheduling/operation-scheduler.ts';

/** The caller of a mutation or plan, and the signal that aborts it. */
export interface WriteContext {
  readonly caller: Caller;
  /** The id that the answer shows as `x-request-id`. Default: none. */
  readonly requestId?: string | undefined;
  /** Runs long work in slices, with other operations in between. Default: it runs at once. */
  readonly timeSlices?: Pick<TimeSlices, 'run'> | undefined;
  readonly signal: AbortSignal;
}
