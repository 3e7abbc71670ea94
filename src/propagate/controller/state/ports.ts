import type { Clock } from '../../../core/clock.ts';
import type { GroupKind } from '../../../core/kinds.ts';
import type { Log } from '../../../core/log.ts';
import type { ListRulesOf } from '../../../manifests/list-rules.ts';
import type { Hub } from '../../hub/hub.ts';
import type { PropagationStore } from '../../hub/propagation-store.ts';
import type { RevisionStore } from '../../hub/revision-store.ts';
import type { HubShares } from '../../hub/share-store.ts';
import type { Planner } from '../../plan/planner.ts';
import type { ClientOf } from '../../plan/snapshot/plan-request.ts';
import type { ContactProbe } from '../failover/contact-probe.ts';
import type { Term } from '../lease/lease.ts';
import type { DriftWatch } from './drift-watch.ts';
import type { HubWrites } from './hub-writes.ts';
import type { PropagationState } from './propagation-state.ts';

/** The services and settings that the controller uses. */
export interface ControllerPorts {
  readonly hub: Hub;
  readonly planner: Planner;
  readonly stores: { readonly propagations: PropagationStore; readonly shares: HubShares; readonly revisions: RevisionStore };
  readonly clientOf: ClientOf;
  /** The kinds whose mirrors hold metadata only. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  /** How lists of a kind merge, from the model. */
  readonly listRulesOf: ListRulesOf;
  /**
   * Whether requesters and the gateway use the same account.
   *
   * - `one` (local mode): they do, so copies are kept in sync for ever.
   * - `many`: the rights of a requester are used only for the generation that the requester applied. Later drift is only reported. A
   *   Propagation without a requester is refused.
   */
  readonly accounts: 'one' | 'many';
  readonly clock: Clock;
  readonly log: Log;
}

/** One pass over one Propagation. */
export interface Pass {
  readonly ports: ControllerPorts;
  readonly term: Term;
  readonly state: PropagationState;
  readonly drift: DriftWatch;
  readonly probe: ContactProbe;
  readonly hubWrites: HubWrites;
  /** Queues another pass for the Propagation. */
  readonly again: () => void;
}

/**
 * The result of a pass. `gone`: the Propagation does not exist any more. `againMs`: delay until the next pass; absent if only a change
 * triggers it.
 */
export type PassResult = { readonly result: 'gone' } | { readonly result: 'passed'; readonly againMs?: number };
