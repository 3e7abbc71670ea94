import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { ClusterPhase, MirrorsChange } from '../mirrors.ts';
import type { DecodePace } from '../reflector/decode-pace.ts';
import type { ListAdmission } from '../reflector/list-admission.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';
import type { IdleMirrors } from './idle-mirrors.ts';

/** How much of Secrets can be read: nothing, their metadata, or also their data by single requests. Mirrors never contain the data. */
type SecretsPolicy = 'none' | 'metadata' | 'live';

/** A cluster to mirror. `namespaces` and `secrets` may change; `MirrorRegistry.redescribed` makes the mirrors follow. */
export interface EngagedCluster {
  readonly name: ClusterName;
  readonly api: ClusterApi;
  /** Namespaces to try first if a kind may not be listed in all namespaces. */
  readonly namespaces: readonly string[];
  readonly secrets: SecretsPolicy;
  /**
   * `mirrored`: readers get mirrors. `live`: no reader gets a mirror with objects, and the gateway mirrors only the kinds that it needs itself.
   * It never changes. Default: `mirrored`.
   */
  readonly reads?: 'mirrored' | 'live' | undefined;
}

/** Services that the mirrors of all clusters share. */
export interface FleetServices {
  readonly clock: Clock;
  readonly log: Log;
  /** Limits how many clusters start at a time. */
  readonly starts: ConcurrencyLimit;
  readonly admission: ListAdmission;
  readonly pace: DecodePace;
  /** The scheduler in which readers of mirrors receive changes. */
  readonly scheduler: WorkScheduler;
  readonly idle: IdleMirrors;
  /** Kinds whose objects are mirrored as metadata only, by `keyOfKind`. */
  readonly sensitiveKinds: ReadonlySet<string>;
  readonly onChange: (change: MirrorsChange) => void;
  readonly onReport: (cluster: ClusterName, report: WatchReport) => void;
}

/** The progress of a cluster's start. */
export interface ClusterProgress {
  readonly cluster: ClusterName;
  readonly phase: ClusterPhase;
  /** Number of kinds whose first list is not complete. */
  readonly listing: number;
  /** Number of objects in mirrors, including objects of incomplete first lists. */
  readonly objects: number;
  readonly version?: string | undefined;
  /** True once the warm kinds are listed, the cluster has a fault, or 60 s have passed since it joined. `ready` then stays true. */
  readonly ready: boolean;
  /** The first fault of the cluster. Undefined: it has none. */
  readonly fault?: Fault | undefined;
}

export interface ClusterMirrorsOptions {
  readonly cluster: EngagedCluster;
  readonly services: FleetServices;
  /** Called when another cluster answers at the address. The caller must end these mirrors and create new ones. */
  readonly onExchanged: () => void;
}
