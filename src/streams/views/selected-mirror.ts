import { createHash } from 'node:crypto';
import { apiVersionOf, type ServedResource } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ListConditions } from '../../store/filter/matching.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { CountReads } from '../../store/query/count-reads.ts';
import type { QuerySource, QueryVisibility } from '../../store/query-source.ts';
import type { MirrorReader } from '../../watch/mirrors.ts';
import { createChangesQueue, type ObjectChange } from '../messages/changes-queue.ts';
import { isCoveredBy } from '../messages/message-drafts.ts';
import { type SourcePosition, voidPosition } from '../messages/stream-cursor.ts';
import { JudgedSelection } from './judged-selection.ts';
import { batchesOf, changeOfTransition, type SelectionTransition, transitionIn } from './selection-changes.ts';

/** What is selected from a mirror. */
export interface MirrorSelection {
  readonly kind: ModelKind;
  readonly cluster: ClusterView;
  readonly conditions: ListConditions;
  readonly sight: QueryVisibility;
}

/** A mirror that is followed, and what of it is selected. Ending it leaves nothing behind. */
export class SelectedMirror {
  readonly mirror: MirrorReader;
  readonly #life = new AbortController();
  readonly #pull: () => void;
  #conditions: ListConditions;
  #selected: JudgedSelection;
  #meaning: string;
  #epoch: { readonly long: string; readonly short: string } | undefined;

  /** @param hear Told what changes, never from within this call. */
  constructor(mirror: MirrorReader, selection: MirrorSelection, hear: (events: readonly StoreEvent[]) => void) {
    this.mirror = mirror;
    this.#conditions = selection.conditions;
    this.#selected = new JudgedSelection(sourceOf(mirror, selection), selection.conditions);
    this.#meaning = meaningOf(selection, mirror.resource);
    this.#pull = mirror.store.followChanges(hear, this.#life.signal);
  }

  get resource(): ServedResource {
    return this.mirror.resource;
  }

  /** There is a list that was whole. */
  get isListed(): boolean {
    const { phase } = this.mirror.sync();
    return phase === 'SYNCED' || phase === 'STALE';
  }

  /** Up to where the store is true: `void` where no version says so. */
  get position(): SourcePosition {
    const { version, epoch } = this.mirror.store;
    return version === undefined ? voidPosition : { type: 'exact', epoch: this.#short(epoch), version };
  }

  /** What an object takes, estimated. */
  get meanBytes(): number {
    const { size, bytes } = this.mirror.store;
    return size === 0 ? 1_024 : Math.ceil(bytes / size);
  }

  /** Hears at once all that waits. */
  pull(): void {
    this.#pull();
  }

  /** Replaces the selection. False if the new one gives the same objects as before, in the same version. */
  reselect(selection: MirrorSelection): boolean {
    const meaning = meaningOf(selection, this.resource);
    if (meaning === this.#meaning) return false;
    this.#meaning = meaning;
    this.#epoch = undefined;
    this.#conditions = selection.conditions;
    this.#selected = new JudgedSelection(sourceOf(this.mirror, selection), selection.conditions);
    return true;
  }

  /** Undefined if it is nothing to the selection. */
  transitionIn(event: Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>): SelectionTransition | undefined {
    return transitionIn(event, this.#selected.has);
  }

  /** All objects of the selection, as they are now. */
  select(): readonly KubernetesObject[] {
    return this.#selected.all();
  }

  /** True if selecting the objects takes long. They should be judged before a message needs many of them at once. */
  get isCostly(): boolean {
    return isCostly(this.#conditions);
  }

  /** Judges these objects, in steps. @returns How many were not judged yet. */
  judge(objects: Iterable<KubernetesObject>): Steps<number> {
    return this.#selected.judge(objects);
  }

  /** Judges all objects that the mirror holds now, in steps. @returns How many were not judged yet. */
  judgeAll(look: CountReads): Steps<number> {
    return this.#selected.judgeAll(look);
  }

  /** Judges the objects that `changesSince` needs, in steps. */
  judgeSince(position: SourcePosition): Steps<number> {
    const events = this.#eventsSince(position) ?? [];
    return this.judge(events.flatMap((event) => (isOfObject(event) ? [event.before ?? event.object, event.object] : [])));
  }

  /** Drops the verdicts, which are no longer needed. */
  forgetJudged(): void {
    this.#selected.forget();
  }

  /** What has become since then of those objects of the selection that the reader knows, a message each; undefined if that is not remembered. */
  changesSince(position: SourcePosition): readonly (readonly ObjectChange[])[] | undefined {
    const events = this.#eventsSince(position);
    if (events === undefined) return undefined;
    const missed = createChangesQueue();
    for (const event of events) {
      const transition = isOfObject(event) ? this.transitionIn(event) : undefined;
      if (transition !== undefined && isCoveredBy(position, transition.last)) missed.put(changeOfTransition(transition));
    }
    return batchesOf(missed);
  }

  #eventsSince(position: SourcePosition): readonly StoreEvent[] | undefined {
    const { store } = this.mirror;
    if (position.type === 'void' || position.epoch !== this.#short(store.epoch)) return undefined;
    return store.changesSince(store.epoch, position.version);
  }

  end(): void {
    this.#life.abort();
  }

  /**
   * A cursor names the epochs of hundreds of clusters. What the filter means is part of it, and the version in which the kind is served: a reader that
   * resumes after one of them has changed has to be told all objects anew, although the objects themselves are the same.
   */
  #short(long: string): string {
    if (this.#epoch?.long !== long) this.#epoch = { long, short: shortEpoch(long, this.#meaning) };
    return this.#epoch.short;
  }
}

/** True for conditions that take long to check, of all objects of a large mirror together. */
export function isCostly({ where, search = '' }: ListConditions): boolean {
  return where !== undefined || search !== '';
}

function isOfObject(event: StoreEvent): event is Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }> {
  return event.type === 'applied' || event.type === 'deleted';
}

function meaningOf({ kind, cluster, conditions: { where } }: MirrorSelection, resource: ServedResource): string {
  return JSON.stringify([apiVersionOf(resource), where?.meaningFor({ kind, cluster }) ?? '']);
}

function shortEpoch(epoch: string, meaning: string): string {
  return createHash('sha256')
    .update(JSON.stringify([epoch, meaning]))
    .digest('base64url')
    .slice(0, 8);
}

function sourceOf({ resource, store }: MirrorReader, { kind, cluster, sight }: MirrorSelection): QuerySource {
  return { cluster, kind, apiVersion: apiVersionOf(resource), store, visibility: sight };
}
