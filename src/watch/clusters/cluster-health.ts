import type { Fault } from '../../core/faults.ts';
import type { ClusterPhase } from '../mirrors.ts';

/** What a cluster's health is judged by. */
interface HealthSigns {
  /** It has answered once. */
  readonly answered: boolean;
  /** Why the breaker is open, if it is. */
  readonly breaker: Fault | undefined;
  /** Of the server, and of the warm mirrors. */
  readonly faults: readonly Fault[];
  /** Those that hold as long as the connection is made the way it is. */
  readonly standing: readonly Fault[];
}

export interface ClusterHealth {
  readonly phase: ClusterPhase;
  /** What keeps the cluster from being whole, once each; while it cannot be reached that alone. */
  readonly faults: readonly Fault[];
}

/** A missing right is no trouble of the cluster, and a list on its way none at all. */
export function clusterHealthOf({ answered, breaker, faults, standing }: HealthSigns): ClusterHealth {
  if (breaker !== undefined) return { phase: 'UNREACHABLE', faults: [breaker] };
  const told = faults.filter(({ code }) => code !== 'SYNCING' && code !== 'FORBIDDEN');
  const troubles = told.filter((fault, place) => told.findIndex((other) => isSame(other, fault)) === place);
  if (!answered) return { phase: 'CONNECTING', faults: troubles };
  return { phase: troubles.length + standing.length > 0 ? 'DEGRADED' : 'SYNCED', faults: troubles };
}

function isSame(a: Fault, b: Fault): boolean {
  return a.code === b.code && a.message === b.message;
}
