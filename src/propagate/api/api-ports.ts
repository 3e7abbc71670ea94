import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { Requester } from '../model/spec.ts';
import type { Planner } from '../plan/planner.ts';

/** What intents are planned, kept and found with. */
export interface PropagationsPorts {
  readonly planner: Planner;
  /** Absent: there is no hub. */
  readonly hub?: HubStores;
  /** Who it is that asks, as API servers know them. In local mode the gateway's own account. */
  readonly identityOf: (caller: Caller) => Omit<Requester, 'at'>;
  readonly clock: Clock;
}

/** The same, where the hub can be read. */
export interface HubPorts extends PropagationsPorts {
  readonly stores: HubStores;
}

/** Who asks, and now. */
export function requesterOf({ identityOf, clock }: PropagationsPorts, caller: Caller): Requester {
  return { ...identityOf(caller), at: timestampOf(clock) };
}

/** Now, as RFC 3339 text. */
export function timestampOf({ now }: Pick<Clock, 'now'>): string {
  return new Date(now()).toISOString();
}
