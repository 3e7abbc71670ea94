import type { Impersonation } from '../../cluster/endpoint.ts';
import { type SubjectKey, subjectKeysOf } from '../rbac/subjects.ts';
import { type ClusterIdentity, userIn } from '../user-in-cluster.ts';

/** The answer to the question whether a caller may see anything in a cluster. */
interface ClusterAnswer {
  readonly isAllowed: boolean;
  /** True if the cluster did not answer. */
  readonly isUnanswered: boolean;
  /** The version of the rights in the cluster at which the question was asked. */
  readonly version: number;
}

interface AnswerTimes {
  readonly nowMs: number;
  /** Milliseconds for which the answer holds. */
  readonly holdsMs: number;
  /** How long a visible cluster stays visible after its last answer if it does not answer any more, in milliseconds. */
  readonly keptMs: number;
}

/** Milliseconds for which `isVisible` uses an answer that is too old. An operation waits for a current answer before it begins (`prepare`), and may then
 * last for this time. */
const graceMs = 60_000;

/** A user as clusters with the same prefixes know it. These clusters share one `KnownUser`, because there may be many callers and clusters. */
export interface KnownUser {
  readonly user: Impersonation;
  /** The keys of the user and of its groups, for the RBAC mirror. */
  readonly subjects: readonly SubjectKey[];
}

/** Returns the user as a cluster with these prefixes knows it. */
export function knownUserIn(identity: ClusterIdentity | undefined, user: Impersonation): KnownUser {
  const known = userIn(identity, user);
  return { user: known, subjects: subjectKeysOf(known) };
}

/** One caller in one cluster: the user as the cluster knows it, and whether the cluster is visible to the caller. */
export class CallerInCluster {
  readonly key: string;
  /** The user as the cluster knows it. */
  readonly user: Impersonation;
  /** The keys of the user and of its groups, for the RBAC mirror. */
  readonly subjects: readonly SubjectKey[];
  /** The review that finds out whether the cluster is visible. Undefined: none is running. */
  reviewing: Promise<void> | undefined;
  #isVisible = false;
  #wasUnanswered = false;
  #version = 0;
  #untilMs = Number.NEGATIVE_INFINITY;
  #answeredMs = Number.NEGATIVE_INFINITY;

  constructor(key: string, { user, subjects }: KnownUser) {
    this.key = key;
    this.user = user;
    this.subjects = subjects;
  }

  /** The version of the rights in the cluster at which the last answer was requested. */
  get version(): number {
    return this.#version;
  }

  /** True if the cluster did not answer the last time. */
  get wasUnanswered(): boolean {
    return this.#wasUnanswered;
  }

  /** The monotonic time until which the visibility is known. */
  get knownUntilMs(): number {
    return this.#untilMs;
  }

  isVisibilityKnown(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** True if the caller may see anything in the cluster, as far as is known. */
  isVisible(nowMs: number): boolean {
    return this.#isVisible && nowMs < this.#untilMs + graceMs;
  }

  /** Records an answer. Returns true if the visibility has changed. A visible cluster that does not answer stays visible for `keptMs`. */
  setVisibility({ isAllowed, isUnanswered, version }: ClusterAnswer, { nowMs, holdsMs, keptMs }: AnswerTimes): boolean {
    const before = this.#isVisible;
    this.#wasUnanswered = isUnanswered;
    this.#isVisible = isAllowed || (isUnanswered && before && nowMs < this.#answeredMs + keptMs);
    if (!isUnanswered) this.#answeredMs = nowMs;
    this.#version = version;
    this.#untilMs = nowMs + holdsMs;
    return before !== this.#isVisible;
  }
}
