import type { KubernetesObject } from '../../core/objects.ts';
import { keyOfObject } from '../../store/feed/changes.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { ChangesQueue, ObjectChange } from '../messages/changes-queue.ts';
import { maxMessageObjects } from '../messages/message-drafts.ts';

type ObjectEvent = Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>;
type Matches = (object: KubernetesObject) => boolean;

/** The effect of one event on a selection. `before` is set if the object matched, `after` if it matches now. */
export interface SelectionTransition {
  readonly key: string;
  readonly before: KubernetesObject | undefined;
  readonly after: KubernetesObject | undefined;
  /**
   * The state that a `DELETED` change reports: the state before the event, or the state at the deletion if the object still matched then.
   */
  readonly last: KubernetesObject;
}

/** Returns the effect of the event on the selection. Undefined if the object matches neither before nor after the event. */
export function transitionIn(event: ObjectEvent, matches: Matches): SelectionTransition | undefined {
  const { object, before } = event;
  const was = before !== undefined && matches(before);
  const is = matches(object);
  const after = event.type === 'applied' && is ? object : undefined;
  if (!was && after === undefined) return undefined;
  const last = before === undefined || (event.type === 'deleted' && is) ? object : before;
  return { key: keyOfObject(object), before: was ? before : undefined, after, last };
}

/** Turns a transition into the change that readers receive. */
export function changeOfTransition({ key, before, after, last }: SelectionTransition): ObjectChange {
  if (after === undefined) return { type: 'DELETED', key, object: last };
  return { type: before === undefined ? 'ADDED' : 'MODIFIED', key, object: after };
}

/** Removes all changes from the queue and returns them, in batches of one message each. */
export function batchesOf(queue: ChangesQueue): readonly (readonly ObjectChange[])[] {
  const batches: (readonly ObjectChange[])[] = [];
  while (queue.size > 0) batches.push(queue.take(maxMessageObjects));
  return batches;
}
