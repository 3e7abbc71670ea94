import type { Pass } from './state/ports.ts';
import { retryAfterMs } from './state/work-queue.ts';

/** When to look again. */
export interface Wait {
  readonly againMs: number;
}

/** The hub did not do what it was asked: it is asked again after a backoff that grows while it goes on so. */
export function hubWait({ run, ports }: Pick<Pass, 'run' | 'ports'>): Wait {
  run.hubFailures += 1;
  return { againMs: retryAfterMs(run.hubFailures, ports.clock.random()) };
}
