import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { keyOfObject } from '../../store/feed/changes.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import { createChangesQueue, type ObjectChange } from '../messages/changes-queue.ts';
import type { JobPhaseCounter } from '../messages/job-phase-counter.ts';
import type { SelectedMirror } from './selected-mirror.ts';
import { batchesOf, changeOfTransition } from './selection-changes.ts';

type ObjectEvent = Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>;

/**
 * The changes of one source that a view selects, since the last cut of the view. If the selection is costly, events wait here until they are
 * judged, at most one for each object. `judge` or `settle` then decides whether an event adds an object to the selection, changes or removes
 * it, or does not matter.
 */
export class PendingChanges {
  readonly #tally: JobPhaseCounter | undefined;
  readonly #changes = createChangesQueue();
  readonly #events = new Map<string, ObjectEvent>();

  constructor(tally: JobPhaseCounter | undefined) {
    this.#tally = tally;
  }

  /** Number of changes that are judged. */
  get size(): number {
    return this.#changes.size;
  }

  /** True if no event waits. */
  get areJudged(): boolean {
    return this.#events.size === 0;
  }

  add(event: ObjectEvent, mirror: SelectedMirror): void {
    if (!mirror.isCostly) {
      this.#take(event, mirror);
      return;
    }
    const key = keyOfObject(event.object);
    const earlier = this.#events.get(key);
    const both = earlier === undefined ? event : merged(earlier, event);
    if (both === undefined) this.#events.delete(key);
    else this.#events.set(key, both);
  }

  /** Judges all waiting events, including events that arrive meanwhile. */
  *judge(mirror: SelectedMirror): Steps<void> {
    while (this.#events.size > 0) {
      for (const [key, event] of this.#events) {
        yield* mirror.selected.judge(event.before === undefined ? [event.object] : [event.before, event.object]);
        // The event stays in the map until it is judged. Between two steps a cut may take it, or another event of the object may replace it.
        if (this.#events.get(key) !== event) continue;
        this.#events.delete(key);
        this.#take(event, mirror);
      }
    }
  }

  /** Judges the waiting events in one step. Without a mirror they are dropped. */
  settle(mirror: SelectedMirror | undefined): void {
    if (mirror !== undefined) for (const event of this.#events.values()) this.#take(event, mirror);
    this.#events.clear();
  }

  /** Removes all judged changes and returns them, in batches of one message each. */
  take(): readonly (readonly ObjectChange[])[] {
    return batchesOf(this.#changes);
  }

  clear(): void {
    this.#events.clear();
    this.#changes.clear();
  }

  #take(event: ObjectEvent, mirror: SelectedMirror): void {
    const transition = mirror.transitionIn(event);
    if (transition === undefined) return;
    this.#changes.put(changeOfTransition(transition));
    this.#tally?.changed(transition.before, transition.after);
  }
}

/** Merges two events of one object. Undefined if the object was added and deleted again. */
function merged({ before }: ObjectEvent, event: ObjectEvent): ObjectEvent | undefined {
  if (before !== undefined) return { ...event, before };
  if (event.type === 'deleted') return undefined;
  const { before: _, ...fresh } = event;
  return fresh;
}
