import type { Fault } from '../../core/faults.ts';
import type { Visibility } from '../access.ts';
import { ticksOf } from './decision-times.ts';

/** A decision about one namespace. `fault`: the cluster did not answer, and the access counts as denied. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly fault?: Fault | undefined;
}

const allowed: Verdict = { isAllowed: true };
const denied: Verdict = { isAllowed: false };

/**
 * The decisions for one caller, cluster, verb and resource: for all namespaces together (`''`), and for single namespaces.
 *
 * A verdict is one number: the time until which it holds, negative if the access is denied. So 1,000 users in 100 clusters fit into memory.
 */
export class Decisions {
  readonly #verdicts = new Map<string, number>();
  #faults: Map<string, Fault> | undefined;
  #version: number;
  #visibility: Visibility | undefined;
  #visibleUntil = 0;
  /** The namespaces for which a decision of the mirrored RBAC objects was compared with the API server. */
  #compared: Set<string> | undefined;

  /** Starts without decisions. `version` is the version of the rights in the cluster (`SubjectEpochs`) at which the decisions hold. */
  constructor(version: number) {
    this.#version = version;
  }

  get version(): number {
    return this.#version;
  }

  /** Number of decisions. */
  get size(): number {
    return this.#verdicts.size;
  }

  /** Records that the decisions hold at this later version too. */
  confirm(version: number): void {
    this.#version = version;
  }

  /** Forgets all decisions, because rights have changed. */
  restart(version: number): void {
    this.#version = version;
    this.#verdicts.clear();
    this.#faults = undefined;
    this.#visibility = undefined;
  }

  /** Returns the decision for a namespace (`''`: for all together). Undefined if there is none, or if it is too old. */
  get(namespace: string, nowMs: number): Verdict | undefined {
    const until = this.#verdicts.get(namespace) ?? 0;
    if (Math.abs(until) < ticksOf(nowMs)) return undefined;
    if (until > 0) return allowed;
    const fault = this.#faults?.get(namespace);
    return fault === undefined ? denied : { isAllowed: false, fault };
  }

  /**
   * Records a decision for `holdsMs` milliseconds, and drops the visibility that `setVisibility` has stored. Returns true if the decision before had the other
   * verdict, even if it is too old. False for a first decision.
   */
  set(namespace: string, verdict: Verdict, { nowMs, holdsMs }: { readonly nowMs: number; readonly holdsMs: number }): boolean {
    const until = ticksOf(nowMs + holdsMs);
    const before = this.#verdicts.get(namespace);
    this.#verdicts.set(namespace, verdict.isAllowed ? until : -until);
    this.#faults?.delete(namespace);
    if (verdict.fault !== undefined) this.#faults = (this.#faults ?? new Map()).set(namespace, verdict.fault);
    this.#visibility = undefined;
    return before !== undefined && before > 0 !== verdict.isAllowed;
  }

  /** Returns the visibility that `setVisibility` has stored. Undefined if there is none, or if one of the decisions it follows from is too old. */
  visibility(nowMs: number): Visibility | undefined {
    return ticksOf(nowMs) <= this.#visibleUntil ? this.#visibility : undefined;
  }

  /** Stores the visibility that follows from the decisions for these namespaces, until the first of these decisions is too old. */
  setVisibility(visibility: Visibility, namespaces: Iterable<string>): void {
    let until = Number.MAX_SAFE_INTEGER;
    for (const namespace of namespaces) until = Math.min(until, Math.abs(this.#verdicts.get(namespace) ?? 0));
    this.#visibility = visibility;
    this.#visibleUntil = until;
  }

  /** Returns true if no decision for this namespace has been compared with the API server, and marks the namespace as compared. */
  needsComparison(namespace: string): boolean {
    this.#compared ??= new Set();
    if (this.#compared.has(namespace)) return false;
    this.#compared.add(namespace);
    return true;
  }

  /** Marks the namespace as not compared, because the comparison had no answer. */
  forgetComparison(namespace: string): void {
    this.#compared?.delete(namespace);
  }

  /** True if every decision is too old. */
  isExpired(nowMs: number): boolean {
    const now = ticksOf(nowMs);
    return this.#verdicts.values().every((until) => Math.abs(until) < now);
  }
}
