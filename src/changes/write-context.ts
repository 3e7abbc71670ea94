import type { Caller } from '../access/access.ts';

/** The caller of a mutation or plan, and the signal that aborts it. */
export interface WriteContext {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}
