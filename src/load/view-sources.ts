import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';
import type { ModelKind } from '../model/model.ts';
import type { Conditions } from '../store/matching.ts';
import type { QuerySight } from '../store/query-source.ts';
import type { Mirrors, MirrorsChange } from '../watch/mirrors.ts';
import type { ClusterViews } from './cluster-views.ts';
import type { ClusterView, SyncView } from './reads.ts';
import type { SensitiveKinds } from './sensitive-kinds.ts';
import { type Position, sourceKey, type Vector } from './stream-cursor.ts';
import type { Part } from './stream-draft.ts';
import type { Scope } from './stream-scope.ts';
import type { Counts, PhaseCounts } from './tally.ts';
import { ViewSource } from './view-source.ts';

/** What a view selects, whoever reads it. */
export interface ViewQuestion {
  readonly kinds: readonly ModelKind[];
  /** By name; absent: every cluster that may be seen, also those that join. */
  readonly clusters: readonly ClusterName[] | undefined;
  readonly conditions: Conditions;
  /** Jobs are counted. */
  readonly tallied: boolean;
  /** What cursors are bound to. */
  readonly filter: string;
}

export interface ViewSourcesOptions {
  readonly mirrors: Mirrors;
  readonly views: ClusterViews;
  readonly sensitive: SensitiveKinds;
  readonly question: ViewQuestion;
  readonly scope: Scope;
  /** There may be news in one of them. */
  readonly onNews: () => void;
  /** Runs what code of the selection is in, and answers for what it throws. */
  readonly guard: (action: () => void) => void;
}

/** What those in step know of all sources. */
export interface Standing {
  readonly vector: Vector;
  readonly counts: Counts;
  /** How true the first kind was, where it is counted: every cluster asked, by name. */
  readonly syncs: readonly SyncView[];
}

/** The sources of one view: every kind asked of every cluster asked, as far as they are in its scope. */
export class ViewSources {
  readonly #options: ViewSourcesOptions;
  readonly #all = new Map<string, ViewSource>();

  constructor(options: ViewSourcesOptions) {
    this.#options = options;
    this.addMissing(options.mirrors.clusters().map(({ name }) => name));
  }

  /** By `sourceKey`. */
  get all(): ReadonlyMap<string, ViewSource> {
    return this.#all;
  }

  get hasNews(): boolean {
    for (const source of this.#all.values()) if (source.hasNews) return true;
    return false;
  }

  /** One whose mirror has said that nothing changed. */
  get confirmed(): ViewSource | undefined {
    for (const source of this.#all.values()) if (source.confirmed && source.known.position !== undefined) return source;
    return undefined;
  }

  get standing(): Standing {
    const vector = new Map<string, Position>();
    const counts = new Map<ClusterName, PhaseCounts>();
    for (const source of this.#all.values()) {
      if (source.known.position !== undefined) vector.set(source.key, source.known.position);
      if (source.tally !== undefined) counts.set(source.name, source.tally.counts);
    }
    return { vector, counts, syncs: this.#options.question.tallied ? this.#syncs() : [] };
  }

  /** The same state, with the age of this moment: of clusters where nothing happens no cut takes note. */
  aged(told: SyncView): SyncView {
    const now = this.#all.get(sourceKey(told.cluster.name, told.kind))?.sync;
    return now !== undefined && now.phase === told.phase && now.fault?.code === told.fault?.code ? now : told;
  }

  /** True for a cluster that the question is about, whether or not it may be seen. */
  asksFor(cluster: ClusterName): boolean {
    const { clusters } = this.#options.question;
    return clusters === undefined || clusters.includes(cluster);
  }

  /** Begins with what the scope has of these clusters, or of those named, and nobody has asked for yet. */
  addMissing(members: Iterable<ClusterName>): void {
    const { question, scope } = this.#options;
    for (const cluster of question.clusters ?? members) for (const kind of question.kinds) this.#add(cluster, kind, scope);
  }

  /** What has become of a cluster, but for new ones: what of those may be seen is asked first. */
  heard(change: MirrorsChange): void {
    if (change.type === 'mirrored') this.#all.get(sourceKey(change.cluster, change.kind))?.judge();
    else this.refresh(change.cluster);
  }

  refresh(cluster: ClusterName): void {
    const { views, question } = this.#options;
    const view = views.member(cluster);
    for (const kind of question.kinds) this.#all.get(sourceKey(cluster, kind))?.refresh(view);
  }

  refreshAll(): void {
    for (const name of new Set([...this.#all.values()].map((source) => source.name))) this.refresh(name);
  }

  /** Takes in all there is to know up to now. */
  pull(): void {
    for (const source of this.#all.values()) source.pull();
  }

  /** What is new of each since the last cut. */
  cut(readers: 'some' | 'none'): readonly Part[] {
    const parts: Part[] = [];
    for (const source of [...this.#all.values()]) {
      const part = source.cut(readers);
      if (part !== undefined) parts.push(part);
      if (source.left && !this.#isNamed && this.#options.mirrors.cluster(source.name) === undefined) this.#all.delete(source.key);
    }
    return parts;
  }

  end(): void {
    for (const source of this.#all.values()) source.end();
  }

  #syncs(): readonly SyncView[] {
    const asked = [...this.#all.values()].filter((source) => this.#isNamed || !source.left);
    return asked.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ syncTold }) => syncTold);
  }

  get #isNamed(): boolean {
    return this.#options.question.clusters !== undefined;
  }

  #add(name: ClusterName, kind: ModelKind, scope: Scope): void {
    const key = sourceKey(name, kind);
    const sight = scope.sightOf(name, kind);
    if (sight === undefined || this.#all.has(key)) return;
    const { mirrors, views, question, sensitive, onNews, guard } = this.#options;
    const { conditions, tallied } = question;
    const cluster = views.member(name) ?? unknownCluster(name);
    const seen: QuerySight | Fault = sight.type === 'none' ? sight.fault : sight;
    const asked = { conditions, tallied, named: this.#isNamed };
    this.#all.set(
      key,
      new ViewSource({ mirrors, question: asked, cluster, kind, sensitive: sensitive.has(kind), sight: seen, onNews, guard }),
    );
  }
}

/** A cluster that is not there: nothing is known of it but its name. */
export function unknownCluster(name: ClusterName): ClusterView {
  return { name, labels: {}, taints: [], zones: [], phase: 'UNREACHABLE', faults: [] };
}
