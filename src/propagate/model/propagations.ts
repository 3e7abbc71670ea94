import type { WriteContext } from '../../changes/write-context.ts';
import type { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { HubListFilter, HubPage } from './hub-page.ts';
import type { Note } from './notes.ts';
import type { PropagationPlan } from './plan.ts';
import type { ClusterObjects, Propagation, PropagationPhase, PropagationRevision } from './propagation.ts';

/**
 * One Propagation as GraphQL shows it.
 *
 * The status never claims more than the mirrors show. A generation that is not planned yet is `Planning`. A pause or a resumption is shown
 * as soon as it is requested.
 */
export interface PropagationView {
  readonly propagation: Propagation;
  readonly phase: PropagationPhase;
  /** True if the rollout starts no new work until it is resumed. */
  readonly isPaused: boolean;
  /** The inventory entries, by name of the cluster. */
  readonly objects: readonly ClusterObjects[];
  readonly faults: readonly Fault[];
}

/** The result of a mutation. */
export interface PropagationOutcome {
  readonly result: 'ACCEPTED' | 'UNCHANGED' | 'PLAN_STALE' | 'REFUSED' | 'NOT_FOUND';
  readonly propagation?: PropagationView;
  /** The new plan. Set for `PLAN_STALE`, and for `REFUSED` if a plan could be made. */
  readonly plan?: PropagationPlan;
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
}

/** A listener for the states of one object on the hub. */
export interface StateListener<View> {
  /** Called with each new state. Undefined: the object was deleted. */
  readonly changed: (view: View | undefined) => void;
  /** Called at most once, if the caller has lost the right to get or watch the object. Nothing else is called after it. */
  readonly ended: (reason: MusterError) => void;
}

/** Identifies a Propagation. */
export interface PropagationName {
  readonly namespace: string;
  readonly name: string;
}

/** The Propagations of the hub, to look them up by name. `unread`: the hub cannot be read. */
export type PropagationLookup =
  | { readonly result: 'read'; readonly find: (name: PropagationName) => Propagation | undefined }
  | { readonly result: 'unread'; readonly fault: Fault };

export interface PropagationFilter extends HubListFilter {
  /** A label selector as for kubectl's `-l`. Default: all Propagations. */
  readonly labels?: string | null | undefined;
}

/** `PropagationInput` of GraphQL. Enum values are spelled as in the schema (`SERVER_SIDE_APPLY`). */
export interface PropagationInput {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | null | undefined;
  readonly [field: string]: unknown;
}

/**
 * The operations on Propagations, created by `propagate/api/create-propagations.ts`. All except `plan` need a hub.
 *
 * @throws {MusterError} Every method: `BAD_INPUT` for invalid arguments. All except `plan`: `UNAVAILABLE` without a hub, with a hint how to
 * name one, or if the hub does not answer.
 */
export interface Propagations {
  /** Returns the plan of an input. Writes nothing. */
  plan(context: WriteContext, input: PropagationInput): Promise<PropagationPlan>;
  /**
   * Records the intent on the hub. With a digest, it carries out exactly that plan, or returns `PLAN_STALE` with the new plan and writes
   * nothing. Resolves when the written intent can be read.
   */
  propagate(
    context: WriteContext,
    request: { readonly input: PropagationInput; readonly digest?: string | null | undefined },
  ): Promise<PropagationOutcome>;
  /** Returns the Propagation. Undefined if it does not exist, or if the caller may not get it. */
  get(context: WriteContext, name: PropagationName): Promise<PropagationView | undefined>;
  /** Returns one page of the Propagations that match the filter, sorted by namespace and name. */
  list(context: WriteContext, filter: PropagationFilter): Promise<HubPage<PropagationView>>;
  pause(context: WriteContext, name: PropagationName): Promise<PropagationOutcome>;
  resume(
    context: WriteContext,
    name: PropagationName,
    options: { readonly confirmPrune: boolean; readonly abandon: readonly string[] },
  ): Promise<PropagationOutcome>;
  /**
   * Rolls back to the spec of `revision` as a new generation. Default: the newest revision that has another spec and was not rolled back.
   */
  rollback(context: WriteContext, name: PropagationName, revision: number | undefined): Promise<PropagationOutcome>;
  delete(context: WriteContext, name: PropagationName, deletion: JsonObject | undefined): Promise<PropagationOutcome>;
  /** Returns at most `first` revisions, the newest first. Empty if the caller may not get the Propagation. */
  revisions(context: WriteContext, name: PropagationName, first: number): Promise<readonly PropagationRevision[]>;
  /**
   * Reports the current Propagation, and again after each change of it or of its shares. Several changes at once give one call. Ends when the
   * signal aborts, or when the caller loses the right to watch the Propagation.
   *
   * @throws {MusterError} `FORBIDDEN` if the caller may not watch it.
   */
  follow(context: WriteContext, name: PropagationName, listener: StateListener<PropagationView>, signal: AbortSignal): Promise<void>;
  /** Returns a `PropagationInput` that gives the spec of this resource. */
  inputOf(propagation: Propagation): Json;
}
