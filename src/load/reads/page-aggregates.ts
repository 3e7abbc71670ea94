import { invariant } from '../../core/errors.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { compileExtreme } from '../../store/aggregates/extremes.ts';
import { type GroupedObjects, inOneGroup } from '../../store/aggregates/grouped-objects.ts';
import { compileGroups } from '../../store/aggregates/groups.ts';
import { compileSum } from '../../store/aggregates/sums.ts';
import type { SourceMatches } from '../../store/query/query.ts';
import { type CheckedKinds, checkFirst, type RelationsByKind, refuseHiddenValues, relationsOfPaths } from './list-arguments.ts';
import type { Aggregates, GroupView, ListPage, ReadContext } from './reads.ts';

/** The aggregates of a page. */
export type PageAggregates = Pick<ListPage, 'groups' | keyof Aggregates>;

const defaultGroups = 100;

/**
 * Creates the aggregates of these objects. Each path is looked up once, however many groups need it. Results are cached.
 *
 * @param context The operation whose time slices run the computation, and which counts the objects that are read.
 */
export function createAggregates(
  kinds: CheckedKinds & { readonly relations: RelationsByKind },
  matches: readonly SourceMatches[],
  { countReads, timeSlices: slices }: Pick<ReadContext, 'countReads' | 'timeSlices'>,
): PageAggregates {
  // Paths to hidden values are refused after the path was compiled, as in lists. So an unknown path gets the error about unknown paths.
  const checked = <T>(paths: readonly string[], compiled: T): T => {
    refuseHiddenValues(paths, kinds);
    for (const [kind, relations] of relationsOfPaths(paths, kinds)) {
      invariant(
        new Set(relations).isSubsetOf(new Set(kinds.relations.get(kind))),
        'the relations of all paths are known when the page is created',
      );
    }
    return compiled;
  };
  const sum = once((path) => checked([path], compileSum(kinds, path)));
  const min = once((path) => checked([path], compileExtreme(kinds, path, 'min')));
  const max = once((path) => checked([path], compileExtreme(kinds, path, 'max')));
  // The first request for an aggregate of one group computes the aggregate of all groups.
  const aggregatesOf = (grouped: GroupedObjects): ((group: number) => Aggregates) => {
    const sums = once((path) => slices.run(sum(path)(grouped, countReads)));
    const smallest = once((path) => slices.run(min(path)(grouped, countReads)));
    const largest = once((path) => slices.run(max(path)(grouped, countReads)));
    return (group) => ({
      sum: (path) => mapPromiseOrValue(sums(path), (all) => all[group]),
      min: (path) => mapPromiseOrValue(smallest(path), (all) => all[group]),
      max: (path) => mapPromiseOrValue(largest(path), (all) => all[group]),
    });
  };
  const groups = new Map<string, PromiseOrValue<readonly GroupView[]>>();
  return {
    ...aggregatesOf(inOneGroup(matches))(0),
    groups({ by, orderBy, first }) {
      const request = { by, order: orderBy ?? 'COUNT_DESC', first: checkFirst(first, defaultGroups) };
      const key = JSON.stringify(request);
      const known = groups.get(key);
      if (known !== undefined) return known;
      const found = slices.run(checked(by, compileGroups(kinds, request))(matches, countReads));
      const made = mapPromiseOrValue(found, ({ groups: all, members }) => {
        const ofGroup = aggregatesOf(members);
        return all.map(({ keys, count }, group) => ({ keys, count, ...ofGroup(group) }));
      });
      groups.set(key, made);
      return made;
    },
  };
}

/** The aggregates of a page that was created without aggregates. Every method throws, because the call is a bug. */
export const noAggregates: PageAggregates = { sum: notKept, min: notKept, max: notKept, groups: notKept };

function notKept(): never {
  invariant(false, 'aggregates are requested from a page without them');
}

function once<T>(make: (path: string) => T): (path: string) => T {
  const made = new Map<string, { readonly value: T }>();
  return (path) => {
    const known = made.get(path) ?? { value: make(path) };
    made.set(path, known);
    return known.value;
  };
}
