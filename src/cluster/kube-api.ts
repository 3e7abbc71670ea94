import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';

export interface ClusterOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The cluster's life: at its end all sockets are destroyed, open requests end without a further part, credentials are forgotten. */
  readonly signal: AbortSignal;
}
