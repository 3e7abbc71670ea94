import type { Fault } from '../../core/faults.ts';
import { apiVersionOf, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import { compareText } from '../../core/text.ts';
import type { PathKinds } from '../../model/paths/paths-of-kinds.ts';
import { createReadCounter } from '../../store/query/count-reads.ts';
import { printOrderPosition } from '../../store/query/cursor.ts';
import {
  defaultPositionOf,
  prepareQuery,
  type QueryHit,
  type QueryResult,
  type QuerySpec,
  queryInSteps,
  type SourceMatches,
} from '../../store/query/query.ts';
import type { QuerySource, RelatedObject, RelatedObjects } from '../../store/query-source.ts';
import { foreignCursor, type Seal, type SealScope } from './cursor-seal.ts';
import { type KeptPage, type KeptPages, sourceStateOf } from './kept-pages.ts';
import type { RelationsByKind } from './list-arguments.ts';
import { createAggregates, noAggregates, type PageAggregates } from './page-aggregates.ts';
import type { MirroredSource, ReadSource } from './read-sources.ts';
import { createRowsOf } from './read-sources.ts';
import type { GroupArguments, ListPage, ReadContext, Row, SyncView } from './reads.ts';

/** The options that all pages share. */
export interface ListPageOptions {
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
  /** Default: no page is kept. */
  readonly pages?: KeptPages | undefined;
}

/** The query for a page, and the scope that seals its cursors: a cursor opens only for the same caller and the same list. */
export interface PageRequest {
  readonly spec: Omit<QuerySpec, 'countReads'>;
  /**
   * The context of the operation. It counts the objects that are read, and its time slices run all work of the page, including aggregates that are computed
   * later.
   */
  readonly context: Pick<ReadContext, 'countReads' | 'timeSlices'>;
  readonly scope: SealScope;
  /** The number of relations that lead to the rows of the page. Default: 0. */
  readonly depth?: number;
  /** Milliseconds that the relations of the rows may wait for one first list. Default: the limit of the relations themselves. */
  readonly waitMs?: number | undefined;
  /** Sources that were read on the way to the objects of the page. Their objects are not part of the page. Default: none. */
  readonly via?: readonly ReadSource[];
  /** The kinds and relations of the aggregates that may be requested from the page. Default: the page has no aggregates. */
  readonly aggregated?: AggregatesRequest | undefined;
  /**
   * The key by which the page may be kept for later requests: a text of everything that decides its objects, apart from the sources. Default: the page is
   * not kept. Only for pages without aggregates, whose conditions and order depend on the objects of the sources alone.
   */
  readonly keepAs?: string | undefined;
  /** The objects that paths with relations lead to. Default: no path has a relation. */
  readonly related?: RelatedReads | undefined;
}

/** The kinds of the sources, for the paths of the aggregates. */
interface AggregatesRequest extends PathKinds {
  /** The relations that the paths of the aggregates begin with. */
  readonly relations: RelationsByKind;
}

/** Finds the objects to which the objects of a page are related. */
interface RelatedReads {
  /**
   * Returns the lookup of the objects to which the objects of a source are related. Undefined if no path of the query begins with a relation
   * of the kind of the source.
   */
  relatedTo(readSource: MirroredSource): RelatedObjects | undefined;
  /**
   * Returns the sources that were read in a cluster, and the faults of those that could not be read. Called after the last call of
   * `relatedTo`.
   */
  readsIn(cluster: ClusterName): { readonly sources: readonly ReadSource[]; readonly faults: readonly Fault[] };
}

/**
 * Creates one page of the objects in these sources, as of one moment. The caller must hold the leases of the mirrors until the page is
 * complete.
 */
export function createListPage(
  options: ListPageOptions,
  readSources: readonly ReadSource[],
  request: PageRequest,
): PromiseOrValue<ListPage> {
  return request.context.timeSlices.run(listPageInSteps(options, readSources, request));
}

function* listPageInSteps(options: ListPageOptions, readSources: readonly ReadSource[], request: PageRequest): Steps<ListPage> {
  const { spec, context, aggregated, related } = request;
  const held = readSources.filter((readSource) => readSource.type === 'held').map(querySourceOf);
  if (options.pages !== undefined && request.keepAs !== undefined)
    return yield* keptPageInSteps(options.pages, held, { options, readSources, request, keepAs: request.keepAs });
  yield* prepareQuery(held, spec);
  const sources = related === undefined ? held : held.map((source) => ({ ...source, related: related.relatedTo(source.readSource) }));
  const result = yield* queryInSteps(sources, { ...spec, countReads: context.countReads, keepMatches: aggregated !== undefined });
  const matches: SourceMatches[] = [];
  for (const some of result.matches) matches.push(related === undefined ? some : yield* matchesWithRelated(some, request));
  return new QueriedPage({ options, readSources, request, result, matches });
}

interface KeptPageRequest extends Pick<PageContents, 'options' | 'readSources' | 'request'> {
  readonly keepAs: string;
}

/** Finds a page that was kept, or makes the page and keeps it. Both report the same reads. */
function* keptPageInSteps(pages: KeptPages, sources: readonly SourceInQuery[], { keepAs, ...contents }: KeptPageRequest): Steps<ListPage> {
  const { spec, context } = contents.request;
  const known = pages.find(keepAs, sources);
  if (known !== undefined) {
    context.countReads(known.reads);
    return new QueriedPage({ ...contents, result: resultOf(known, sources), matches: [] }, known);
  }
  yield* prepareQuery(sources, spec);
  let reads = 0;
  const countReads = (count: number) => {
    reads += count;
    context.countReads(count);
  };
  // The query begins in the same step, so its result is that of these states, even if objects change before its last step.
  const states = sources.map(sourceStateOf);
  const result = yield* queryInSteps(sources, { ...spec, countReads });
  const indexes = new Map(sources.map((source, index) => [source, index]));
  const { hits, totalCount, hasNextPage, hasPreviousPage } = result;
  const objects = hits.map(({ object }) => object);
  const page = {
    objects,
    sourceIndexes: hits.map(({ source }) => indexes.get(source) ?? 0),
    totalCount,
    hasNextPage,
    hasPreviousPage,
    reads,
  };
  pages.keep(keepAs, states, page);
  return new QueriedPage({ ...contents, result, matches: [] }, page);
}

/** Returns the result of the query of a kept page, with the sources of this request. */
function resultOf(page: KeptPage, sources: readonly SourceInQuery[]): QueryResult<SourceInQuery> {
  let hits: readonly QueryHit<SourceInQuery>[] | undefined;
  return {
    ...page,
    get hits() {
      hits ??= page.objects.flatMap((object, index) => {
        const source = sources[page.sourceIndexes[index] ?? 0];
        return source === undefined ? [] : { source, object };
      });
      return hits;
    },
    matches: [],
    positionOf: defaultPositionOf,
  };
}

/** A mirrored source, with the parts of it that a query reads. */
interface SourceInQuery extends QuerySource {
  readonly readSource: MirroredSource;
  readonly resource: ServedResource;
}

/** Returns the source in the form that a query reads. */
export function querySourceOf(readSource: MirroredSource): SourceInQuery {
  const { request, mirror, visibility } = readSource;
  return {
    readSource,
    cluster: request.cluster,
    kind: request.kind,
    resource: mirror.resource,
    apiVersion: apiVersionOf(mirror.resource),
    store: mirror.store,
    visibility,
  };
}

interface PageContents {
  readonly options: ListPageOptions;
  readonly readSources: readonly ReadSource[];
  readonly request: PageRequest;
  readonly result: QueryResult<SourceInQuery>;
  readonly matches: readonly SourceMatches[];
}

/**
 * One page of a list. A relation creates a page for each object, and most queries select only the items. So the other fields are computed
 * when they are read.
 */
class QueriedPage implements ListPage {
  readonly itemCount: number;
  readonly contentKey: object | undefined;
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #contents: PageContents;
  #items: readonly Row[] | undefined;
  #sync: readonly SyncView[] | undefined;
  #cursors: Map<Row, string> | undefined;
  #aggregates: PageAggregates | undefined;

  /** @param kept The page as it is kept for later requests. Default: it is not kept. */
  constructor(contents: PageContents, kept?: KeptPage) {
    const { result } = contents;
    this.itemCount = kept === undefined ? result.hits.length : kept.objects.length;
    this.contentKey = kept;
    this.totalCount = result.totalCount;
    this.hasNextPage = result.hasNextPage;
    this.hasPreviousPage = result.hasPreviousPage;
    this.#contents = contents;
  }

  get items(): readonly Row[] {
    const { options, request, result } = this.#contents;
    const rowOptions = { sensitive: options.sensitive, depth: request.depth, waitMs: request.waitMs };
    const rowsOf = new Map<SourceInQuery, ReturnType<typeof createRowsOf>>();
    this.#items ??= result.hits.map(({ source, object }) => {
      const known = rowsOf.get(source);
      const rowsOfSource = known ?? createRowsOf(source.readSource, rowOptions);
      if (known === undefined) rowsOf.set(source, rowsOfSource);
      return rowsOfSource(object);
    });
    return this.#items;
  }

  get sync(): readonly SyncView[] {
    const { readSources, request } = this.#contents;
    this.#sync ??= [...readSources, ...(request.via ?? []), ...this.#relatedReads.flatMap(({ sources }) => sources)]
      .flatMap((readSource) => (readSource.type === 'notServed' ? [] : [readSource.sync]))
      .sort(byClusterAndKind);
    return this.#sync;
  }

  /** The faults, each once. Several kinds of one cluster may have the same fault. */
  get faults(): readonly Fault[] {
    const ofParts = this.sync.flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
    return [...new Set([...ofParts, ...this.#relatedReads.flatMap(({ faults }) => faults)])];
  }

  get #relatedReads(): readonly ReturnType<RelatedReads['readsIn']>[] {
    const { readSources, request } = this.#contents;
    const { related } = request;
    if (related === undefined) return [];
    const clusters = new Set(readSources.flatMap((readSource) => (readSource.type === 'held' ? [readSource.request.cluster.name] : [])));
    return [...clusters].map((cluster) => related.readsIn(cluster));
  }

  /**
   * Returns the cursor of an item. Cached, because sealing returns another text at each call, and clients expect `endCursor` to equal the
   * cursor of the last edge.
   */
  cursorOf(row: Row): string {
    this.#cursors ??= new Map();
    const cursor = this.#cursors.get(row) ?? this.#seal(this.#contents.result.hits[this.items.indexOf(row)]);
    this.#cursors.set(row, cursor);
    return cursor;
  }

  #seal(hit: QueryHit<SourceInQuery> | undefined): string {
    const { options, request, result } = this.#contents;
    if (hit === undefined) throw foreignCursor();
    return options.seal.close(printOrderPosition(result.positionOf(hit)), request.scope);
  }

  get #aggregated(): PageAggregates {
    const { options, request, matches } = this.#contents;
    const { aggregated } = request;
    this.#aggregates ??=
      aggregated === undefined ? noAggregates : createAggregates({ ...aggregated, sensitive: options.sensitive }, matches, request.context);
    return this.#aggregates;
  }

  sum(path: string): ReturnType<ListPage['sum']> {
    return this.#aggregated.sum(path);
  }

  min(path: string): ReturnType<ListPage['min']> {
    return this.#aggregated.min(path);
  }

  max(path: string): ReturnType<ListPage['max']> {
    return this.#aggregated.max(path);
  }

  groups(args: GroupArguments): ReturnType<ListPage['groups']> {
    return this.#aggregated.groups(args);
  }
}

/**
 * Looks up the related objects of the matches now and stores them. Aggregates are computed later, but must see the objects of the moment of
 * the page.
 */
function* matchesWithRelated({ source, objects }: SourceMatches, { aggregated, context }: PageRequest): Steps<SourceMatches> {
  const { related } = source;
  const relations = aggregated?.relations.get(source.kind);
  if (related === undefined || relations === undefined) return { source: { ...source, related: undefined }, objects };
  const reads = createReadCounter(context.countReads);
  const found = new Map<string, Map<KubernetesObject, RelatedObject | undefined>>();
  for (const relation of relations) {
    const ofRelation = new Map<KubernetesObject, RelatedObject | undefined>();
    found.set(relation.name, ofRelation);
    for (const object of objects) {
      ofRelation.set(object, related.find(relation, object));
      if (reads.add(1)) yield;
    }
  }
  reads.end();
  const { unknown } = related;
  return { source: { ...source, related: { unknown, find: ({ name }, object) => found.get(name)?.get(object) } }, objects };
}

function byClusterAndKind(a: SyncView, b: SyncView): number {
  return compareText(a.cluster.name, b.cluster.name) || compareText(keyOfKind(a.kind), keyOfKind(b.kind));
}
