import { MusterError } from '../../core/errors.ts';
import type { TimeSlices } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { type CountReads, maxReads } from '../../load/reads/reads.ts';

/** What one operation may still be given: of a subscription, one message. */
export interface Budget {
  /**
   * Takes so many objects out of it, before they are handed out: what is over the bound is then never made.
   *
   * @throws {MusterError} `TOO_COSTLY` once more than `maxAnswerObjects` were taken together, then and from then on: what was allowed and what came.
   */
  charge(objects: number): void;
  /**
   * Takes what was looked at to find them out of a second account, as `ReadContext` says. It is called while objects are looked at.
   *
   * @throws {MusterError} `TOO_COSTLY` once more than `maxReads` were taken together, then and from then on.
   */
  readonly countReads: CountReads;
  /**
   * The text itself, charged by its length: one that a resolver has made lives until the answer is sent.
   *
   * @throws {MusterError} `TOO_COSTLY` once all texts together have more characters than an answer may have bytes.
   */
  text(text: string): string;
  /**
   * Called before each slice of the operation: an answer that is refused as a whole is not completed any further.
   *
   * @throws {MusterError} What `charge`, `look` or `text` threw first.
   */
  throwIfSpent(): void;
}

/** Most objects in one answer: each element of a list counts, and a list inside another one counts each time it is given. */
export const maxAnswerObjects = 10_000;

/** As many objects as one text of YAML counts beside the object itself: a page of 500 with it is half a budget. */
export const yamlCost = 9;

/** So many characters of a log count as one object: that is about what an object takes. */
export const charsPerObject = 4_096;

/** As how many objects the text of these lines counts. */
export function costOfText(lines: readonly { readonly text: string }[]): number {
  const chars = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  return Math.floor(chars / charsPerObject);
}

/**
 * A budget of `maxAnswerObjects` and `maxReads`.
 *
 * @param maxAnswerBytes Characters of all texts that resolvers make. Default: no bound.
 * @param throwIfOver Asked each time: what nobody waits for any more goes no further.
 */
export function createBudget(throwIfOver: () => void, maxAnswerBytes = Number.POSITIVE_INFINITY): Budget {
  let spent = 0;
  let looked = 0;
  let characters = 0;
  /** Made once: each of 150,000 fields may run into it. */
  let refusal: MusterError | undefined;
  const refuse = (message: string): never => {
    refusal ??= new MusterError('TOO_COSTLY', message);
    throw refusal;
  };
  return {
    throwIfSpent() {
      if (refusal !== undefined) throw refusal;
    },
    charge(objects) {
      throwIfOver();
      spent += objects;
      if (spent <= maxAnswerObjects) return;
      refuse(
        `expected at most ${maxAnswerObjects} objects in one answer, a list inside a list counted each time, got ${spent} so far: narrow it ` +
          '(first, clusters, kinds, names), leave out inner lists, or ask in parts',
      );
    },
    text(text) {
      characters += text.length;
      if (characters <= maxAnswerBytes) return text;
      return refuse(
        `expected an answer of at most ${maxAnswerBytes} bytes, got more: ask for fewer objects (first), select single fields instead of yaml, or ask in parts`,
      );
    },
    countReads(looks) {
      throwIfOver();
      looked += looks;
      if (looked <= maxReads) return;
      refuse(
        `expected to look at no more than ${maxReads} objects, one counted again for each path and page of relations that it is read for, got ${looked} ` +
          'so far: narrow the lists (clusters, namespaces, labels), or ask in parts',
      );
    },
  };
}

/**
 * The elements of a list, taken out of the operation's budget: by every field whose list is not a part of one object.
 *
 * What is selected of them is completed in the operation's slices: once a slice is used up, the next elements are promises that resolve in later ones.
 *
 * @throws {MusterError} `TOO_COSTLY` if the budget does not hold that many.
 */
export function chargeList<T>(list: readonly T[], { budget, read }: Charging): Iterable<PromiseOrValue<T>> {
  budget.charge(list.length);
  return list.length < shortList ? list : inTimeSlices(list, read.timeSlices);
}

/** Resolves a field to the list that its parent has by this name, charged to the operation. */
export function resolveChargedList<Name extends string>(name: Name) {
  return <T>(parent: Readonly<Record<Name, readonly T[]>>, _args: unknown, context: Charging) => chargeList(parent[name], context);
}

/** What of the context of an operation lists are charged to. */
interface Charging {
  readonly budget: Budget;
  readonly read: { readonly timeSlices: TimeSlices };
}

/** Shorter lists are completed as a whole. */
const shortList = 8;

function* inTimeSlices<T>(list: readonly T[], slices: TimeSlices): Iterable<PromiseOrValue<T>> {
  for (const element of list) {
    const pause = slices.pause();
    yield pause === undefined ? element : pause.then(() => element);
  }
}
