import { invariant } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { redact } from '../../core/redaction.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { absenceOf, type SourceRequest, sourceSyncOf, syncViewOf, unreadNamespacesFault } from '../../load/reads/read-sources.ts';
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
import { goneFault, type ViewSourceOptions } from './view-source-options.ts';

/**
 * One kind of one cluster, as a view selects from it: follows the mirror as soon as there is one, and gathers what is new until the next cut.
 *
 * At a cut, after `pull`, it is as the mirror is: that is why its position is that of the store.
 */
export class ViewSource implements MessageSource {
  readonly key: string;
  readonly kind: ModelKind;
  readonly jobCounter: JobPhaseCounter | undefined;
  readonly #options: ViewSourceOptions;
  readonly #changes: PendingChanges;
  #cluster: ClusterView;
  /** Kept when the mirror has ended: messages of its objects may still be made. */
  #resource: ServedResource | undefined;
  #held: SelectedMirror | undefined;
  #known: SourceKnowledge = nothingKnown;
  #fault: Fault | undefined;
  #gone: Fault | undefined;
  /** It has left: only when it comes again there is something to say. */
  #left = false;
  /** There is no such mirror, nor will there be one as things are. */
  #absent = false;
  /** The mirror has a list that was whole. */
  #whole = false;
  /** What those in step know is not what the mirror goes on from. */
  #restarted = false;
  #confirmed = false;
  /** How true it was at the last cut; undefined where that may have changed since. */
  #syncTold: SyncView | undefined;

  constructor(options: ViewSourceOptions) {
    this.#options = options;
    this.#cluster = options.cluster;
    this.kind = options.kind;
    this.key = sourceKey(options.cluster.name, options.kind);
    this.jobCounter = options.query.countsJobs ? createJobPhaseCounter() : undefined;
    this.#changes = new PendingChanges(this.jobCounter);
    this.#absent = this.voidFault !== undefined;
    this.refresh(options.cluster);
  }

  get cluster(): ClusterView {
    return this.#cluster;
  }

  get name(): ClusterName {
    return this.#cluster.name;
  }

  get sight(): QueryVisibility | Fault {
    return this.#options.sight;
  }

  /** What those in step know of it. */
  get known(): SourceKnowledge {
    return this.#known;
  }

  /** Why what somebody knew of it is void: the cluster does not serve the kind, or has left. Undefined while that is not so. */
  get voidFault(): Fault | undefined {
    if (this.#held !== undefined || 'code' in this.sight) return undefined;
    const { fault } = absenceOf(this.#ask(), this.#options.mirrors);
    return fault.code === 'NOT_SERVED' || fault.code === 'GONE' ? goneFault(this, fault) : undefined;
  }

  /** It has left, and that was told. */
  get hasLeft(): boolean {
    return this.#left && this.#gone === undefined;
  }

  /** A cut would say something. */
  get hasNews(): boolean {
    if (this.#gone !== undefined || this.#changes.size > 0) return true;
    if (this.#restarted && this.#whole) return true;
    // Emptied, with the fault that it had failed with before: its objects are no longer counted.
    return this.#fault?.code !== this.#known.fault?.code || (!this.#whole && this.#known.position?.type === 'exact');
  }

  /** The mirror has said that nothing changed. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** How true it is now. */
  get sync(): SyncView {
    const { sight } = this.#options;
    if (this.#held === undefined || 'code' in sight) return this.#heldSync;
    return sourceSyncOf(this.#ask(), this.#held.mirror, sight);
  }

  /** How true it was at the last cut. Right after a cut. */
  get syncAtCut(): SyncView {
    this.#syncTold ??= this.sync;
    return this.#syncTold;
  }

  /** What an object of it takes, estimated. */
  get meanBytes(): number {
    return this.#held?.meanBytes ?? 1_024;
  }

  /** Something about the cluster has changed: what it is like, what it serves, or whether it belongs to the fleet. */
  refresh(cluster: ClusterView | undefined): void {
    this.#syncTold = undefined;
    const { sight, mirrors } = this.#options;
    if (cluster !== undefined) this.#cluster = cluster;
    if ('code' in sight) this.#become(sight);
    else if (this.#held === undefined) this.#load(sight);
    else if (mirrors.peek(this.name, this.kind) !== this.#held.mirror) this.#leave(absenceOf(this.#ask(), mirrors).fault);
    else if (this.#held.reselect(this.#selection(sight))) this.#restart();
    this.#resource = this.#held?.resource ?? this.#resource;
  }

  /** The mirror's phase may be another one. */
  checkPhase(): void {
    const mirror = this.#held?.mirror;
    this.#syncTold = undefined;
    if (mirror === undefined) return;
    const { phase, fault } = mirror.sync();
    if (this.#whole) {
      if (phase === 'SYNCED') this.#become(this.#unread);
      return;
    }
    this.#whole = phase === 'SYNCED' || phase === 'STALE';
    if (this.#whole) this.#restarted = true;
    if (this.#whole) this.#become(phase === 'STALE' ? fault : this.#unread);
    // Whoever was told of a failure takes it as true until the first list is whole.
    else if (mirror.settled() && fault !== undefined && fault.code !== 'SYNCING') this.#become(fault);
  }

  /** Takes in all that the mirror has to say up to now. */
  pull(): void {
    this.#held?.pull();
  }

  /**
   * What is new since the last cut, undefined if nothing is; from now on those in step know it.
   *
   * @param readers Whether anybody is told: else what is selected is not gathered.
   */
  cut(readers: 'some' | 'none'): SourceSlice | undefined {
    const before = this.#known;
    this.#changes.settle(this.#held);
    const news = this.#takeNews(readers);
    this.#known = news?.type === 'gone' ? nothingKnown : { position: this.#position(), fault: this.#fault };
    this.#confirmed = false;
    return news === undefined ? undefined : { source: this, before, after: this.#known, news };
  }

  /** Judges the objects for a cut, and for the first message of readers that join at these positions. @returns How many were not judged yet. */
  *judgeObjects(look: CountReads, joining?: readonly (SourcePosition | undefined)[]): Steps<number> {
    const held = this.#held;
    if (held === undefined || !this.#whole) return 0;
    const judged = this.#restarted || joining !== undefined ? yield* held.judgeAll(look) : 0;
    for (const position of joining ?? []) if (position !== undefined) yield* held.judgeSince(position);
    yield* this.#changes.judge(held);
    return judged;
  }

  /** Drops the verdicts, which are no longer needed. */
  forgetJudged(): void {
    this.#held?.forgetJudged();
  }

  /** All of it, as those in step know it. Right after a cut. Undefined where there is nothing to say yet. */
  wholeSlice(): SourceSlice | undefined {
    const after = this.#known;
    if (this.#isTold) return { source: this, before: nothingKnown, after, news: { type: 'whole', objects: this.#held?.select() ?? [] } };
    return after.fault === undefined ? undefined : { source: this, before: nothingKnown, after, news: { type: 'changed', batches: [] } };
  }

  /**
   * What somebody who knew it up to there has missed; all of it if that is not remembered. Right after a cut. Undefined where the mirror is not
   * whole, so that nobody can tell.
   */
  sliceSince(position: SourcePosition): SourceSlice | undefined {
    const held = this.#held;
    if (!this.#isTold || held === undefined) return undefined;
    const batches = held.changesSince(position);
    if (batches === undefined) return this.wholeSlice();
    if (position.type === 'partial') {
      const rest = held.select().filter((object) => !isCoveredBy(position, object));
      return { source: this, before: nothingKnown, after: this.#known, news: { type: 'rest', batches, objects: rest, from: position } };
    }
    return { source: this, before: nothingKnown, after: this.#known, news: { type: 'changed', batches } };
  }

  /** Makes rows of changes, all with the cluster and the mirror's state of this moment. */
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

  /** Ends it: nothing is held or followed any more. */
  end(): void {
    this.#held?.end();
    this.#held = undefined;
    this.#options.loader.release(this.#ask());
  }

  /** Those in step know what is held. Not so right after a cut that told the end of one mirror, where another has taken its place already. */
  get #isTold(): boolean {
    return this.#whole && !this.#restarted;
  }

  get #heldSync(): SyncView {
    return syncViewOf(this.#ask(), this.#held?.mirror.sync() ?? absenceOf(this.#ask(), this.#options.mirrors));
  }

  /** Why those in step are told of less than they asked for, though what is held is true. */
  get #unread(): Fault | undefined {
    const { sight } = this.#options;
    return this.#held === undefined || 'code' in sight ? undefined : unreadNamespacesFault(this.#ask(), this.#held.mirror, sight);
  }

  #takeNews(readers: 'some' | 'none'): SliceNews | undefined {
    if (this.#gone !== undefined) {
      const fault = this.#gone;
      this.#gone = undefined;
      return { type: 'gone', fault };
    }
    if (!this.hasNews) return undefined;
    if (!this.#restarted || !this.#whole) return { type: 'changed', batches: this.#changes.take() };
    this.#restarted = false;
    const objects = readers === 'some' || this.jobCounter !== undefined ? (this.#held?.select() ?? []) : [];
    this.jobCounter?.recount(objects);
    return { type: 'whole', objects };
  }

  /** At once if the view holds the mirror already, as it does at its beginning. */
  #load(sight: QueryVisibility): void {
    const { loader, guard } = this.#options;
    const loaded = loader.load(this.#ask());
    if (!(loaded instanceof Promise)) this.#loaded(sight, loaded);
    else void loaded.then((mirror) => guard(() => this.#loaded(sight, mirror))).catch((error) => guard(() => rethrow(error)));
  }

  #loaded(sight: QueryVisibility, mirror: MirrorReader | undefined): void {
    // Something else about the cluster may have changed meanwhile, so that the mirror was loaded twice.
    if (this.#held !== undefined) return;
    if (mirror === undefined) {
      this.#lack();
      return;
    }
    const hear = (events: readonly StoreEvent[]) => this.#options.guard(() => this.#hear(events));
    this.#held = new SelectedMirror(mirror, this.#selection(sight), hear);
    this.#resource = mirror.resource;
    this.#left = false;
    this.#absent = false;
    this.checkPhase();
  }

  /** There is no mirror: tells why, where that is worth telling. */
  #lack(): void {
    const gone = this.voidFault;
    if (gone !== undefined && !this.#absent) {
      // Somebody may know it from before: what they know is void.
      this.#gone ??= gone;
      this.#fault = undefined;
    }
    this.#absent = gone !== undefined;
    const { fault } = absenceOf(this.#ask(), this.#options.mirrors);
    const isExpected = fault.code === 'SYNCING' || (gone !== undefined && !this.#options.query.named);
    if (!isExpected && !this.#left) this.#become(fault);
    else if (this.hasNews) this.#options.onNews();
  }

  #hear(events: readonly StoreEvent[]): void {
    this.#syncTold = undefined;
    for (const event of events) this.#take(event);
    if (this.hasNews || this.#confirmed || !this.#changes.areJudged) this.#options.onNews();
  }

  #take(event: StoreEvent): void {
    switch (event.type) {
      case 'applied':
      case 'deleted':
        this.#change(event);
        return;
      case 'synced':
        if (this.#whole) this.#fault = this.#unread;
        else this.checkPhase();
        return;
      case 'failed':
        if (this.#held?.isListed !== true) this.#forget();
        this.#fault = event.fault;
        return;
      case 'reset':
        this.#forget();
        this.#whole = this.#held?.isListed === true;
        this.#restarted = true;
        return;
      case 'confirmed':
        this.#confirmed = true;
        return;
      case 'gone':
        this.#leave(event.fault);
        return;
      default:
        event satisfies never;
    }
  }

  #change(event: Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>): void {
    // What is told whole at the next cut has this in it already.
    if (this.#held === undefined || !this.#whole || this.#restarted) return;
    this.#changes.add(event, this.#held);
  }

  /** The mirror was emptied, or goes on from what nobody was told. */
  #forget(): void {
    this.#whole = false;
    this.#changes.clear();
    this.jobCounter?.recount([]);
  }

  /** Starts anew: the filter selects other objects of the same mirror, or they are served in another version. */
  #restart(): void {
    if (!this.#whole) return;
    this.#changes.clear();
    this.#restarted = true;
    this.#options.onNews();
  }

  #leave(fault: Fault): void {
    this.end();
    this.#forget();
    this.#restarted = false;
    this.#fault = undefined;
    this.#left = true;
    this.#absent = true;
    this.#gone = goneFault(this, fault);
    // Another one may have taken its place already.
    if (!('code' in this.#options.sight)) this.#load(this.#options.sight);
    this.#options.onNews();
  }

  #become(fault: Fault | undefined): void {
    this.#fault = fault;
    if (this.hasNews) this.#options.onNews();
  }

  #position(): SourcePosition | undefined {
    if (this.#whole && this.#held !== undefined) return this.#held.position;
    return this.#known.position === undefined ? undefined : voidPosition;
  }

  #selection(sight: QueryVisibility): MirrorSelection {
    return { kind: this.kind, cluster: this.#cluster, conditions: this.#options.query.conditions, sight };
  }

  #ask(): SourceRequest {
    const { named, conditions } = this.#options.query;
    return { cluster: this.#cluster, kind: this.kind, verb: 'list', isNamed: named, namespaces: conditions.namespaces };
  }
}

function rethrow(error: unknown): never {
  throw error;
}
