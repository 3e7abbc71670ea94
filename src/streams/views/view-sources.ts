import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { ClusterViews } from '../../load/reads/cluster-views.ts';
import { MirrorLoader } from '../../load/reads/mirror-loader.ts';
import type { ClusterView, SyncView } from '../../load/reads/reads.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { ListConditions } from '../../store/filter/matching.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { Mirrors, MirrorsChange } from '../../watch/mirrors.ts';
import type { PhaseCounts, PhaseCountsByCluster } from '../messages/job-phase-counter.ts';
import type { SourceSlice } from '../messages/message-drafts.ts';
import { type SourcePosition, type SourcePositions, sourceKey } from '../messages/stream-cursor.ts';
import type { SourceBudget } from './source-budget.ts';
import { ViewSource } from './view-source.ts';
import type { WatchScope } from './watch-scope.ts';

/** The kinds, clusters and objects that a view selects. */
export interface ViewQuery {
  readonly kinds: readonly ModelKind[];
  /** The requested clusters. Undefined: all clusters that are visible to the caller, also those that join later. */
  readonly clusters: readonly ClusterName[] | undefined;
  readonly conditions: ListConditions;
  /** True if the stream has summaries of Jobs. */
  readonly countsJobs: boolean;
  /** The canonical text of the filter. Cursors are bound to it. */
  readonly filter: string;
}

interface ViewSourcesOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly views: ClusterViews;
  readonly sensitive: SensitiveKinds;
  /** Counts the open sources of all views. */
  readonly sources: SourceBudget;
  readonly query: ViewQuery;
  readonly scope: WatchScope;
  /** Called when a source may have news. */
  readonly onNews: () => void;
  /** Runs an action that applies the filter. If the action throws, the streams of the view end. */
  readonly guard: (action: () => void) => void;
}

/** The knowledge of readers in step about all sources. */
export interface ViewPositions {
  readonly positions: SourcePositions;
  readonly counts: PhaseCountsByCluster;
  /** The sync of the Jobs in each requested cluster, ordered by cluster name. Empty if the view does not count Jobs. */
  readonly syncs: readonly SyncView[];
}

/** Number of sources that are made in one piece of work of about 1 ms. */
const atOnce = 16;

/**
 * The sources of one view: each requested kind of each requested cluster, as far as the scope covers them. The cost of a cut grows with the
 * sources that have news, not with all sources.
 */
export class ViewSources {
  readonly #options: ViewSourcesOptions;
  readonly #loader: MirrorLoader;
  readonly #all = new Map<string, ViewSource>();
  /** Clusters whose sources exist or will be made. */
  readonly #clusters = new Set<ClusterName>();
  #missing: (readonly [ClusterName, ModelKind])[] = [];
  #loading: Promise<unknown> | undefined;
  /** Sources that have had events since their last cut. */
  readonly #withNews = new Set<ViewSource>();
  /** Insertion index. A cut sends the sources in this order. */
  readonly #order = new Map<ViewSource, number>();
  #nextOrder = 0;
  #positions = new Map<string, SourcePosition>();
  /** True if messages use the current map of positions. The next change then makes a copy. */
  #arePositionsShared = false;

  /** Plans one source for each cluster and kind, and starts to load their mirrors. `makeMissing` creates the sources. */
  constructor(options: ViewSourcesOptions) {
    this.#options = options;
    this.#loader = new MirrorLoader(options);
    this.addMissing(options.mirrors.members());
  }

  /** All sources, by `sourceKey`. */
  get all(): ReadonlyMap<string, ViewSource> {
    return this.#all;
  }

  /** True if no source has to be made. */
  get areComplete(): boolean {
    return this.#missing.length === 0;
  }

  get hasNews(): boolean {
    for (const source of this.#withNews) if (source.hasNews) return true;
    return false;
  }

  /**
   * A source whose mirror has confirmed since the last cut that nothing changed, and whose position readers in step know. Undefined if
   * there is none.
   */
  get confirmed(): ViewSource | undefined {
    for (const source of this.#withNews) if (source.confirmed && source.known.position !== undefined) return source;
    return undefined;
  }

  get positions(): ViewPositions {
    const vector: SourcePositions = this.#positions;
    this.#arePositionsShared = true;
    if (!this.#options.query.countsJobs) return { positions: vector, counts: new Map(), syncs: [] };
    const counts = new Map<ClusterName, PhaseCounts>();
    for (const { name, jobCounter } of this.#all.values()) if (jobCounter !== undefined) counts.set(name, jobCounter.counts);
    return { positions: vector, counts, syncs: this.#syncs() };
  }

  /**
   * Returns the current sync if only its age differs from the sent one, and otherwise the sent one. Without changes, no cut updates the
   * age.
   */
  withCurrentAge(sent: SyncView): SyncView {
    const now = this.#all.get(sourceKey(sent.cluster.name, sent.kind))?.sync;
    return now !== undefined && now.phase === sent.phase && now.fault?.code === sent.fault?.code ? now : sent;
  }

  /** True if the query is about this cluster, whether or not the caller may see it. */
  concerns(cluster: ClusterName): boolean {
    const { clusters } = this.#options.query;
    return clusters === undefined || clusters.includes(cluster);
  }

  /**
   * Plans the sources of these clusters that do not exist yet, and loads their mirrors. If the query names clusters, only the named
   * clusters get sources.
   */
  addMissing(members: Iterable<ClusterName>): void {
    const { query, sources } = this.#options;
    for (const cluster of query.clusters ?? members) {
      if (this.#clusters.has(cluster)) continue;
      this.#clusters.add(cluster);
      sources.add(query.kinds.length);
      for (const kind of query.kinds) this.#missing.push([cluster, kind]);
    }
    this.#loadMissing();
  }

  /** Loads the mirrors of all missing sources in one batch, so that most sources find their mirror when they are made. */
  #loadMissing(): void {
    const { scope, query, onNews } = this.#options;
    const { namespaces } = query.conditions;
    const seen = this.#missing.filter(([name, kind]) => (scope.visibilityOf(name, kind)?.type ?? 'none') !== 'none');
    const loading = this.#loader.loadAll(seen.map(([name, kind]) => ({ cluster: { name }, kind, namespaces })));
    if (!(loading instanceof Promise)) return;
    const end = () => {
      if (this.#loading === loading) this.#loading = undefined;
      onNews();
    };
    this.#loading = loading;
    // Errors are dropped here. The source loads its mirror again and handles the error.
    loading.then(end, end);
  }

  /**
   * Makes some of the missing sources and returns true. While their mirrors load, makes none and returns false. `onNews` is called when
   * they have loaded.
   *
   * @param readers `none` if the view has no readers yet: the new sources then need no message.
   */
  makeMissing(readers: 'some' | 'none'): boolean {
    const { scope, sources } = this.#options;
    if (this.#loading !== undefined) return false;
    for (const [cluster, kind] of this.#missing.splice(0, atOnce)) if (!this.#add(cluster, kind, scope)) sources.add(-1);
    if (readers === 'none') {
      this.pull('news');
      this.cut('none');
    }
    return true;
  }

  /** Handles a change of a cluster or of a mirror. A new cluster gets its sources later, when the rights on it are known. */
  mirrorsChanged(change: MirrorsChange): void {
    if (change.type === 'mirrored') this.#all.get(sourceKey(change.cluster, change.kind))?.checkPhase();
    else this.refresh(change.cluster);
  }

  refresh(cluster: ClusterName): void {
    const { views, query } = this.#options;
    const view = views.member(cluster);
    for (const kind of query.kinds) this.#all.get(sourceKey(cluster, kind))?.refresh(view);
  }

  /** The clusters with sources in this view. */
  get clusters(): ReadonlySet<ClusterName> {
    return this.#clusters;
  }

  /**
   * Makes the mirrors deliver their waiting events at once, so that the next cut has them. `all`: for every source. `news`: only for
   * sources that have had events since the last cut; waiting events of other sources belong to a later cut.
   */
  pull(which: 'news' | 'all'): void {
    for (const source of which === 'news' ? [...this.#withNews] : this.#all.values()) source.pull();
  }

  /**
   * Cuts all sources with news, and returns their slices in insertion order. Updates the positions, and removes the sources of clusters
   * that have left.
   */
  cut(readers: 'some' | 'none'): readonly SourceSlice[] {
    const slices: SourceSlice[] = [];
    const cut = [...this.#withNews].sort((a, b) => this.#orderOf(a) - this.#orderOf(b));
    this.#withNews.clear();
    for (const source of cut) {
      const slice = source.cut(readers);
      if (slice !== undefined) slices.push(slice);
      if (source.hasNews) this.#withNews.add(source);
      if (source.hasLeft && !this.#isNamed && !this.#options.mirrors.members().has(source.name)) this.#remove(source);
    }
    this.#recordPositions(cut);
    return slices;
  }

  end(): void {
    for (const source of this.#all.values()) source.end();
    this.#loader[Symbol.dispose]();
    this.#options.sources.add(-this.#all.size - this.#missing.length);
    this.#missing = [];
    this.#all.clear();
    this.#withNews.clear();
    this.#order.clear();
  }

  #orderOf(source: ViewSource): number {
    return this.#order.get(source) ?? 0;
  }

  #recordPositions(cut: readonly ViewSource[]): void {
    if (cut.length === 0) return;
    if (this.#arePositionsShared) this.#positions = new Map(this.#positions);
    this.#arePositionsShared = false;
    const vector = this.#positions;
    for (const { key, known } of cut) {
      if (known.position === undefined) vector.delete(key);
      else vector.set(key, known.position);
    }
    this.#positions = vector;
  }

  #remove(source: ViewSource): void {
    this.#all.delete(source.key);
    this.#withNews.delete(source);
    this.#order.delete(source);
    this.#clusters.delete(source.name);
    this.#options.sources.add(-1);
  }

  #syncs(): readonly SyncView[] {
    const asked = [...this.#all.values()].filter((source) => this.#isNamed || !source.hasLeft);
    return asked.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ syncAtCut: syncTold }) => syncTold);
  }

  get #isNamed(): boolean {
    return this.#options.query.clusters !== undefined;
  }

  /** Creates a source. Returns false if the scope does not cover the source, or if the source exists already. */
  #add(name: ClusterName, kind: ModelKind, scope: WatchScope): boolean {
    const key = sourceKey(name, kind);
    const visibility = scope.visibilityOf(name, kind);
    if (visibility === undefined || this.#all.has(key)) return false;
    const { mirrors, views, query, sensitive, onNews, guard } = this.#options;
    const loader = this.#loader;
    const { conditions, countsJobs } = query;
    const cluster = views.member(name) ?? unknownCluster(name);
    const visibilityOrFault: QueryVisibility | Fault = visibility.type === 'none' ? visibility.fault : visibility;
    const noteNews = (): void => {
      if (source !== undefined) this.#withNews.add(source);
      onNews();
    };
    // Every event moves the position of the source, so the source is part of the next cut even if no object of the selection changes.
    const runNoted = (action: () => void): void => {
      if (source !== undefined) this.#withNews.add(source);
      guard(action);
    };
    let source: ViewSource | undefined;
    source = new ViewSource({
      mirrors,
      loader,
      query: { conditions, countsJobs, named: this.#isNamed },
      cluster,
      clusterNow: () => views.member(name),
      kind,
      sensitive: sensitive.has(kind),
      visibility: visibilityOrFault,
      onNews: noteNews,
      runNoted,
    });
    this.#all.set(key, source);
    this.#order.set(source, this.#nextOrder++);
    this.#withNews.add(source);
    return true;
  }
}

/** Returns a cluster that is no member. Only its name is known. */
export function unknownCluster(name: ClusterName): ClusterView {
  return { name, labels: {}, taints: [], zones: [], phase: 'UNREACHABLE', faults: [] };
}

/**
 * Returns false if the model lacks one of these kinds, or if every one of these kinds has lost its last cluster since the stream began.
 * Otherwise true.
 */
export function areServed(kinds: readonly ModelKind[], model: Model['kinds']): boolean {
  const now = kinds.map((kind) => ({ kind, known: model.get(keyOfKind(kind)) }));
  const isAbsent = now.some(({ known }) => known === undefined);
  const isForsaken = now.every(({ kind, known }) => known?.deprecated !== undefined && kind.deprecated === undefined);
  return !isAbsent && !isForsaken;
}
