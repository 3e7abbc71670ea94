import type { Caller } from '../access/access.ts';

/** The caller of a mutation or plan, and the signal that aborts it. */
export interface WriteContext {
  readonly caller: Caller;
  /** The id that the answer shows as `x-request-id`. Default: none. */
  readonly requestId?: string | undefined;
  readonly signal: AbortSignal;
}
