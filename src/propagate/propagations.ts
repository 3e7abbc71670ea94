import type { Caller } from '../access/access.ts';
import type { Fault } from '../core/faults.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Note } from './notes.ts';
import type { PropagationPlan } from './plan.ts';
import type { ClusterObjects, Propagation, PropagationPhase, PropagationRevision } from './propagation.ts';

/** Who asks, and until when. */
export interface WriteContext {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * One Propagation as it is shown: its status never says more than the mirrors know, a generation not yet planned is `Planning`, and a pause or resumption holds
 * from when it was asked for.
 */
export interface PropagationView {
  readonly propagation: Propagation;
  readonly phase: PropagationPhase;
  /** Nothing new begins until it is resumed. */
  readonly isPaused: boolean;
  /** Of the shares; by name of cluster. */
  readonly objects: readonly ClusterObjects[];
  readonly faults: readonly Fault[];
}

/** What became of a mutation. */
export interface PropagationOutcome {
  readonly result: 'ACCEPTED' | 'UNCHANGED' | 'PLAN_STALE' | 'REFUSED' | 'NOT_FOUND';
  readonly propagation?: PropagationView;
  /** With `PLAN_STALE`, and with `REFUSED` where it came to a plan. */
  readonly plan?: PropagationPlan;
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
}

/** Which Propagation. */
export interface PropagationName {
  readonly namespace: string;
  readonly name: string;
}

export interface PropagationFilter {
  readonly namespaces?: readonly string[] | null | undefined;
  /** As after kubectl's `-l`. */
  readonly labels?: string | null | undefined;
  readonly phases?: readonly PropagationPhase[] | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export interface PropagationPage {
  readonly items: readonly PropagationView[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor?: string;
  readonly endCursor?: string;
}

/** `PropagationInput` as it comes from GraphQL: its enum values as in the schema (`SERVER_SIDE_APPLY`). */
export interface PropagationInput {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | null | undefined;
  readonly [field: string]: unknown;
}

/**
 * Intents and what became of them. All but `plan` need a hub.
 *
 * @throws {MusterError} every method: `BAD_INPUT` for arguments that cannot be served; all but `plan` `UNAVAILABLE` without a hub (it says how to name
 * one), or if the hub does not answer.
 */
export interface Propagations {
  /** Writes nothing anywhere. */
  plan(context: WriteContext, input: PropagationInput): Promise<PropagationPlan>;
  /** With a digest: exactly that plan, else `PLAN_STALE` with the new one and nothing written. Resolves once what it wrote can be read back. */
  propagate(
    context: WriteContext,
    asked: { readonly input: PropagationInput; readonly digest?: string | null | undefined },
  ): Promise<PropagationOutcome>;
  /** Undefined if there is none. */
  get(context: WriteContext, name: PropagationName): Promise<PropagationView | undefined>;
  /** By namespace and name. */
  list(context: WriteContext, filter: PropagationFilter): Promise<PropagationPage>;
  pause(context: WriteContext, name: PropagationName): Promise<PropagationOutcome>;
  resume(
    context: WriteContext,
    name: PropagationName,
    options: { readonly confirmPrune: boolean; readonly abandon: readonly string[] },
  ): Promise<PropagationOutcome>;
  /** To the spec of `revision`, by default of the one before, as a new generation. */
  rollback(context: WriteContext, name: PropagationName, revision: number | undefined): Promise<PropagationOutcome>;
  delete(context: WriteContext, name: PropagationName, deletion: JsonObject | undefined): Promise<PropagationOutcome>;
  /** The newest first. */
  revisions(context: WriteContext, name: PropagationName, first: number): Promise<readonly PropagationRevision[]>;
  /**
   * Calls back after each change of it or of its shares, at the end of the turn, until the signal aborts; with undefined once it is gone. The first
   * call gives what it is now.
   */
  follow(
    context: WriteContext,
    name: PropagationName,
    listener: (view: PropagationView | undefined) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** A spec of the resource as the `PropagationInput` it came from, or could have. */
  inputOf(propagation: Propagation): Json;
}
