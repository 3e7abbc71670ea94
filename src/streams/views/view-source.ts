import { invariant } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { redact } from '../../core/redaction.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { absenceOf, rowSyncOf, type SourceRequest, sourceSyncOf, unreadNamespacesFault } from '../../load/reads/read-sources.ts';
import type { ClusterView, Row, SyncView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { CountReads } from '../../store/query/count-reads.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { MirrorReader } from '../../watch/mirrors.ts';
import type { ObjectChange } from '../messages/changes-queue.ts';
import { createJobPhaseCounter, type JobPhaseCounter } from '../messages/job-phase-counter.ts';
import {
  isCoveredBy,
  type MessageSource,
  nothingKnown,
  type SliceNews,
  type SourceKnowledge,
  type SourceSlice,
} from '../messages/message-drafts.ts';
import { type SourcePosition, sourceKey, voidPosition } from '../messages/stream-cursor.ts';
import { PendingChanges } from './pending-changes.ts';
import { type MirrorSelection, SelectedMirror } from './selected-mirror.ts';
import { goneFault, hasEnded, isComplete, mirrorOf, rethrow, type SourceState, type ViewSourceOptions } from './view-source-state.ts';

/**
 * One source of a view: one kind of one cluster. Follows the mirror as soon as there is one, and collects its changes until the next cut.
 *
 * After `pull` and `cut`, the source has sent everything that the mirror has. So the position of the source is the version of the store.
 *
 * Next: `PendingChanges` collects the changes. `ViewSources` (view-sources.ts) notes in `onNews` and `runNoted` that this source has news.
 * Then `StreamView` (view.ts) decides when to cut.
 */
export class ViewSource implements MessageSource {
  readonly key: string;
  readonly kind: ModelKind;
  readonly jobCounter: JobPhaseCounter | undefined;
  readonly #options: ViewSourceOptions;
  readonly #changes: PendingChanges;
  #cluster: ClusterView;
  /** The resource of the current or last mirror. Kept after its end, because messages of its objects may still be made. */
  #resource: ServedResource | undefined;
  #state: SourceState = { phase: 'expected' };
  #known: SourceKnowledge = nothingKnown;
  /** The fault that readers in step have after the next cut. */
  #fault: Fault | undefined;
  /** The fault `GONE` of an ended mirror, until a cut sends it. A new mirror may be followed already. */
  #gone: Fault | undefined;
  /** True if the mirror has confirmed since the last cut that nothing changed. */
  #isConfirmed = false;
  /** The sync at the last cut. Undefined if it may have changed since. */
  #syncAtCut: SyncView | undefined;

  constructor(options: ViewSourceOptions) {
    this.#options = options;
    this.#cluster = options.cluster;
    this.kind = options.kind;
    this.key = sourceKey(options.cluster.name, options.kind);
    this.jobCounter = options.query.countsJobs ? createJobPhaseCounter() : undefined;
    this.#changes = new PendingChanges(this.jobCounter);
    if (this.voidFault !== undefined) this.#state = { phase: 'absent' };
    this.refresh(options.cluster);
  }

  get cluster(): ClusterView {
    return this.#cluster;
  }

  get name(): ClusterName {
    return this.#cluster.name;
  }

  get visibility(): QueryVisibility | Fault {
    return this.#options.visibility;
  }

  /** The knowledge of readers in step about this source. */
  get known(): SourceKnowledge {
    return this.#known;
  }

  /** The fault that voids what readers knew: the cluster does not serve the kind, or has left. Undefined if neither is true. */
  get voidFault(): Fault | undefined {
    if (this.#held !== undefined || 'code' in this.visibility) return undefined;
    const { fault } = absenceOf(this.#request(), this.#options.mirrors);
    return fault.code === 'NOT_SERVED' || fault.code === 'GONE' ? goneFault(this, fault) : undefined;
  }

  /** True if the mirror has ended, no other has replaced it, and a cut has sent `GONE` to the readers. */
  get hasLeft(): boolean {
    return hasEnded(this.#state) && this.#gone === undefined;
  }

  /** True if the next cut has a message of this source. */
  get hasNews(): boolean {
    if (this.#gone !== undefined || this.#changes.size > 0) return true;
    if (this.#state.phase === 'listed') return true;
    // A cleared mirror is news even if its fault is the one that was sent before: its objects no longer count.
    return this.#fault?.code !== this.#known.fault?.code || (!isComplete(this.#state) && this.#known.position?.type === 'exact');
  }

  /** True if the mirror has confirmed since the last cut that nothing changed. */
  get confirmed(): boolean {
    return this.#isConfirmed;
  }

  /** The sync of the mirror now. */
  get sync(): SyncView {
    const { visibility } = this.#options;
    if (this.#held === undefined || 'code' in visibility) return this.#heldSync;
    return sourceSyncOf(this.#request(), this.#held.mirror, visibility);
  }

  /** The sync of the mirror at the last cut. Call it right after a cut. */
  get syncAtCut(): SyncView {
    this.#syncAtCut ??= this.sync;
    return this.#syncAtCut;
  }

  /** Estimated bytes of one object. */
  get meanBytes(): number {
    return this.#held?.meanBytes ?? 1_024;
  }

  /** Starts or stops following the mirror. Call it when the cluster has changed: its properties, its kinds or its membership. */
  refresh(cluster: ClusterView | undefined): void {
    this.#syncAtCut = undefined;
    const { visibility, mirrors } = this.#options;
    if (cluster !== undefined) this.#cluster = cluster;
    if ('code' in visibility) this.#setFault(visibility);
    else if (this.#held === undefined) this.#load(visibility);
    else if (mirrors.peek(this.name, this.kind) !== this.#held.mirror) this.#leave(absenceOf(this.#request(), mirrors).fault);
    else if (this.#held.reselect(this.#selection(visibility))) this.#restart(this.#held);
    this.#resource = this.#held?.resource ?? this.#resource;
  }

  /** Updates the fault. If the first list is complete now, the next cut sends the list. Call this method when the phase of the mirror may have changed. */
  checkPhase(): void {
    this.#syncAtCut = undefined;
    const selected = this.#held;
    if (selected === undefined) return;
    const { phase, fault } = selected.mirror.sync();
    if (isComplete(this.#state)) {
      if (phase === 'SYNCED') this.#setFault(this.#unreadFault);
      return;
    }
    if (selected.isListed) {
      this.#state = { phase: 'listed', mirror: selected };
      this.#setFault(phase === 'STALE' ? fault : this.#unreadFault);
    }
    // Readers that have received this fault keep it until the first list is complete.
    else if (selected.mirror.settled() && fault !== undefined && fault.code !== 'SYNCING') this.#setFault(fault);
  }

  /** Reads all events of the mirror up to now. */
  pull(): void {
    this.#held?.pull();
  }

  /**
   * Returns the news since the last cut and records that readers in step know it. Undefined if there is no news.
   *
   * @param readers `none` if the view has no readers yet: the objects are then not collected.
   */
  cut(readers: 'some' | 'none'): SourceSlice | undefined {
    const before = this.#known;
    this.#changes.settle(this.#held);
    const news = this.#takeNews(readers);
    this.#known = news?.type === 'gone' ? nothingKnown : { position: this.#position(), fault: this.#fault };
    this.#isConfirmed = false;
    return news === undefined ? undefined : { source: this, before, after: this.#known, news };
  }

  /**
   * Judges the objects for a cut, and for the first message of readers that join at these positions. An undefined position: from the beginning.
   *
   * @returns The number of objects of the mirror that had no verdict yet. Objects of waiting changes are not counted.
   */
  *judgeObjects(look: CountReads, joining?: readonly (SourcePosition | undefined)[]): Steps<number> {
    const held = this.#held;
    if (held === undefined || !isComplete(this.#state)) return 0;
    const judged = this.#state.phase === 'listed' || joining !== undefined ? yield* held.selected.judgeAll(look) : 0;
    for (const position of joining ?? []) if (position !== undefined) yield* held.judgeSince(position);
    yield* this.#changes.judge(held);
    return judged;
  }

  /** Drops the verdicts, which are no longer needed. */
  forgetJudged(): void {
    this.#held?.selected.forget();
  }

  /** Returns all objects, as readers in step know them. While they know no list: only the fault, or undefined without a fault. Call it right after a cut. */
  wholeSlice(): SourceSlice | undefined {
    const after = this.#known;
    if (this.#state.phase === 'following')
      return { source: this, before: nothingKnown, after, news: { type: 'whole', objects: this.#state.mirror.selected.all() } };
    return after.fault === undefined ? undefined : { source: this, before: nothingKnown, after, news: { type: 'changed', batches: [] } };
  }

  /**
   * Returns what a reader at this position has missed. Returns all objects if the history of the mirror does not reach back that far. Undefined if
   * readers in step do not know a complete list. Call it right after a cut.
   */
  sliceSince(position: SourcePosition): SourceSlice | undefined {
    const held = this.#held;
    if (this.#state.phase !== 'following' || held === undefined) return undefined;
    const batches = held.changesSince(position);
    if (batches === undefined) return this.wholeSlice();
    if (position.type === 'partial') {
      const rest = held.selected.all().filter((object) => !isCoveredBy(position, object));
      return { source: this, before: nothingKnown, after: this.#known, news: { type: 'rest', batches, objects: rest, from: position } };
    }
    return { source: this, before: nothingKnown, after: this.#known, news: { type: 'changed', batches } };
  }

  /** Returns a function that makes the row of a change. All its rows have the state of the cluster and of the mirror at the moment of this call. */
  rowMaker(): (change: ObjectChange) => Row {
    const { sensitive } = this.#options;
    const { cluster, kind } = this;
    const resource = this.#resource;
    const sync = this.#heldSync;
    return ({ object }) => {
      invariant(resource !== undefined, 'rows come from a mirror');
      return { cluster, kind, resource, object: redact(object, { sensitive, live: false }), metadataOnly: sensitive, sync };
    };
  }

  refreshCluster(): void {
    this.#cluster = this.#options.clusterNow() ?? this.#cluster;
  }

  /** Stops following the mirror and releases it. */
  end(): void {
    this.#held?.end();
    this.#state = { phase: 'left' };
    this.#options.loader.release(this.#request());
  }

  get #held(): SelectedMirror | undefined {
    return mirrorOf(this.#state);
  }

  get #heldSync(): SyncView {
    return rowSyncOf(this.#request(), this.#held?.mirror, this.#options);
  }

  /** The fault for requested namespaces that the mirror does not cover. Undefined if the mirror covers all of them. */
  get #unreadFault(): Fault | undefined {
    const { visibility } = this.#options;
    return this.#held === undefined || 'code' in visibility
      ? undefined
      : unreadNamespacesFault(this.#request(), this.#held.mirror, visibility);
  }

  #takeNews(readers: 'some' | 'none'): SliceNews | undefined {
    if (this.#gone !== undefined) {
      const fault = this.#gone;
      this.#gone = undefined;
      return { type: 'gone', fault };
    }
    if (!this.hasNews) return undefined;
    if (this.#state.phase !== 'listed') return { type: 'changed', batches: this.#changes.take() };
    const { mirror } = this.#state;
    this.#state = { phase: 'following', mirror };
    const objects = readers === 'some' || this.jobCounter !== undefined ? mirror.selected.all() : [];
    this.jobCounter?.recount(objects);
    return { type: 'whole', objects };
  }

  /** Loads the mirror. Follows it at once if the loader of the view holds it already, as at the start of the view. */
  #load(visibility: QueryVisibility): void {
    const { loader, runNoted } = this.#options;
    const loaded = loader.load(this.#request());
    if (!(loaded instanceof Promise)) this.#loaded(visibility, loaded);
    else
      void loaded.then(
        (mirror) => runNoted(() => this.#loaded(visibility, mirror)),
        (error) => runNoted(() => rethrow(error)),
      );
  }

  #loaded(visibility: QueryVisibility, mirror: MirrorReader | undefined): void {
    // The mirror may have been loaded twice, because the cluster has changed meanwhile.
    if (this.#held !== undefined) return;
    if (mirror === undefined) {
      this.#reportMissing();
      return;
    }
    const onEvents = (events: readonly StoreEvent[]) => this.#options.runNoted(() => this.#onEvents(events));
    this.#state = { phase: 'listing', mirror: new SelectedMirror(mirror, this.#selection(visibility), onEvents) };
    this.#resource = mirror.resource;
    this.checkPhase();
  }

  /** Sets the phase of a source without a mirror. The next cut sends `GONE` if readers may have objects, and `FAILED` for an unexpected fault. */
  #reportMissing(): void {
    const gone = this.voidFault;
    const { phase } = this.#state;
    const hasLeft = hasEnded(this.#state);
    if (gone !== undefined && (phase === 'expected' || phase === 'returning')) {
      // A reader may have objects from before. They are void now.
      this.#gone ??= gone;
      this.#fault = undefined;
    }
    if (gone === undefined) this.#state = { phase: hasLeft ? 'returning' : 'expected' };
    else this.#state = { phase: hasLeft ? 'left' : 'absent' };
    const { fault } = absenceOf(this.#request(), this.#options.mirrors);
    const isExpected = fault.code === 'SYNCING' || (gone !== undefined && !this.#options.query.named);
    if (!isExpected && !hasLeft) this.#setFault(fault);
    else if (this.hasNews) this.#options.onNews();
  }

  #onEvents(events: readonly StoreEvent[]): void {
    this.#syncAtCut = undefined;
    for (const event of events) this.#apply(event);
    if (this.hasNews || this.#isConfirmed || !this.#changes.areJudged) this.#options.onNews();
  }

  #apply(event: StoreEvent): void {
    switch (event.type) {
      case 'applied':
      case 'deleted':
        this.#change(event);
        return;
      case 'synced':
        if (isComplete(this.#state)) this.#fault = this.#unreadFault;
        else this.checkPhase();
        return;
      case 'failed':
        if (this.#held?.isListed !== true) this.#clear();
        this.#fault = event.fault;
        return;
      case 'reset':
        this.#clear();
        if (this.#held?.isListed === true) this.#state = { phase: 'listed', mirror: this.#held };
        return;
      case 'confirmed':
        this.#isConfirmed = true;
        return;
      case 'gone':
        this.#leave(event.fault);
        return;
      default:
        event satisfies never;
    }
  }

  #change(event: Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>): void {
    // In the phase `listed` the next cut sends all objects, also this one.
    if (this.#state.phase === 'following') this.#changes.add(event, this.#state.mirror);
  }

  /** Drops pending changes and counts, and waits for a complete list: the mirror was cleared, or continues from a state that no reader knows. */
  #clear(): void {
    if (this.#held !== undefined) this.#state = { phase: 'listing', mirror: this.#held };
    this.#changes.clear();
    this.jobCounter?.recount([]);
  }

  /** Makes the next cut send all objects again: the filter selects other objects of the same mirror, or another version is served. */
  #restart(mirror: SelectedMirror): void {
    if (!isComplete(this.#state)) return;
    this.#changes.clear();
    this.#state = { phase: 'listed', mirror };
    this.#options.onNews();
  }

  #leave(fault: Fault): void {
    this.#clear();
    this.end();
    this.#fault = undefined;
    this.#gone = goneFault(this, fault);
    // Loads the next mirror, if it exists already.
    if (!('code' in this.#options.visibility)) this.#load(this.#options.visibility);
    this.#options.onNews();
  }

  #setFault(fault: Fault | undefined): void {
    this.#fault = fault;
    if (this.hasNews) this.#options.onNews();
  }

  #position(): SourcePosition | undefined {
    if (isComplete(this.#state) && this.#held !== undefined) return this.#held.position;
    return this.#known.position === undefined ? undefined : voidPosition;
  }

  #selection(visibility: QueryVisibility): MirrorSelection {
    return { kind: this.kind, cluster: this.#cluster, conditions: this.#options.query.conditions, visibility };
  }

  #request(): SourceRequest {
    const { named, conditions } = this.#options.query;
    return { cluster: this.#cluster, kind: this.kind, verb: 'list', isNamed: named, namespaces: conditions.namespaces };
  }
}
