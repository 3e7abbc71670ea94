import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ReflectorContext } from '../reflector/reflector-context.ts';
import { backoffMs, retryAfterMsOf } from '../server/backoff.ts';
import { type RightVerdict, reviewRights } from './review-rights.ts';

/** A refusal that is older may have been taken back. */
const deniedForMs = 10_000;

/** Somebody may be waiting: the steps of the backoff stop here, at 6.4 to 12.8 s. */
const mostAttempts = 3;

/** Refusals remembered; beyond that the oldest are forgotten, and asked for again like those never asked. */
const mostRemembered = 2_000;

/** Questions about rights whose answers decide what there is to read. */
export interface PendingRights {
  /** Why there is no answer yet, where one was sought in vain. */
  readonly fault?: Fault | undefined;
  /** True if none of the answers is to be waited for: each has been sought in vain at least once. */
  readonly settled: boolean;
}

/** In which namespaces a kind may be read that may not be read in all of them. */
export interface NamespaceRights {
  /** Undefined when every answer that somebody waits for is known. */
  readonly awaited: PendingRights | undefined;
  /**
   * Asks for each namespace that is not being asked for. What cannot be answered is asked again until it is: 0.8 s doubling to 6.4 s, times a
   * random factor in [1, 2). `awaited`: without the answers it is not known what there is to read; else they are news when they come.
   */
  review(namespaces: readonly string[], how: 'awaited' | 'unhurried'): void;
  /** Those that are being asked for. */
  readonly pending: ReadonlySet<string>;
  /** True if nothing is known of it, or so little that it is worth a question: it was denied 10 s ago or before, or is being asked for. */
  needsReview(namespace: string): boolean;
  /** It was denied, and that is told until another answer comes. */
  isDenied(namespace: string): boolean;
  /** It is being asked for, and somebody waits for the answer. */
  isAwaited(namespace: string): boolean;
  /** The same namespaces: first those of which nothing is known, then by the age of the refusal, the oldest first. */
  sortByRefusalAge(namespaces: readonly string[]): readonly string[];
  /** It was granted, and yet refused. */
  deny(namespace: string): void;
  /** That it was denied is too long ago to be told. */
  forget(namespace: string): void;
}

interface GrantsOptions {
  readonly surroundings: ReflectorContext;
  readonly resource: () => ServedResource;
  readonly onGranted: (namespace: string) => void;
  /** `isNews`: it was not denied before. */
  readonly onDenied: (namespace: string, isNews: boolean) => void;
  /** After `asking` may have changed. */
  readonly onChange: () => void;
}

/** Nothing is asked yet. Ends with the signal: nothing is told after it. */
export function createNamespaceRights(options: GrantsOptions, signal: AbortSignal): NamespaceRights {
  return new AskedGrants(options, signal);
}

class AskedGrants implements NamespaceRights {
  readonly #options: GrantsOptions;
  readonly #signal: AbortSignal;
  readonly #pending = new Set<string>();
  readonly #awaited = new Set<string>();
  readonly #unanswered = new Map<string, Fault>();
  /** When each was denied, the oldest first. */
  readonly #denied = new Map<string, number>();

  constructor(options: GrantsOptions, signal: AbortSignal) {
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
    const unasked = [...new Set(namespaces)].filter((namespace) => !this.#pending.has(namespace));
    for (const namespace of unasked) this.#pending.add(namespace);
    if (how === 'awaited') for (const namespace of namespaces) this.#awaited.add(namespace);
    if (unasked.length > 0) void this.#askUntilAnswered(unasked);
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
    if (this.#denied.size > mostRemembered && oldest !== undefined) this.#denied.delete(oldest);
  }

  forget(namespace: string): void {
    this.#denied.delete(namespace);
  }

  async #askUntilAnswered(namespaces: readonly string[]): Promise<void> {
    const { surroundings, resource } = this.#options;
    const { api, reviews, clock } = surroundings;
    let left = namespaces;
    for (let attempt = 0; left.length > 0; attempt++) {
      const onAnswer = (namespace: string, answer: RightVerdict) => this.#answered(namespace, answer);
      await reviewRights({ api, reviews, resource: resource(), namespaces: left }, onAnswer, this.#signal);
      left = left.filter((namespace) => this.#unanswered.has(namespace));
      const [fault] = left.flatMap((namespace) => this.#unanswered.get(namespace) ?? []);
      if (this.#signal.aborted || fault === undefined) return;
      const wait = { attempt: Math.min(attempt, mostAttempts), random: clock.random(), retryAfterMs: retryAfterMsOf(fault) };
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
    return this.#options.surroundings.clock.monotonic();
  }
}
