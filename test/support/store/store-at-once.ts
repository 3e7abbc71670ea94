import { runAtOnce, type Steps } from '../../../src/core/scheduling/operation-scheduler.ts';
import * as extremes from '../../../src/store/aggregates/extremes.ts';
import * as groups from '../../../src/store/aggregates/groups.ts';
import * as sums from '../../../src/store/aggregates/sums.ts';
import type { CountReads } from '../../../src/store/query/count-reads.ts';
import { type QueryResult, type QuerySpec, queryInSteps, type SourceMatches } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';

// What the store does in steps, for tests that have the loop to themselves.

type AtOnce<T> = (matches: readonly SourceMatches[], look?: CountReads) => T;

const atOnce =
  <T>(inSteps: (matches: readonly SourceMatches[], look?: CountReads) => Steps<T>): AtOnce<T> =>
  (matches, look) =>
    runAtOnce(inSteps(matches, look));

/** `queryInSteps`, all steps at once. */
export const runQuery = <S extends QuerySource>(sources: readonly S[], spec: QuerySpec): QueryResult<S> =>
  runAtOnce(queryInSteps(sources, spec));

/** The same of the store's own, whose results are there at once. */
export const compileSum = (...asked: Parameters<typeof sums.compileSum>) => atOnce(sums.compileSum(...asked));
export const compileExtreme = (...asked: Parameters<typeof extremes.compileExtreme>) => atOnce(extremes.compileExtreme(...asked));
export const compileGroups = (...asked: Parameters<typeof groups.compileGroups>) => atOnce(groups.compileGroups(...asked));
