import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { divideIntoAttempts } from '../../store/filter/long-texts.ts';
import { createMatcher, findCandidatesFor, type ListConditions } from '../../store/filter/matching.ts';
import { type CountReads, createReadCounter, type ReadCounter } from '../../store/query/count-reads.ts';
import type { QuerySource } from '../../store/query-source.ts';

/** Number of objects that one step skips because they are judged already. */
const knownAtOnce = 2_000;

/**
 * The objects of a mirror that match the filter of a stream. One object may take a millisecond to judge. So objects are judged in steps,
 * before a message needs all of them in one event-loop turn. Objects never change, so a verdict holds until `forget`.
 */
export class JudgedSelection {
  readonly #source: QuerySource;
  readonly #conditions: ListConditions;
  readonly #read = { values: 0 };
  readonly #matches: (object: KubernetesObject) => boolean;
  readonly #matchesInAttempts: (object: KubernetesObject) => boolean | undefined;
  readonly #verdicts = new Map<KubernetesObject, boolean>();
  /** Decides when to yield while single objects are judged. These reads are not charged to a limit. */
  readonly #uncharged = createReadCounter();

  constructor(source: QuerySource, conditions: ListConditions) {
    this.#source = source;
    this.#conditions = conditions;
    this.#matches = createMatcher(source, conditions, this.#read);
    this.#matchesInAttempts = divideIntoAttempts(this.#matches, this.#read);
  }

  /** True if the object matches. An object without a verdict is judged now, and the verdict is not stored. */
  readonly has = (object: KubernetesObject): boolean => this.#verdicts.get(object) ?? this.#matches(object);

  /** Returns all objects that match now. Objects without a verdict are judged during the call. */
  all(): readonly KubernetesObject[] {
    return findCandidatesFor(this.#source, this.#conditions).flatMap((list) => list.filter(this.has));
  }

  /** Judges all objects that the mirror holds now, as `judge` does. @returns How many had no verdict yet. */
  *judgeAll(countReads: CountReads): Steps<number> {
    let judged = 0;
    const reads = createReadCounter(countReads);
    for (const list of findCandidatesFor(this.#source, this.#conditions)) judged += yield* this.judge(list, reads);
    reads.end();
    return judged;
  }

  /**
   * Stores for each of these objects whether it matches. Objects that were judged before are skipped. @returns How many had no verdict yet.
   */
  *judge(objects: Iterable<KubernetesObject>, reads = this.#uncharged): Steps<number> {
    let judged = 0;
    let known = 0;
    for (const object of objects) {
      if (!this.#verdicts.has(object)) {
        judged += 1;
        let matches = this.#matchesInAttempts(object);
        for (; matches === undefined; matches = this.#matchesInAttempts(object)) yield;
        this.#verdicts.set(object, matches);
        if (this.#count(reads)) yield;
      } else if (++known % knownAtOnce === 0) yield;
    }
    return judged;
  }

  /** Drops all verdicts: they hold objects that the mirror may have dropped. */
  forget(): void {
    this.#verdicts.clear();
  }

  /** Counts the work for one object. True if it is time to yield. */
  #count(reads: ReadCounter): boolean {
    const isStep = reads.addCompared(this.#read.values);
    this.#read.values = 0;
    return reads.add(1) || isStep;
  }
}
