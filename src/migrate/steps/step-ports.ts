import type { IdentityVisibility } from '../../changes/acting-clients.ts';
import type { ConfiguredHook } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Hub } from '../../propagate/hub/hub.ts';
import type { PropagationStore } from '../../propagate/hub/propagation-store.ts';
import type { HubShares } from '../../propagate/hub/share-store.ts';
import type { ClientOf } from '../../propagate/plan/snapshot/plan-request.ts';
import type { ReadBackup } from '../discover/source-objects.ts';
import type { AppRevisionStore } from '../hub/app-revision-store.ts';
import type { MigrationStore } from '../hub/migration-store.ts';
import type { Migration, MigrationSpec } from '../model/migration.ts';
import type { MigrationPlanner } from '../plan/migration-planner.ts';

/** A Migration whose spec is valid. */
export interface ValidMigration extends Migration {
  readonly spec: MigrationSpec;
}

/** The services that the engine of migrations uses. */
export interface MigrationPorts {
  readonly hub: Hub;
  readonly migrations: MigrationStore;
  readonly revisions: AppRevisionStore;
  /** The Propagations of applications, and the inventories of their copies. */
  readonly propagations: Pick<PropagationStore, 'read' | 'update' | 'annotate'>;
  readonly shares: Pick<HubShares, 'read'>;
  readonly clientOf: ClientOf;
  /** The rights of requesters. Undefined in local mode. */
  readonly visibility?: IdentityVisibility | undefined;
  /** Plans a Migration again before it begins. The plan has the digest that the user saw, if nothing has changed. */
  readonly planner: MigrationPlanner;
  readonly readBackup: ReadBackup;
  /** Returns a hook of the config file. Undefined if there is none with this name. */
  readonly hookNamed: (name: string) => ConfiguredHook | undefined;
  readonly clock: Clock;
  readonly log: Log;
}
