import type { Pass } from './state/ports.ts';
import { retryAfterMs } from './state/work-queue.ts';

/** The delay until the next pass. */
export interface NextPass {
  readonly againMs: number;
}

/** Counts a failed request to the hub, and returns a delay that grows with the number of failures in a row. */
export function retryHubLater({ state, ports }: Pick<Pass, 'state' | 'ports'>): NextPass {
  state.hubFailures += 1;
  return { againMs: retryAfterMs(state.hubFailures, ports.clock.random()) };
}
