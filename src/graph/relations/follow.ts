import type { GraphQLResolveInfo } from 'graphql';
import { afterwards, type NowOrLater } from '../../core/now-or-later.ts';
import type { Listed, Row } from '../../load/reads.ts';
import type { Question, RelatedPage, Target } from '../../load/relations/relations.ts';
import type { Model } from '../../model/model.ts';
import { aggregatedPaths } from '../aggregates.ts';
import type { GraphContext } from '../context.ts';
import { foundRow } from '../found-row.ts';

/** What of a field's resolver a relation needs. */
export interface Following {
  readonly model: Model;
  readonly context: GraphContext;
  readonly info: GraphQLResolveInfo;
}

/** The object that the row names: null if there is none, or the caller may not see it. Why nobody could tell is reported beside the answer. */
export function followOne(row: Row, target: Target | undefined, { model, context, info }: Following): NowOrLater<Row | undefined> {
  if (target === undefined) return undefined;
  return afterwards(context.relations.one(row, { model, target }), (found) => {
    if (found.row !== undefined) context.budget.charge(1);
    return foundRow(found, context, info);
  });
}

/** The objects that have to do with the row. */
export function followMany(
  row: Row,
  { question, page }: { readonly question: Question; readonly page: RelatedPage },
  { model, context, info }: Following,
): NowOrLater<Listed> {
  return context.relations.many(row, {
    model,
    question,
    page: { first: page.first, after: page.after, aggregated: aggregatedPaths(info) },
  });
}
