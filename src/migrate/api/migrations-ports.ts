import type { Access, Caller } from '../../access/access.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Members } from '../../changes/members.ts';
import type { Clock } from '../../core/clock.ts';
import type { HubRights } from '../../propagate/api/hub-rights.ts';
import type { Hub } from '../../propagate/hub/hub.ts';
import type { Requester } from '../../propagate/model/spec.ts';
import type { MigrationStore } from '../hub/migration-store.ts';
import type { MigrationPlanner } from '../plan/migration-planner.ts';

/** The hub, and its Migrations. */
export interface MigrationHub {
  readonly hub: Hub;
  readonly migrations: MigrationStore;
}

/** The services that the operations on Migrations use. */
export interface MigrationsPorts {
  readonly planner: MigrationPlanner;
  readonly members: Members;
  readonly access: Access;
  /** Absent if no hub is configured. */
  readonly hub?: MigrationHub;
  /** The rights of callers to Migrations. Default: every caller may do everything, as in local mode. */
  readonly rights?: HubRights;
  readonly audit: Audit;
  /** The names of the configured hooks. */
  readonly hooks: readonly string[];
  /**
   * Returns the user, uid, groups and extra that are recorded as the requester, without the prefixes of a cluster. In local mode, the user
   * is `local`: a name only, because requests use the account of the kubeconfig.
   */
  readonly requesterOfCaller: (caller: Caller) => Omit<Requester, 'at'>;
  readonly clock: Clock;
}
