import { invariant } from '../core/errors.ts';
import { compileExtreme } from '../store/aggregates/extremes.ts';
import { compileGroups } from '../store/aggregates/groups.ts';
import { compileSum } from '../store/aggregates/sums.ts';
import type { Matches } from '../store/query.ts';
import { type AskedKinds, checkFirst, refuseValuesHeldBack } from './list-arguments.ts';
import type { Aggregates, Listed } from './reads.ts';

/** What a page says of all that matches. */
export type PageAggregates = Pick<Listed, 'groups' | keyof Aggregates>;

const defaultGroups = 100;

/** Of these objects, which are of the kinds asked. What a path means is found once, however many groups are asked for it. */
export function createAggregates(asked: AskedKinds, matches: readonly Matches[]): PageAggregates {
  // Last, as in lists: by then the path is known to be one.
  const checked = <T>(paths: readonly string[], compiled: T): T => {
    refuseValuesHeldBack(paths, asked);
    return compiled;
  };
  const sum = once((path) => checked([path], compileSum(asked, path)));
  const min = once((path) => checked([path], compileExtreme(asked, path, 'min')));
  const max = once((path) => checked([path], compileExtreme(asked, path, 'max')));
  const of = (some: readonly Matches[]): Aggregates => ({
    sum: (path) => sum(path)(some),
    min: (path) => min(path)(some),
    max: (path) => max(path)(some),
  });
  return {
    ...of(matches),
    groups({ by, orderBy, first }) {
      const question = { by, order: orderBy ?? 'COUNT_DESC', first: checkFirst(first, defaultGroups) };
      const groups = checked(by, compileGroups(asked, question))(matches);
      return groups.map(({ keys, count, matches: some }) => ({ keys, count, ...of(some) }));
    },
  };
}

/** Of a page that holds on to nothing beyond itself: to ask is a bug. */
export const noAggregates: PageAggregates = { sum: notKept, min: notKept, max: notKept, groups: notKept };

function notKept(): never {
  invariant(false, 'aggregates are asked of a page that was not made for it');
}

function once<T>(make: (path: string) => T): (path: string) => T {
  const made = new Map<string, T>();
  return (path) => {
    const known = made.get(path) ?? make(path);
    made.set(path, known);
    return known;
  };
}
