import { keyOfKind } from '../../../src/core/kinds.ts';
import { noAggregates } from '../../../src/load/reads/page-aggregates.ts';
import type { ClusterView, ListPage, Row } from '../../../src/load/reads/reads.ts';
import type { Relations } from '../../../src/load/relations/relations.ts';
import type { Model } from '../../../src/model/model.ts';
import { kindOf, rowIn } from './graph-messages.ts';
import { sampleOf } from './model-samples.ts';

/**
 * Makes relations whose targets are always available: each leads to a sample of the wanted kind. Relations to any kind lead to a sample
 * of `anyKind`.
 */
export function answeringRelations(model: Model, cluster: ClusterView, anyKind: string): Relations {
  const rowOf = (key: string): Row => {
    const known = model.kinds.has(key) ? key : anyKind;
    return rowIn(model, cluster, { key: known, object: sampleOf(model, kindOf(model, known), 0).object });
  };
  return {
    one: (_from, { target }) => ({ row: rowOf(keyOfKind(target.kind)), faults: [] }),
    many: (_from, { query: { kinds = [{ group: '', kind: anyKind }] } }): ListPage => {
      const items = kinds.map((kind) => rowOf(keyOfKind(kind)));
      const page = { hasNextPage: false, hasPreviousPage: false, cursorOf: () => 'cursor' };
      return {
        items,
        itemCount: items.length,
        contentKey: undefined,
        totalCount: items.length,
        ...page,
        sync: items.map(({ sync }) => sync),
        faults: [],
        ...noAggregates,
      };
    },
  };
}
