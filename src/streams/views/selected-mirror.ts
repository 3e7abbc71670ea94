import { createHash } from 'node:crypto';
import { apiVersionOf, type ServedResource } from '../../core/kinds.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ListConditions } from '../../store/filter/matching.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { QuerySource, QueryVisibility } from '../../store/query-source.ts';
import type { MirrorReader } from '../../watch/mirrors.ts';
import { createChangesQueue, type ObjectChange } from '../messages/changes-queue.ts';
import { isCoveredBy } from '../messages/message-drafts.ts';
import { type SourcePosition, voidPosition } from '../messages/stream-cursor.ts';
import { JudgedSelection } from './judged-selection.ts';
import { batchesOf, changeOfTransition, type SelectionTransition, transitionIn } from './selection-changes.ts';

/** The filter of a stream, applied to one mirror. */
export interface MirrorSelection {
  readonly kind: ModelKind;
  readonly cluster: ClusterView;
  readonly conditions: ListConditions;
  readonly visibility: QueryVisibility;
}

/**
 * A mirror, with the selection of a stream from it. It follows the change feed of the mirror until `end`.
 *
 * Next: the events go to `onEvents`, which is a method of `ViewSource` (view-source.ts).
 */
export class SelectedMirror {
  readonly mirror: MirrorReader;
  readonly #following = new AbortController();
  readonly #pull: () => void;
  #conditions: ListConditions;
  #selected: JudgedSelection;
  #meaning: string;
  #epoch: { readonly long: string; readonly short: string } | undefined;

  /**
   * Starts to follow the mirror.
   *
   * @param onEvents Called with the events of the mirror, never from within this constructor.
   */
  constructor(mirror: MirrorReader, selection: MirrorSelection, onEvents: (events: readonly StoreEvent[]) => void) {
    this.mirror = mirror;
    this.#conditions = selection.conditions;
    this.#selected = new JudgedSelection(sourceOf(mirror, selection), selection.conditions);
    this.#meaning = meaningOf(selection, mirror.resource);
    this.#pull = mirror.store.followChanges(onEvents, this.#following.signal);
  }

  /** The objects that match the filter, with a cache that says for each judged object whether it matches. */
  get selected(): JudgedSelection {
    return this.#selected;
  }

  get resource(): ServedResource {
    return this.mirror.resource;
  }

  /** True if the mirror has had a complete list. */
  get isListed(): boolean {
    const { phase } = this.mirror.sync();
    return phase === 'SYNCED' || phase === 'STALE';
  }

  /** The position of the store. `void` if the store has no version. */
  get position(): SourcePosition {
    const { version, epoch } = this.mirror.store;
    return version === undefined ? voidPosition : { type: 'exact', epoch: this.#short(epoch), version };
  }

  /** Estimated bytes of one object. */
  get meanBytes(): number {
    const { size, bytes } = this.mirror.store;
    return size === 0 ? 1_024 : Math.ceil(bytes / size);
  }

  /** Delivers all waiting events of the mirror at once. */
  pull(): void {
    this.#pull();
  }

  /**
   * Replaces the selection and returns true. If the new selection selects the same objects in the same API version, keeps the old selection
   * and returns false.
   */
  reselect(selection: MirrorSelection): boolean {
    const meaning = meaningOf(selection, this.resource);
    if (meaning === this.#meaning) return false;
    this.#meaning = meaning;
    this.#epoch = undefined;
    this.#conditions = selection.conditions;
    this.#selected = new JudgedSelection(sourceOf(this.mirror, selection), selection.conditions);
    return true;
  }

  /** Returns the effect of the event on the selection. Undefined if the object matches neither before nor after the event. */
  transitionIn(event: Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>): SelectionTransition | undefined {
    return transitionIn(event, this.#selected.has);
  }

  /** True if checking the filter takes long. The objects should then be judged in steps, before a message needs many of them at once. */
  get isCostly(): boolean {
    return isCostly(this.#conditions);
  }

  /** Judges the objects that `changesSince` needs, in steps. */
  judgeSince(position: SourcePosition): Steps<number> {
    const events = this.#eventsSince(position) ?? [];
    return this.#selected.judge(events.flatMap((event) => (isOfObject(event) ? [event.before ?? event.object, event.object] : [])));
  }

  /**
   * Returns the changes since this position, in batches of one message each. The result has only changes of objects that a reader at this
   * position knows. Undefined if the history of the mirror does not reach back that far.
   */
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
    this.#following.abort();
  }

  /**
   * Shortens the epoch to 8 characters, because a cursor names the epochs of hundreds of clusters. The short epoch also covers the meaning
   * of the filter and the served version. If one of them changes, a reader that resumes receives all objects again.
   */
  #short(long: string): string {
    if (this.#epoch?.long !== long) this.#epoch = { long, short: shortEpoch(long, this.#meaning) };
    return this.#epoch.short;
  }
}

/** True for conditions that take long to check for all objects of a large mirror. */
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

function sourceOf({ resource, store }: MirrorReader, { kind, cluster, visibility }: MirrorSelection): QuerySource {
  return { cluster, kind, apiVersion: apiVersionOf(resource), store, visibility: visibility };
}
