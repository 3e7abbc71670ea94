import { runAtOnce, type Steps } from '../../../src/core/scheduling/operation-scheduler.ts';
import * as extremes from '../../../src/store/aggregates/extremes.ts';
import * as groups from '../../../src/store/aggregates/groups.ts';
import * as sums from '../../../src/store/aggregates/sums.ts';
import type { CountReads } from '../../../src/store/query/count-reads.ts';
import { type QueryResult, type QuerySpec, queryInSteps, type SourceMatches } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';

// The stepwise functions of the store, run at once. Tests share the event loop with no other work.

type AtOnce<T> = (matches: readonly SourceMatches[], look?: CountReads) => T;

const atOnce =
  <T>(inSteps: (matches: readonly SourceMatches[], look?: CountReads) => Steps<T>): AtOnce<T> =>
  (matches, look) =>
    runAtOnce(inSteps(matches, look));

/** Runs `queryInSteps` at once. */
export const runQuery = <S extends QuerySource>(sources: readonly S[], spec: QuerySpec): QueryResult<S> =>
  runAtOnce(queryInSteps(sources, spec));

/** Runs the functions of the store at once, so that their results are not promises. */
export const compileSum = (...asked: Parameters<typeof sums.compileSum>) => atOnce(sums.compileSum(...asked));
export const compileExtreme = (...asked: Parameters<typeof extremes.compileExtreme>) => atOnce(extremes.compileExtreme(...asked));
export const compileGroups = (...asked: Parameters<typeof groups.compileGroups>) => atOnce(groups.compileGroups(...asked));
