import type { Pass } from './state/ports.ts';
import { retryAfterMs } from './state/work-queue.ts';

/** When to snapshot again. */
export interface NextPass {
  readonly againMs: number;
}

/** The hub did not do what it was asked: it is asked again after a backoff that grows while it goes on so. */
export function retryHubLater({ state, ports }: Pick<Pass, 'state' | 'ports'>): NextPass {
  state.hubFailures += 1;
  return { againMs: retryAfterMs(state.hubFailures, ports.clock.random()) };
}
