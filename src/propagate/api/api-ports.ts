import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { Requester } from '../model/spec.ts';
import type { Planner } from '../plan/planner.ts';

/** The services that the operations on Propagations use. */
export interface PropagationsPorts {
  readonly planner: Planner;
  /** Absent: no hub is configured. */
  readonly hub?: HubStores;
  /** Returns the identity of a caller, as API servers know it. In local mode it is the gateway's own account. */
  readonly identityOf: (caller: Caller) => Omit<Requester, 'at'>;
  readonly clock: Clock;
}

/** The services of operations that need the hub. `readyHub` has checked that the hub of these `stores` can be read. */
export interface HubPorts extends PropagationsPorts {
  readonly stores: HubStores;
}

/** Returns the identity of the caller, with the current time. */
export function requesterOf({ identityOf, clock }: PropagationsPorts, caller: Caller): Requester {
  return { ...identityOf(caller), at: timestampOf(clock) };
}

/** Returns the current time as RFC 3339 text. */
export function timestampOf({ now }: Pick<Clock, 'now'>): string {
  return new Date(now()).toISOString();
}
