import type { GroupKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Caller } from '../access.ts';

/** The question of a caller whether that caller may do something in one cluster. */
export interface RightQuestion {
  readonly caller: Caller;
  readonly cluster: ClusterName;
  /** Any verb of the authorization of Kubernetes, such as `list` or `deletecollection`. */
  readonly verb: string;
  readonly kind: GroupKind;
  /** Default: the objects themselves. */
  readonly subresource?: string | undefined;
  /** Default: all namespaces together. Ignored for a kind without namespaces. */
  readonly namespace?: string | undefined;
  /** The name of one object. Default: every object. */
  readonly name?: string | undefined;
}

/** The answer of one cluster about a right of the caller. */
export interface RightAnswer {
  /** Undefined if the cluster did not answer. */
  readonly isAllowed: boolean | undefined;
  /** One line for people: the binding and the rule that allow it, the reason of a denial, or the fault. */
  readonly reason: string;
  /** If the right to all namespaces is denied: the namespaces in which the caller has it, sorted. Else empty. */
  readonly namespaces: readonly string[];
}

/** Explains callers their own rights. A question about another user cannot be asked. */
export interface OwnRights {
  /** Returns the answer of the cluster, after at most 10 s. The caller of this method checks that the cluster is visible. Never throws. */
  explain(question: RightQuestion, signal: AbortSignal): Promise<RightAnswer>;
}

/** Returns the answer for a cluster that gave none. */
export function unknownRight(reason: string): RightAnswer {
  return { isAllowed: undefined, reason, namespaces: [] };
}

/** Returns the answer for a denied right. `namespaces`: where the caller has it nevertheless. */
export function deniedRight(reason: string, namespaces: readonly string[] = []): RightAnswer {
  return { isAllowed: false, reason, namespaces };
}

/** Returns a text of another program as one line of at most 500 characters. */
export function reasonLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 500);
}
