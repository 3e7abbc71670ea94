import { MusterError } from '../core/errors.ts';

/** What one operation may still be given: of a subscription, one message. */
export interface Budget {
  /**
   * Takes so many objects out of it, before they are handed out: what is over the bound is then never made.
   *
   * @throws {MusterError} `TOO_COSTLY` once more than `maxObjects` were taken together, then and from then on: what was allowed and what came.
   */
  charge(objects: number): void;
}

/** Most objects in one answer: each element of a list counts, and a list inside another one counts each time it is given. */
export const maxObjects = 10_000;

/** As many objects as one text of YAML counts beside the object itself: a page of 500 with it is half a budget. */
export const yamlCost = 9;

/** So many characters of a log count as one object: that is about what an object takes. */
export const charsPerObject = 4_096;

/** As how many objects the text of these lines counts. */
export function costOfText(lines: readonly { readonly text: string }[]): number {
  const chars = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  return Math.floor(chars / charsPerObject);
}

/** A budget of `maxObjects`. */
export function createBudget(): Budget {
  let spent = 0;
  return {
    charge(objects) {
      spent += objects;
      if (spent <= maxObjects) return;
      throw new MusterError(
        'TOO_COSTLY',
        `expected at most ${maxObjects} objects in one answer, a list inside a list counted each time, got ${spent} so far: narrow it ` +
          '(first, clusters, kinds, names), leave out inner lists, or ask in parts',
      );
    },
  };
}

/**
 * The list itself, taken out of the operation's budget: by every field whose list is not a part of one object.
 *
 * @throws {MusterError} `TOO_COSTLY` if the budget does not hold that many.
 */
export function charged<T>(list: readonly T[], { budget }: { readonly budget: Budget }): readonly T[] {
  budget.charge(list.length);
  return list;
}
