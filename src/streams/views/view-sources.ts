import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { ClusterViews } from '../../load/reads/cluster-views.ts';
import { MirrorLoader } from '../../load/reads/mirror-loader.ts';
import type { ClusterView, SyncView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ListConditions } from '../../store/filter/matching.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { Mirrors, MirrorsChange } from '../../watch/mirrors.ts';
import type { CountsByCluster, PhaseCounts } from '../messages/job-phase-counter.ts';
import type { SourceSlice } from '../messages/message-drafts.ts';
import { type SourcePosition, type SourcePositions, sourceKey } from '../messages/stream-cursor.ts';
import type { SourceBudget } from './source-budget.ts';
import { ViewSource } from './view-source.ts';
import type { WatchScope } from './watch-scope.ts';

/** What a view selects, whoever reads it. */
export interface ViewQuery {
  readonly kinds: readonly ModelKind[];
  /** By name; absent: every cluster that may be seen, also those that join. */
  readonly clusters: readonly ClusterName[] | undefined;
  readonly conditions: ListConditions;
  /** Jobs are counted. */
  readonly countsJobs: boolean;
  /** What cursors are bound to. */
  readonly filter: string;
}

interface ViewSourcesOptions {
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly views: ClusterViews;
  readonly sensitive: SensitiveKinds;
  /** Where all that are held open are counted. */
  readonly sources: SourceBudget;
  readonly query: ViewQuery;
  readonly scope: WatchScope;
  /** There may be news in one of them. */
  readonly onNews: () => void;
  /** Runs what code of the selection is in, and answers for what it throws. */
  readonly guard: (action: () => void) => void;
}

/** What those in step know of all sources. */
export interface ViewPositions {
  readonly positions: SourcePositions;
  readonly counts: CountsByCluster;
  /** How true the first kind was, where it is counted: every cluster asked, by name. */
  readonly syncs: readonly SyncView[];
}

/** Made in one piece: about 1 ms. */
const atOnce = 16;

/**
 * The sources of one view: every kind asked of every cluster asked, as far as they are in its scope. What a cut costs grows with those that have
 * something to say, not with those that there are.
 */
export class ViewSources {
  readonly #options: ViewSourcesOptions;
  readonly #loader: MirrorLoader;
  readonly #all = new Map<string, ViewSource>();
  /** Clusters whose sources there are, or are to be made. */
  readonly #begun = new Set<ClusterName>();
  #missing: (readonly [ClusterName, ModelKind])[] = [];
  #loading: Promise<unknown> | undefined;
  /** Those that have heard something since they were cut. */
  readonly #news = new Set<ViewSource>();
  /** The how-many-eth each is: the order in which they speak. */
  readonly #places = new Map<ViewSource, number>();
  #place = 0;
  #vector = new Map<string, SourcePosition>();
  /** Messages are made of it later: it is not written to any more. */
  #isGivenOut = false;

  /** None yet: `beginRequest`. */
  constructor(options: ViewSourcesOptions) {
    this.#options = options;
    this.#loader = new MirrorLoader(options);
    this.addMissing(options.mirrors.members());
  }

  /** By `sourceKey`. */
  get all(): ReadonlyMap<string, ViewSource> {
    return this.#all;
  }

  /** None is still to be made. */
  get areComplete(): boolean {
    return this.#missing.length === 0;
  }

  get hasNews(): boolean {
    for (const source of this.#news) if (source.hasNews) return true;
    return false;
  }

  /** One whose mirror has said that nothing changed. */
  get confirmed(): ViewSource | undefined {
    for (const source of this.#news) if (source.confirmed && source.known.position !== undefined) return source;
    return undefined;
  }

  get positions(): ViewPositions {
    const vector: SourcePositions = this.#vector;
    this.#isGivenOut = true;
    if (!this.#options.query.countsJobs) return { positions: vector, counts: new Map(), syncs: [] };
    const counts = new Map<ClusterName, PhaseCounts>();
    for (const { name, jobCounter } of this.#all.values()) if (jobCounter !== undefined) counts.set(name, jobCounter.counts);
    return { positions: vector, counts, syncs: this.#syncs() };
  }

  /** The same state, with the age of this moment: of clusters where nothing happens no cut takes note. */
  withCurrentAge(told: SyncView): SyncView {
    const now = this.#all.get(sourceKey(told.cluster.name, told.kind))?.sync;
    return now !== undefined && now.phase === told.phase && now.fault?.code === told.fault?.code ? now : told;
  }

  /** True for a cluster that the query is about, whether or not it may be seen. */
  concerns(cluster: ClusterName): boolean {
    const { clusters } = this.#options.query;
    return clusters === undefined || clusters.includes(cluster);
  }

  /** What the scope has of these clusters, or of those named, is to be made, unless it is there. */
  addMissing(members: Iterable<ClusterName>): void {
    const { query, sources } = this.#options;
    for (const cluster of query.clusters ?? members) {
      if (this.#begun.has(cluster)) continue;
      this.#begun.add(cluster);
      sources.add(query.kinds.length);
      for (const kind of query.kinds) this.#missing.push([cluster, kind]);
    }
    this.#loadMissing();
  }

  /** Loads the mirrors of all missing sources in one batch, so that most sources find theirs when they are made. */
  #loadMissing(): void {
    const { scope, query, onNews } = this.#options;
    const { namespaces } = query.conditions;
    const seen = this.#missing.filter(([name, kind]) => (scope.sightOf(name, kind)?.type ?? 'none') !== 'none');
    const loading = this.#loader.loadAll(seen.map(([name, kind]) => ({ cluster: { name }, kind, namespaces })));
    if (!(loading instanceof Promise)) return;
    const end = () => {
      if (this.#loading === loading) this.#loading = undefined;
      onNews();
    };
    this.#loading = loading;
    // What fails now fails once more where a source loads its mirror, which answers for it.
    loading.then(end, end);
  }

  /**
   * Makes some of those that are missing. Where nobody is told, what these know need not wait for the turn in which the first ones are. False while
   * their mirrors are being loaded: `onNews` is called when they are there.
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

  /** What has become of a cluster. What may be seen of new ones is asked before they are added. */
  mirrorsChanged(change: MirrorsChange): void {
    if (change.type === 'mirrored') this.#all.get(sourceKey(change.cluster, change.kind))?.checkPhase();
    else this.refresh(change.cluster);
  }

  refresh(cluster: ClusterName): void {
    const { views, query } = this.#options;
    const view = views.member(cluster);
    for (const kind of query.kinds) this.#all.get(sourceKey(cluster, kind))?.refresh(view);
  }

  /** The clusters that there are sources of. */
  get clusters(): ReadonlySet<ClusterName> {
    return this.#begun;
  }

  /**
   * Takes in all there is to know up to now: of those that have heard something, or of all. What one has not heard yet changes nothing of what was
   * said of it: it is told, from the same position, with the next cut.
   */
  pull(which: 'news' | 'all'): void {
    for (const source of which === 'news' ? [...this.#news] : this.#all.values()) source.pull();
  }

  /** What is new of each since the last cut. */
  cut(readers: 'some' | 'none'): readonly SourceSlice[] {
    const parts: SourceSlice[] = [];
    const cut = [...this.#news].sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
    this.#news.clear();
    for (const source of cut) {
      const part = source.cut(readers);
      if (part !== undefined) parts.push(part);
      if (source.hasNews) this.#news.add(source);
      if (source.hasLeft && !this.#isNamed && !this.#options.mirrors.members().has(source.name)) this.#remove(source);
    }
    this.#know(cut);
    return parts;
  }

  end(): void {
    for (const source of this.#all.values()) source.end();
    this.#loader[Symbol.dispose]();
    this.#options.sources.add(-this.#all.size - this.#missing.length);
    this.#missing = [];
    this.#all.clear();
    this.#news.clear();
    this.#places.clear();
  }

  #placeOf(source: ViewSource): number {
    return this.#places.get(source) ?? 0;
  }

  #know(cut: readonly ViewSource[]): void {
    if (cut.length === 0) return;
    if (this.#isGivenOut) this.#vector = new Map(this.#vector);
    this.#isGivenOut = false;
    const vector = this.#vector;
    for (const { key, known } of cut) {
      if (known.position === undefined) vector.delete(key);
      else vector.set(key, known.position);
    }
    this.#vector = vector;
  }

  #remove(source: ViewSource): void {
    this.#all.delete(source.key);
    this.#news.delete(source);
    this.#places.delete(source);
    this.#begun.delete(source.name);
    this.#options.sources.add(-1);
  }

  #syncs(): readonly SyncView[] {
    const asked = [...this.#all.values()].filter((source) => this.#isNamed || !source.hasLeft);
    return asked.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ syncAtCut: syncTold }) => syncTold);
  }

  get #isNamed(): boolean {
    return this.#options.query.clusters !== undefined;
  }

  /** False if the scope has nothing of it, or it is there. */
  #add(name: ClusterName, kind: ModelKind, scope: WatchScope): boolean {
    const key = sourceKey(name, kind);
    const sight = scope.sightOf(name, kind);
    if (sight === undefined || this.#all.has(key)) return false;
    const { mirrors, views, query, sensitive, onNews, guard } = this.#options;
    const loader = this.#loader;
    const { conditions, countsJobs } = query;
    const cluster = views.member(name) ?? unknownCluster(name);
    const seen: QueryVisibility | Fault = sight.type === 'none' ? sight.fault : sight;
    const stir = (): void => {
      if (source !== undefined) this.#news.add(source);
      onNews();
    };
    // Whatever it hears moves its position.
    const hear = (action: () => void): void => {
      if (source !== undefined) this.#news.add(source);
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
      sight: seen,
      onNews: stir,
      guard: hear,
    });
    this.#all.set(key, source);
    this.#places.set(source, this.#place++);
    this.#news.add(source);
    return true;
  }
}

/** A cluster that is not there: nothing is known of it but its name. */
export function unknownCluster(name: ClusterName): ClusterView {
  return { name, labels: {}, taints: [], zones: [], phase: 'UNREACHABLE', faults: [] };
}
