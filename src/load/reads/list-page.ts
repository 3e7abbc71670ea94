import type { Fault } from '../../core/faults.ts';
import { apiVersionOf, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import { compareText } from '../../core/text.ts';
import type { AskedOfKinds } from '../../model/paths/paths-of-kinds.ts';
import { createReadCounter } from '../../store/query/count-reads.ts';
import { printOrderPosition } from '../../store/query/cursor.ts';
import {
  prepareQuery,
  type QueryHit,
  type QueryResult,
  type QuerySpec,
  queryInSteps,
  type SourceMatches,
} from '../../store/query/query.ts';
import type { QuerySource, RelatedObject, RelatedObjects } from '../../store/query-source.ts';
import { foreignCursor, type Seal, type SealScope } from './cursor-seal.ts';
import type { BegunRelations } from './list-arguments.ts';
import { createAggregates, noAggregates, type PageAggregates } from './page-aggregates.ts';
import type { HeldPart, Part } from './read-sources.ts';
import { rowOf } from './read-sources.ts';
import type { GroupArguments, Listed, ReadContext, Row, SyncView } from './reads.ts';

/** What a page is made with, wherever its parts come from. */
export interface ListedOptions {
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
}

/** What is asked of parts, and what its cursors are good for. */
export interface AskedPage {
  readonly spec: Omit<QuerySpec, 'look'>;
  /** The operation's own. It counts what is looked at, and its slices run all work of the page, also what is computed later. */
  readonly context: Pick<ReadContext, 'look' | 'timeSlices'>;
  readonly scope: SealScope;
  /** Of its rows: how many relations lead to them. */
  readonly depth?: number;
  /** Of its rows, as in `Row`. */
  readonly waitMs?: number | undefined;
  /** Parts that were read on the way, whose objects are none of the page's. */
  readonly via?: readonly Part[];
  /** What is computed from all that matches. Absent: nothing is. */
  readonly aggregated?: AskedAggregates | undefined;
  /** Where paths go on that begin with relations. Absent: none does. */
  readonly related?: RelatedParts | undefined;
}

/** The kinds of the parts, for paths through them. */
interface AskedAggregates extends AskedOfKinds {
  /** With which the paths begin that will be asked for. */
  readonly relations: BegunRelations;
}

/** What the objects of parts lead to. */
interface RelatedParts {
  of(part: HeldPart): RelatedObjects | undefined;
  /** What was read in a cluster, and why some of it could not be. Asked when `of` will be no more. */
  readIn(cluster: ClusterName): { readonly parts: readonly Part[]; readonly faults: readonly Fault[] };
}

/** One page of what these parts hold, all of one moment. They are held until it is there. */
export function listedOf(options: ListedOptions, parts: readonly Part[], asked: AskedPage): PromiseOrValue<Listed> {
  return asked.context.timeSlices.run(listedInSteps(options, parts, asked));
}

function* listedInSteps(options: ListedOptions, parts: readonly Part[], asked: AskedPage): Steps<Listed> {
  const { spec, context, aggregated, related } = asked;
  const held = parts.filter((part) => part.type === 'held').map(sourceOf);
  yield* prepareQuery(held, spec);
  const sources = related === undefined ? held : held.map((source) => ({ ...source, related: related.of(source.part) }));
  const result = yield* queryInSteps(sources, { ...spec, countReads: context.look, keepMatches: aggregated !== undefined });
  const matches: SourceMatches[] = [];
  for (const some of result.matches) matches.push(related === undefined ? some : yield* keepRelated(some, asked));
  return new ListedPage({ options, parts, asked, result, matches });
}

/** A part that is held, as a query reads it. */
interface PartSource extends QuerySource {
  readonly part: HeldPart;
}

/** What a query reads of it. */
export function sourceOf(part: HeldPart): PartSource {
  const { ask, mirror, sight } = part;
  return { part, cluster: ask.cluster, kind: ask.kind, apiVersion: apiVersionOf(mirror.resource), store: mirror.store, visibility: sight };
}

interface Made {
  readonly options: ListedOptions;
  readonly parts: readonly Part[];
  readonly asked: AskedPage;
  readonly result: QueryResult<PartSource>;
  readonly matches: readonly SourceMatches[];
}

/** A relation makes one for each object, of which most are asked for their items alone: the rest is made when it is read. */
class ListedPage implements Listed {
  readonly items: readonly Row[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #made: Made;
  #sync: readonly SyncView[] | undefined;
  #cursors: Map<Row, string> | undefined;
  #aggregates: PageAggregates | undefined;

  constructor(made: Made) {
    const { options, asked, result } = made;
    const rowOptions = { sensitive: options.sensitive, depth: asked.depth, waitMs: asked.waitMs };
    this.items = result.hits.map(({ source, object }) => rowOf(source.part, object, rowOptions));
    this.totalCount = result.totalCount;
    this.hasNextPage = result.hasNextPage;
    this.hasPreviousPage = result.hasPreviousPage;
    this.#made = made;
  }

  get sync(): readonly SyncView[] {
    const { parts, asked } = this.#made;
    this.#sync ??= [...parts, ...(asked.via ?? []), ...this.#ledTo.flatMap((ledTo) => ledTo.parts)]
      .flatMap((part) => (part.type === 'notServed' ? [] : [part.sync]))
      .sort(byClusterAndKind);
    return this.#sync;
  }

  /** Each once, also where one fault of a cluster stands for several of its kinds. */
  get faults(): readonly Fault[] {
    const ofParts = this.sync.flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
    return [...new Set([...ofParts, ...this.#ledTo.flatMap(({ faults }) => faults)])];
  }

  get #ledTo(): readonly ReturnType<RelatedParts['readIn']>[] {
    const { parts, asked } = this.#made;
    const { related } = asked;
    if (related === undefined) return [];
    const clusters = new Set(parts.flatMap((part) => (part.type === 'held' ? [part.ask.cluster.name] : [])));
    return [...clusters].map((cluster) => related.readIn(cluster));
  }

  /** A seal gives another text at each call, and clients take the cursor of the last edge and `endCursor` for one. */
  cursorOf(row: Row): string {
    this.#cursors ??= new Map();
    const cursor = this.#cursors.get(row) ?? this.#seal(this.#made.result.hits[this.items.indexOf(row)]);
    this.#cursors.set(row, cursor);
    return cursor;
  }

  #seal(hit: QueryHit<PartSource> | undefined): string {
    const { options, asked, result } = this.#made;
    if (hit === undefined) throw foreignCursor();
    return options.seal.close(printOrderPosition(result.positionOf(hit)), asked.scope);
  }

  get #aggregated(): PageAggregates {
    const { options, asked, matches } = this.#made;
    const { aggregated } = asked;
    this.#aggregates ??=
      aggregated === undefined ? noAggregates : createAggregates({ ...aggregated, sensitive: options.sensitive }, matches, asked.context);
    return this.#aggregates;
  }

  sum(path: string): ReturnType<Listed['sum']> {
    return this.#aggregated.sum(path);
  }

  min(path: string): ReturnType<Listed['min']> {
    return this.#aggregated.min(path);
  }

  max(path: string): ReturnType<Listed['max']> {
    return this.#aggregated.max(path);
  }

  groups(args: GroupArguments): ReturnType<Listed['groups']> {
    return this.#aggregated.groups(args);
  }
}

/** Aggregates are asked later than the page is made, but are of its moment. */
function* keepRelated({ source, objects }: SourceMatches, { aggregated, context }: AskedPage): Steps<SourceMatches> {
  const { related } = source;
  const relations = aggregated?.relations.get(source.kind);
  if (related === undefined || relations === undefined) return { source: { ...source, related: undefined }, objects };
  const looks = createReadCounter(context.look);
  const found = new Map<string, Map<KubernetesObject, RelatedObject | undefined>>();
  for (const relation of relations) {
    const ofRelation = new Map<KubernetesObject, RelatedObject | undefined>();
    found.set(relation.name, ofRelation);
    for (const object of objects) {
      ofRelation.set(object, related.find(relation, object));
      if (looks.add(1)) yield;
    }
  }
  looks.end();
  const { unknown } = related;
  return { source: { ...source, related: { unknown, find: ({ name }, object) => found.get(name)?.get(object) } }, objects };
}

function byClusterAndKind(a: SyncView, b: SyncView): number {
  return compareText(a.cluster.name, b.cluster.name) || compareText(keyOfKind(a.kind), keyOfKind(b.kind));
}
