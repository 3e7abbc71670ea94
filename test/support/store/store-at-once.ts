import { runAtOnce, type Steps } from '../../../src/core/scheduling/operation-scheduler.ts';
import * as extremes from '../../../src/store/aggregates/extremes.ts';
import { type GroupedObjects, inOneGroup } from '../../../src/store/aggregates/grouped-objects.ts';
import * as groups from '../../../src/store/aggregates/groups.ts';
import * as sums from '../../../src/store/aggregates/sums.ts';
import type { CountReads } from '../../../src/store/query/count-reads.ts';
import { type QueryResult, type QuerySpec, queryInSteps, type SourceMatches } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';

// The stepwise functions of the store, run at once. Tests share the event loop with no other work.

type AtOnce<In, Out> = (input: In, look?: CountReads) => Out;

const atOnce =
  <In, Out>(inSteps: (input: In, look?: CountReads) => Steps<Out>): AtOnce<In, Out> =>
  (input, look) =>
    runAtOnce(inSteps(input, look));

/** Turns an aggregate of groups into the aggregate of all objects. */
const ofAll =
  <Out>(ofGroups: AtOnce<GroupedObjects, readonly Out[]>): AtOnce<readonly SourceMatches[], Out | undefined> =>
  (matches, look) =>
    ofGroups(inOneGroup(matches), look)[0];

/** Runs `queryInSteps` at once. */
export const runQuery = <S extends QuerySource>(sources: readonly S[], spec: QuerySpec): QueryResult<S> =>
  runAtOnce(queryInSteps(sources, spec));

/** Runs the functions of the store at once, so that their results are not promises. */
export const compileSums = (...asked: Parameters<typeof sums.compileSum>) => atOnce(sums.compileSum(...asked));
export const compileExtremes = (...asked: Parameters<typeof extremes.compileExtreme>) => atOnce(extremes.compileExtreme(...asked));
export const compileGroups = (...asked: Parameters<typeof groups.compileGroups>) => atOnce(groups.compileGroups(...asked));

/** The aggregates of all objects, as one group. */
export const compileSum = (...asked: Parameters<typeof sums.compileSum>) => ofAll(compileSums(...asked));
export const compileExtreme = (...asked: Parameters<typeof extremes.compileExtreme>) => ofAll(compileExtremes(...asked));
