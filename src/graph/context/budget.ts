import { MusterError } from '../../core/errors.ts';
import type { TimeSlices } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { ChargedList } from '../../execution/charged-list.ts';
import { declareRepeatable } from '../../execution/known-resolvers.ts';
import { type CountReads, type ListPage, maxReads } from '../../load/reads/reads.ts';

/** The budget of one operation, or of one message of a subscription. */
export interface Budget {
  /**
   * Takes objects from the budget before they are returned, so that objects beyond the limit are never created.
   *
   * @throws {MusterError} `TOO_COSTLY` once more than `maxAnswerObjects` were taken in total, and for every call after that. The message has
   * the limit and the number.
   */
  charge(objects: number): void;
  /**
   * Counts the objects that were read in order to find the answer, as `ReadContext.countReads`. Called during the reads.
   *
   * @throws {MusterError} `TOO_COSTLY` once more than `maxReads` were counted in total, and for every call after that.
   */
  readonly countReads: CountReads;
  /**
   * Charges a text by its length and returns it. A text that a resolver creates stays in memory until the answer is sent.
   *
   * @throws {MusterError} `TOO_COSTLY` once all texts together have more characters than an answer may have bytes.
   */
  text(text: string): string;
  /**
   * Throws if the budget was exceeded before. Called before each time slice of the operation, so that a refused answer is not completed.
   *
   * @throws {MusterError} The first error of `charge`, `countReads` or `text`.
   */
  throwIfSpent(): void;
}

/**
 * Maximum number of objects in one answer. Each element of a list counts. The elements of a list inside another list count again for each
 * element of the outer list.
 */
export const maxAnswerObjects = 10_000;

/**
 * The number of objects that one YAML text counts as, in addition to its object. So a page of 500 objects with `yaml` takes half of the
 * budget.
 */
export const yamlCost = 9;

/** The characters of a log that count as one object, which is about the size of an object. */
export const charsPerObject = 4_096;

/** Returns the number of objects that the text of these lines counts as. */
export function costOfText(lines: readonly { readonly text: string }[]): number {
  const chars = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  return Math.floor(chars / charsPerObject);
}

/**
 * Creates a budget of `maxAnswerObjects` and `maxReads`.
 *
 * @param maxAnswerBytes Maximum number of characters of all texts that resolvers create. Default: no limit.
 * @param throwIfOver Called by each method. It throws after the end of the operation, so that work stops.
 */
export function createBudget(throwIfOver: () => void, maxAnswerBytes = Number.POSITIVE_INFINITY): Budget {
  let spent = 0;
  let readsSoFar = 0;
  let characters = 0;
  /** The first error. Later calls throw it again: 150,000 fields may throw, and creating an error for each would take long. */
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
        `expected at most ${maxAnswerObjects} objects in one answer, with inner lists counted for each element of the outer list, got ${spent} so far: narrow the request ` +
          '(first, clusters, kinds, names), leave out inner lists, or split the request',
      );
    },
    text(text) {
      characters += text.length;
      if (characters <= maxAnswerBytes) return text;
      return refuse(
        `expected an answer of at most ${maxAnswerBytes} bytes, got more: request fewer objects (first), select single fields instead of yaml, or split the request`,
      );
    },
    countReads(reads) {
      throwIfOver();
      readsSoFar += reads;
      if (readsSoFar <= maxReads) return;
      refuse(
        `expected to read at most ${maxReads} objects, counted again for each path and page of relations that needs them, got ${readsSoFar} ` +
          'so far: narrow the lists (clusters, namespaces, labels), or split the request',
      );
    },
  };
}

/**
 * Charges a list to the operation and returns its elements. Every field uses it, unless its list is a part of one object.
 *
 * The fields of the elements are completed in the time slices of the operation. At the end of a slice, the next elements become promises that
 * resolve in a later slice.
 *
 * @throws {MusterError} `TOO_COSTLY` if the budget is too small for the list.
 */
export function chargeList<T>(list: readonly T[], { budget, read }: ListContext): Iterable<PromiseOrValue<T>> {
  budget.charge(list.length);
  return inTimeSlices(list, read.timeSlices);
}

/**
 * Charges the texts of a list instead of its elements, and returns the elements as `chargeList` does. For lists of small elements that
 * describe one object, such as its notes.
 *
 * @param textOf Returns the text of an element, which is most of its size.
 * @throws {MusterError} `TOO_COSTLY` if the budget is too small for the texts.
 */
export function chargeTexts<T>(
  list: readonly T[],
  textOf: (element: T) => string,
  { budget, read }: ListContext,
): Iterable<PromiseOrValue<T>> {
  budget.charge(costOfText(list.map((element) => ({ text: textOf(element) }))));
  return inTimeSlices(list, read.timeSlices);
}

/** Returns a resolver for the list with this name in the parent. The list is charged to the operation. */
export function resolveChargedList<Name extends string>(name: Name) {
  const resolver = <T>(parent: Readonly<Record<Name, readonly T[]>>, _args: unknown, context: ListContext) =>
    chargeList(parent[name], context);
  return declareRepeatable(resolver);
}

/** The resolver for the items of a page. They are charged to the operation. Rows are created only if the items have to be read one by one. */
export const resolveItems = declareRepeatable((page: ListPage, _args: unknown, context: ListContext) =>
  chargePage(page, () => page.items, context),
);

/** The resolver for the edges of a page. Like `resolveItems`. */
export const resolveEdges = declareRepeatable((listed: ListPage, _args: unknown, context: ListContext) =>
  chargePage(listed, () => listed.items.map((row) => ({ row, listed })), context),
);

function chargePage<T>({ itemCount: length, contentKey: key }: ListPage, list: () => readonly T[], { budget, read }: ListContext) {
  budget.charge(length);
  return length < shortList ? list() : new ChargedList({ length, key, list, iterate: () => elementsInSlices(list(), read.timeSlices) });
}

/** The context that lists need: the budget that they are charged to, and the time slices in which they are completed. */
interface ListContext {
  readonly budget: Budget;
  readonly read: { readonly timeSlices: TimeSlices };
}

/** The number of elements from which a list is completed in time slices. */
const shortList = 8;

function inTimeSlices<T>(list: readonly T[], slices: TimeSlices): Iterable<PromiseOrValue<T>> {
  if (list.length < shortList) return list;
  return new ChargedList({ length: list.length, list: () => list, iterate: () => elementsInSlices(list, slices) });
}

function* elementsInSlices<T>(list: readonly T[], slices: TimeSlices): Generator<PromiseOrValue<T>> {
  for (const element of list) {
    const pause = slices.pause();
    yield pause === undefined ? element : pause.then(() => element);
  }
}
