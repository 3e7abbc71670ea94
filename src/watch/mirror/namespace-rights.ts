import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';
import { backoffMs, retryAfterMsOf } from '../server/backoff.ts';
import { type RightVerdict, reviewRights } from './review-rights.ts';

/** Milliseconds after which a refused right is reviewed again on request, because it may have been granted since. */
const deniedForMs = 10_000;

/** From this attempt on the wait between two reviews stays at 6.4 to 12.8 s, because a caller may be waiting. */
const maxBackoffStep = 3;

/** Maximum number of remembered refusals. The oldest ones are forgotten, and reviewed like new namespaces. */
const maxRemembered = 2_000;

/** Reviews of rights without a result yet. The mirror is incomplete until they have one. */
export interface PendingRights {
  /** Why a result is missing. Undefined if no review has failed. */
  readonly fault?: Fault | undefined;
  /** True if waiting is useless: each review has failed at least once, and is repeated. */
  readonly settled: boolean;
}

/** The namespaces in which a kind may be read, if it may not be read in all of them. */
export interface NamespaceRights {
  /** The awaited reviews that have no result yet. Undefined if all have one. */
  readonly awaited: PendingRights | undefined;
  /**
   * Requests a review of the right (SelfSubjectAccessReview) in each namespace that is not being reviewed already. A failed review is
   * repeated after 0.8 s, doubling to 6.4 s, times a random factor in [1, 2).
   *
   * @param how `awaited`: the mirror is incomplete without the results. `unhurried`: the results are used when they come.
   */
  review(namespaces: readonly string[], how: 'awaited' | 'unhurried'): void;
  /** The namespaces that are being reviewed. */
  readonly pending: ReadonlySet<string>;
  /** True if the right is unknown, was denied at least 10 s ago, or is being reviewed. */
  needsReview(namespace: string): boolean;
  /** True if the right was denied by the last result, and `forget` was not called since. */
  isDenied(namespace: string): boolean;
  /** True if the right is being reviewed, and the mirror is incomplete without the result. */
  isAwaited(namespace: string): boolean;
  /** Sorts namespaces: those without a refusal first, then the others, the oldest refusal first. */
  sortByRefusalAge(namespaces: readonly string[]): readonly string[];
  /** Records a refusal of a right that the review had granted. */
  deny(namespace: string): void;
  /** Forgets the refusal for this namespace, if there was one. */
  forget(namespace: string): void;
}

interface NamespaceRightsOptions {
  readonly context: ReflectorContext;
  readonly resource: () => ServedResource;
  readonly onGranted: (namespace: string) => void;
  /** `isNews` is true if the right was not denied before. */
  readonly onDenied: (namespace: string, isNews: boolean) => void;
  /** Called after `awaited` may have changed. */
  readonly onChange: () => void;
}

/** Creates the rights of one kind. No callback is called after the signal aborts. */
export function createNamespaceRights(options: NamespaceRightsOptions, signal: AbortSignal): NamespaceRights {
  return new ReviewedRights(options, signal);
}

class ReviewedRights implements NamespaceRights {
  readonly #options: NamespaceRightsOptions;
  readonly #signal: AbortSignal;
  readonly #pending = new Set<string>();
  readonly #awaited = new Set<string>();
  readonly #unanswered = new Map<string, Fault>();
  /** The monotonic times of the refusals, the oldest first. */
  readonly #denied = new Map<string, number>();

  constructor(options: NamespaceRightsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  get awaited(): PendingRights | undefined {
    if (this.#awaited.size === 0) return undefined;
    const faults = [...this.#awaited].flatMap((namespace) => this.#unanswered.get(namespace) ?? []);
    const [fault] = faults;
    return { settled: faults.length === this.#awaited.size, fault };
  }

  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  review(namespaces: readonly string[], how: 'awaited' | 'unhurried'): void {
    const unreviewed = [...new Set(namespaces)].filter((namespace) => !this.#pending.has(namespace));
    for (const namespace of unreviewed) this.#pending.add(namespace);
    if (how === 'awaited') for (const namespace of namespaces) this.#awaited.add(namespace);
    if (unreviewed.length > 0) void this.#reviewUntilAnswered(unreviewed);
  }

  needsReview(namespace: string): boolean {
    const deniedMs = this.#denied.get(namespace);
    return deniedMs === undefined || this.#pending.has(namespace) || this.#nowMs() - deniedMs >= deniedForMs;
  }

  isDenied(namespace: string): boolean {
    return this.#denied.has(namespace);
  }

  isAwaited(namespace: string): boolean {
    return this.#awaited.has(namespace);
  }

  sortByRefusalAge(namespaces: readonly string[]): readonly string[] {
    const deniedMs = (namespace: string) => this.#denied.get(namespace) ?? Number.NEGATIVE_INFINITY;
    return namespaces.toSorted((a, b) => Math.sign(deniedMs(a) - deniedMs(b)) || 0);
  }

  deny(namespace: string): void {
    this.#denied.delete(namespace);
    this.#denied.set(namespace, this.#nowMs());
    const [oldest] = this.#denied.keys();
    if (this.#denied.size > maxRemembered && oldest !== undefined) this.#denied.delete(oldest);
  }

  forget(namespace: string): void {
    this.#denied.delete(namespace);
  }

  async #reviewUntilAnswered(namespaces: readonly string[]): Promise<void> {
    const { context, resource } = this.#options;
    const { api, reviews, clock } = context;
    let left = namespaces;
    for (let attempt = 0; left.length > 0; attempt++) {
      const onAnswer = (namespace: string, answer: RightVerdict) => this.#answered(namespace, answer);
      await reviewRights({ api, reviews, resource: resource(), namespaces: left }, onAnswer, this.#signal);
      left = left.filter((namespace) => this.#unanswered.has(namespace));
      const [fault] = left.flatMap((namespace) => this.#unanswered.get(namespace) ?? []);
      if (this.#signal.aborted || fault === undefined) return;
      const wait = { attempt: Math.min(attempt, maxBackoffStep), random: clock.random(), retryAfterMs: retryAfterMsOf(fault) };
      await clock.sleep(backoffMs(wait), this.#signal);
      if (this.#signal.aborted) return;
    }
  }

  #answered(namespace: string, answer: RightVerdict): void {
    if (answer.type === 'unanswered') {
      const { group, kind } = this.#options.resource();
      this.#unanswered.set(namespace, { ...answer.fault, kind: { group, kind } });
    } else {
      for (const names of [this.#unanswered, this.#pending, this.#awaited]) names.delete(namespace);
      if (answer.type === 'denied') {
        const isNews = !this.#denied.has(namespace);
        this.deny(namespace);
        this.#options.onDenied(namespace, isNews);
      } else {
        this.#denied.delete(namespace);
        this.#options.onGranted(namespace);
      }
    }
    this.#options.onChange();
  }

  #nowMs(): number {
    return this.#options.context.clock.monotonic();
  }
}
