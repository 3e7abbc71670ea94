import type { ConfiguredHook } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import type { Hub } from '../../propagate/hub/hub.ts';
import type { ClientOf } from '../../propagate/plan/snapshot/plan-request.ts';
import type { AppRevisionStore } from '../hub/app-revision-store.ts';
import type { MigrationStore } from '../hub/migration-store.ts';
import type { Migration, MigrationSpec } from '../model/migration.ts';
import type { MigrationPlan } from '../model/migration-plan.ts';

/** A Migration whose spec is valid. */
export interface ValidMigration extends Migration {
  readonly spec: MigrationSpec;
}

/** The services that the engine of migrations uses. */
export interface MigrationPorts {
  readonly hub: Hub;
  readonly migrations: MigrationStore;
  readonly revisions: AppRevisionStore;
  readonly clientOf: ClientOf;
  /** Plans a Migration of the hub. Writes nothing. The digest is that of `planMigration` for the same input. */
  readonly plan: (migration: ValidMigration, signal: AbortSignal) => Promise<MigrationPlan>;
  /** Returns the Secrets with these keys, with their data, from the backup that the Migration uses. */
  readonly secretsInBackup: (
    migration: ValidMigration,
    keys: readonly ObjectKey[],
    signal: AbortSignal,
  ) => Promise<readonly KubernetesObject[] | { readonly fault: Fault }>;
  /** Returns a hook of the config file. Undefined if there is none with this name. */
  readonly hookNamed: (name: string) => ConfiguredHook | undefined;
  readonly clock: Clock;
  readonly log: Log;
}
