import { keptTextsOf, objectResolver, valueResolver } from '../../execution/known-resolvers.ts';
import type { ListPage, Row } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { EdgeView, GraphBuilder, PageView } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { resolveChargedList, resolveEdges, resolveItems } from '../context/budget.ts';
import { textSourceOfRow } from './generated.ts';

/** Adds `Connection`, `PageInfo` and `ResourceConnection` with its edges. */
export function addConnections(builder: GraphBuilder): ObjectRefOf<ListPage> {
  const { types } = builder;
  types.connection.implement({
    description:
      'One page of a list of objects from many clusters. Its counts, sums, smallest and largest values and groups cover all pages.',
    // Never needed: the type of a field is always one of the object types.
    resolveType: () => 'ResourceConnection',
    fields: (t) => ({
      items: t.field({
        type: [types.resource],
        nullable: false,
        description: 'The objects of this page, in the order of the list.',
        // The fields of each row are in generated.ts.
        resolve: resolveItems,
      }),
      pageInfo: t.field({
        type: types.pageInfo,
        nullable: false,
        description: 'The position of this page in the list, with the cursors to continue.',
        resolve: valueResolver(pageOf),
      }),
      totalCount: t.exposeInt('totalCount', {
        nullable: false,
        description: 'The number of matching objects on all pages. If `faults` is not empty, there may be more.',
      }),
      sync: t.field({
        type: [types.sync],
        nullable: false,
        description: 'How complete and current the objects are. There is one entry for each requested cluster and kind.',
        resolve: resolveChargedList('sync'),
      }),
      faults: t.field({
        type: [types.fault],
        nullable: false,
        description: 'The reasons why objects are missing or out of date: the faults of `sync` and of relations that the query follows.',
        resolve: resolveChargedList('faults'),
      }),
    }),
  });
  types.pageInfo.implement({
    description: 'The position of a page in its list.',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { nullable: false, description: 'True if there are objects after this page.' }),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage', { nullable: false, description: 'True if there are objects before this page.' }),
      startCursor: t.exposeString('startCursor', { description: 'The cursor of the first object of the page. Null if the page is empty.' }),
      endCursor: t.exposeString('endCursor', {
        description: 'The cursor of the last object of the page. To get the next page, pass it as `after`. Null if the page is empty.',
      }),
    }),
  });
  return addConnection(builder, { type: 'Resource', item: types.resource, of: 'objects of any kind' });
}

/** Adds `PodConnection` and `PodEdge`, and the same for every other kind. Returns them by the type name of the kind. */
export function addKindConnections(builder: GraphBuilder): ReadonlyMap<string, ObjectRefOf<ListPage>> {
  const connections = new Map<string, ObjectRefOf<ListPage>>();
  for (const kind of builder.model.kinds.values()) {
    const item = builder.kinds.get(kind.type);
    if (item !== undefined) connections.set(kind.type, addConnection(builder, { type: kind.type, item, of: objectsOf(kind) }));
  }
  return connections;
}

interface ConnectionOf {
  readonly type: string;
  readonly item: ObjectRefOf<Row> | GraphBuilder['types']['resource'];
  readonly of: string;
}

function addConnection({ pothos, types }: GraphBuilder, { type, item, of }: ConnectionOf): ObjectRefOf<ListPage> {
  const edge = pothos.objectRef<EdgeView>(`${type}Edge`).implement({
    ...keptTextsOf((value) => textSourceOfRow((value as EdgeView).row)),
    description: `One entry of a page of ${of}: an object with its cursor.`,
    fields: (t) => ({
      cursor: t.string({
        nullable: false,
        description: 'The position of the object in the list. To get the objects that follow it, pass this cursor as `after`.',
        resolve: valueResolver(({ listed, row }) => listed.cursorOf(row)),
      }),
      node: t.field({ type: item, nullable: false, description: 'The object of this entry.', resolve: objectResolver(({ row }) => row) }),
    }),
  });
  return pothos.objectRef<ListPage>(`${type}Connection`).implement({
    description: `One page of ${of}, from many clusters.`,
    interfaces: [types.connection],
    fields: (t) => ({
      items: t.field({
        type: [item],
        nullable: false,
        description: 'The objects of this page, in the order of the list.',
        // The fields of each row are in generated.ts.
        resolve: resolveItems,
      }),
      edges: t.field({
        type: [edge],
        nullable: false,
        description: 'The objects of this page, in the order of the list, each with its cursor.',
        resolve: resolveEdges,
      }),
    }),
  });
}

/** Returns the position of a page in its list. Cursors are created when they are read, because sealing takes time. */
function pageOf(listed: ListPage): PageView {
  const { hasNextPage, hasPreviousPage, items } = listed;
  return {
    hasNextPage,
    hasPreviousPage,
    get startCursor() {
      return cursorOf(listed, items.at(0));
    },
    get endCursor() {
      return cursorOf(listed, items.at(-1));
    },
  };
}

function cursorOf(listed: ListPage, row: Row | undefined): string | undefined {
  return row === undefined ? undefined : listed.cursorOf(row);
}

function objectsOf({ kind, group }: ModelKind): string {
  return group === '' ? `objects of the kind ${kind}` : `objects of the kind ${kind} of ${group}`;
}
