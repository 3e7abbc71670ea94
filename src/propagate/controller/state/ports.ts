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
import type { Term } from '../lease/lease.ts';
import type { DriftWatch } from './drift-watch.ts';
import type { PropagationState } from './propagation-state.ts';

/** What the controller works with. */
export interface ControllerPorts {
  readonly hub: Hub;
  readonly planner: Planner;
  readonly stores: { readonly propagations: PropagationStore; readonly shares: HubShares; readonly revisions: RevisionStore };
  readonly clientOf: ClientOf;
  /** The kinds of which mirrors hold metadata only. */
  readonly sensitiveKinds: { has(kind: GroupKind): boolean };
  /** How lists of a kind merge, by the model. */
  readonly listRulesOf: ListRulesOf;
  /**
   * `one`: who asks and the gateway are the same account (local mode), so what a requester asked for is kept true for ever. `many`: a requester's rights
   * serve the generation he asked for, then it is only watched; a Propagation without requester or ServiceAccount is not accepted.
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
  /** Has the Propagation looked at once more, after this pass. */
  readonly again: () => void;
}

/** What a pass came to. `gone`: there is no such Propagation any more. `againMs`: when it is to be looked at again by itself. */
export type PassResult = { readonly result: 'gone' } | { readonly result: 'passed'; readonly againMs?: number };
