import type { Fault } from '../core/faults.ts';
import { apiVersionOf, keyOfKind } from '../core/kinds.ts';
import type { SensitiveKinds } from '../core/sensitive-kinds.ts';
import type { AskedOfKinds } from '../model/paths-of-kinds.ts';
import { printPosition } from '../store/cursor.ts';
import { type Hit, type QueryResult, type QuerySpec, runQuery } from '../store/query.ts';
import type { QuerySource } from '../store/query-source.ts';
import { createAggregates, noAggregates, type PageAggregates } from './aggregates.ts';
import type { HeldPart, Part } from './parts.ts';
import type { GroupArguments, GroupView, Listed, Row, SyncView } from './reads.ts';
import { rowOf } from './rows.ts';
import { foreignCursor, type Seal, type SealScope } from './seal.ts';

/** What a page is made with, wherever its parts come from. */
export interface ListedOptions {
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
}

/** What is asked of parts, and what its cursors are good for. */
export interface AskedPage {
  readonly spec: QuerySpec;
  readonly scope: SealScope;
  /** Of its rows: how many relations lead to them. */
  readonly depth?: number;
  /** Parts that were read on the way, whose objects are none of the page's. */
  readonly via?: readonly Part[];
  /** The kinds of its parts, for paths through them. Absent: nothing is computed from what matches. */
  readonly aggregated?: AskedOfKinds | undefined;
}

/** One page of what these parts hold, as they are now. */
export function listedOf(options: ListedOptions, parts: readonly Part[], asked: AskedPage): Listed {
  const { spec, aggregated } = asked;
  const result = runQuery(parts.filter((part) => part.type === 'held').map(sourceOf), { ...spec, keepMatches: aggregated !== undefined });
  return new ListedPage({ options, parts, asked, result });
}

/** A part that is held, as a query reads it. */
interface PartSource extends QuerySource {
  readonly part: HeldPart;
}

/** What a query reads of it. */
export function sourceOf(part: HeldPart): PartSource {
  const { ask, mirror, sight } = part;
  return { part, cluster: ask.cluster, kind: ask.kind, apiVersion: apiVersionOf(mirror.resource), store: mirror.store, sight };
}

interface Made {
  readonly options: ListedOptions;
  readonly parts: readonly Part[];
  readonly asked: AskedPage;
  readonly result: QueryResult<PartSource>;
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
    const rowOptions = { sensitive: options.sensitive, depth: asked.depth };
    this.items = result.hits.map(({ source, object }) => rowOf(source.part, object, rowOptions));
    this.totalCount = result.totalCount;
    this.hasNextPage = result.hasNextPage;
    this.hasPreviousPage = result.hasPreviousPage;
    this.#made = made;
  }

  get sync(): readonly SyncView[] {
    const { parts, asked } = this.#made;
    this.#sync ??= [...parts, ...(asked.via ?? [])]
      .flatMap((part) => (part.type === 'notServed' ? [] : [part.sync]))
      .sort(byClusterAndKind);
    return this.#sync;
  }

  /** Each once, also where one fault of a cluster stands for several of its kinds. */
  get faults(): readonly Fault[] {
    return [...new Set(this.sync.flatMap(({ fault }) => (fault === undefined ? [] : [fault])))];
  }

  /** A seal gives another text at each call, and clients take the cursor of the last edge and `endCursor` for one. */
  cursorOf(row: Row): string {
    this.#cursors ??= new Map();
    const cursor = this.#cursors.get(row) ?? this.#seal(this.#made.result.hits[this.items.indexOf(row)]);
    this.#cursors.set(row, cursor);
    return cursor;
  }

  #seal(hit: Hit<PartSource> | undefined): string {
    const { options, asked, result } = this.#made;
    if (hit === undefined) throw foreignCursor();
    return options.seal.close(printPosition(result.positionOf(hit)), asked.scope);
  }

  get #aggregated(): PageAggregates {
    const { options, asked, result } = this.#made;
    const { aggregated } = asked;
    this.#aggregates ??=
      aggregated === undefined ? noAggregates : createAggregates({ ...aggregated, sensitive: options.sensitive }, result.matches);
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

  groups(args: GroupArguments): readonly GroupView[] {
    return this.#aggregated.groups(args);
  }
}

function byClusterAndKind(a: SyncView, b: SyncView): number {
  return compareText(a.cluster.name, b.cluster.name) || compareText(keyOfKind(a.kind), keyOfKind(b.kind));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
