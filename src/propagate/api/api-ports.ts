import type { Caller } from '../../access/access.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Clock } from '../../core/clock.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { Requester } from '../model/spec.ts';
import type { Planner } from '../plan/planner.ts';
import type { HubRights } from './hub-rights.ts';

/** The services that the operations on Propagations use. */
export interface PropagationsPorts {
  readonly planner: Planner;
  /** Absent if no hub is configured. */
  readonly hub?: HubStores;
  /** The rights of callers to Propagations. Default: every caller may do everything, as in local mode. */
  readonly rights?: HubRights;
  readonly audit: Audit;
  /**
   * Returns the user, uid, groups and extra that are recorded as the requester, without the prefixes of a cluster. In local mode, the user
   * is `local`: a name only, because requests use the account of the kubeconfig.
   */
  readonly requesterOfCaller: (caller: Caller) => Omit<Requester, 'at'>;
  readonly clock: Clock;
}

/** The services of operations that need the hub. `readyHub` has checked that the hub of these `stores` can be read. */
export interface HubPorts extends PropagationsPorts {
  readonly stores: HubStores;
}

/** Returns the caller as the requester of a change at the current time. */
export function requesterOf({ requesterOfCaller, clock }: PropagationsPorts, caller: Caller): Requester {
  return { ...requesterOfCaller(caller), at: timestampOf(clock) };
}

/** Returns the current time as RFC 3339 text. */
export function timestampOf({ now }: Pick<Clock, 'now'>): string {
  return new Date(now()).toISOString();
}
