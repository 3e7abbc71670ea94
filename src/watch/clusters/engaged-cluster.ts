import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { ClusterPhase, MirrorsChange } from '../mirrors.ts';
import type { DecodePace } from '../reflector/decode-pace.ts';
import type { ListAdmission } from '../reflector/list-admission.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import type { IdleMirrors } from './idle-mirrors.ts';

/** What may be had of Secrets: of their data nothing is ever mirrored. */
type SecretsPolicy = 'none' | 'metadata' | 'live';

/** A cluster to be mirrored. */
export interface EngagedCluster {
  readonly name: ClusterName;
  readonly api: ClusterApi;
  /** Tried first where a kind may not be listed in all namespaces. */
  readonly namespaces: readonly string[];
  readonly secrets: SecretsPolicy;
}

/** What all clusters share. */
export interface FleetServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly admission: ListAdmission;
  readonly pace: DecodePace;
  /** The row in which readers of the mirrors are told what changes. */
  readonly scheduler: WorkScheduler;
  readonly idle: IdleMirrors;
  /** Kinds of which only metadata is mirrored, by `keyOfKind`. */
  readonly sensitiveKinds: ReadonlySet<string>;
  readonly onChange: (change: MirrorsChange) => void;
  readonly onReport: (cluster: ClusterName, report: WatchReport) => void;
}

/** How far the start of one cluster is. */
export interface ClusterProgress {
  readonly cluster: ClusterName;
  readonly phase: ClusterPhase;
  /** Kinds whose first list is not whole yet. */
  readonly listing: number;
  /** Objects held, and those of first lists that are not whole yet. */
  readonly objects: number;
  readonly version?: string | undefined;
  /** Warm kinds whole, or a fault, or 60 s gone. Once true it stays true. */
  readonly ready: boolean;
  /** Why it is not as it ought to be. */
  readonly fault?: Fault | undefined;
}

export interface ClusterMirrorsOptions {
  readonly cluster: EngagedCluster;
  readonly services: FleetServices;
  /** Milliseconds that the first request waits. */
  readonly delayMs: number;
  /** Called when another cluster answers at the address. The caller has to end these mirrors and make new ones. */
  readonly onExchanged: () => void;
}
