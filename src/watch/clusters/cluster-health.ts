import type { Fault } from '../../core/faults.ts';
import type { ClusterPhase } from '../mirrors.ts';

/** The inputs of a cluster's health. */
interface HealthSigns {
  /** True once the cluster has answered. */
  readonly answered: boolean;
  /** Why the breaker is open. Undefined while it is closed. */
  readonly breaker: Fault | undefined;
  /** The faults of the server and of the mirrors of warm kinds. */
  readonly faults: readonly Fault[];
  /** The faults that last as long as the connection settings stay the same, such as a certificate that is not verified. */
  readonly connectionFaults: readonly Fault[];
}

export interface ClusterHealth {
  readonly phase: ClusterPhase;
  /**
   * The faults of the server and of warm kinds, each once. If the breaker is open, only its fault. `connectionFaults` change the phase, but
   * are not included.
   */
  readonly faults: readonly Fault[];
}

/** Computes the health of a cluster. A missing right is no fault of the cluster, and neither is a list that is still being received. */
export function clusterHealthOf({ answered, breaker, faults, connectionFaults }: HealthSigns): ClusterHealth {
  if (breaker !== undefined) return { phase: 'UNREACHABLE', faults: [breaker] };
  const relevant = faults.filter(({ code }) => code !== 'SYNCING' && code !== 'FORBIDDEN');
  const own = distinctFaults(relevant);
  if (!answered) return { phase: 'CONNECTING', faults: own };
  return { phase: own.length + connectionFaults.length > 0 ? 'DEGRADED' : 'SYNCED', faults: own };
}

/** Returns the faults without those whose code and message an earlier one has. */
export function distinctFaults(faults: readonly Fault[]): readonly Fault[] {
  return faults.filter(
    ({ code, message }, index) => faults.findIndex((other) => other.code === code && other.message === message) === index,
  );
}
