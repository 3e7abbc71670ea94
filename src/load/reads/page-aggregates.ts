import { invariant } from '../../core/errors.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { compileExtreme } from '../../store/aggregates/extremes.ts';
import { compileGroups } from '../../store/aggregates/groups.ts';
import { compileSum } from '../../store/aggregates/sums.ts';
import type { SourceMatches } from '../../store/query/query.ts';
import { type CheckedKinds, checkFirst, type RelationsByKind, refuseHiddenValues, relationsOfPaths } from './list-arguments.ts';
import type { Aggregates, GroupView, ListPage, ReadContext } from './reads.ts';

/** What a page says of all that matches. */
export type PageAggregates = Pick<ListPage, 'groups' | keyof Aggregates>;

const defaultGroups = 100;

/**
 * Of these objects, which are of the kinds asked. What a path means is found once, however many groups are asked for it, and what is asked again is not
 * worked out again.
 *
 * @param context Of the operation in whose slices they are worked out, and which is told what each of them looks at.
 */
export function createAggregates(
  asked: CheckedKinds & { readonly relations: RelationsByKind },
  matches: readonly SourceMatches[],
  { countReads, timeSlices: slices }: Pick<ReadContext, 'countReads' | 'timeSlices'>,
): PageAggregates {
  // Last, as in lists: by then the path is known to be one.
  const checked = <T>(paths: readonly string[], compiled: T): T => {
    refuseHiddenValues(paths, asked);
    for (const [kind, relations] of relationsOfPaths(paths, asked)) {
      invariant(
        new Set(relations).isSubsetOf(new Set(asked.relations.get(kind))),
        'a path through a relation is told when the page is asked for',
      );
    }
    return compiled;
  };
  const sum = once((path) => checked([path], compileSum(asked, path)));
  const min = once((path) => checked([path], compileExtreme(asked, path, 'min')));
  const max = once((path) => checked([path], compileExtreme(asked, path, 'max')));
  const of = (some: readonly SourceMatches[]): Aggregates => ({
    sum: once((path) => slices.run(sum(path)(some, countReads))),
    min: once((path) => slices.run(min(path)(some, countReads))),
    max: once((path) => slices.run(max(path)(some, countReads))),
  });
  const groups = new Map<string, PromiseOrValue<readonly GroupView[]>>();
  return {
    ...of(matches),
    groups({ by, orderBy, first }) {
      const question = { by, order: orderBy ?? 'COUNT_DESC', first: checkFirst(first, defaultGroups) };
      const key = JSON.stringify(question);
      const known = groups.get(key);
      if (known !== undefined) return known;
      const found = slices.run(checked(by, compileGroups(asked, question))(matches, countReads));
      const made = mapPromiseOrValue(found, (all) => all.map(({ keys, count, matches: some }) => ({ keys, count, ...of(some) })));
      groups.set(key, made);
      return made;
    },
  };
}

/** Of a page that holds on to nothing beyond itself: to ask is a bug. */
export const noAggregates: PageAggregates = { sum: notKept, min: notKept, max: notKept, groups: notKept };

function notKept(): never {
  invariant(false, 'aggregates are asked of a page that was not made for it');
}

function once<T>(make: (path: string) => T): (path: string) => T {
  const made = new Map<string, { readonly value: T }>();
  return (path) => {
    const known = made.get(path) ?? { value: make(path) };
    made.set(path, known);
    return known.value;
  };
}
