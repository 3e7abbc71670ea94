import type { KubernetesObject } from '../../core/objects.ts';
import { keyOfObject } from '../../store/feed/changes.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { ChangesQueue, ObjectChange } from '../messages/changes-queue.ts';
import { maxMessageObjects } from '../messages/message-drafts.ts';

type ObjectEvent = Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>;
type Matches = (object: KubernetesObject) => boolean;

/** What an event is to a selection: the object as it was and is part of it, where it was and is. */
export interface SelectionTransition {
  readonly key: string;
  readonly before: KubernetesObject | undefined;
  readonly after: KubernetesObject | undefined;
  /** The last state in which it was part of the selection; where it left the mirror, the state it left in, if that was one. */
  readonly last: KubernetesObject;
}

/** Undefined if the selection had nothing of the object, and has nothing of it. */
export function transitionIn(event: ObjectEvent, matches: Matches): SelectionTransition | undefined {
  const { object, before } = event;
  const was = before !== undefined && matches(before);
  const is = matches(object);
  const after = event.type === 'applied' && is ? object : undefined;
  if (!was && after === undefined) return undefined;
  const last = before === undefined || (event.type === 'deleted' && is) ? object : before;
  return { key: keyOfObject(object), before: was ? before : undefined, after, last };
}

/** The same, as readers are told it. */
export function changeOfTransition({ key, before, after, last }: SelectionTransition): ObjectChange {
  if (after === undefined) return { type: 'DELETED', key, object: last };
  return { type: before === undefined ? 'ADDED' : 'MODIFIED', key, object: after };
}

/** Empties the queue into messages. */
export function batchesOf(queue: ChangesQueue): readonly (readonly ObjectChange[])[] {
  const batches: (readonly ObjectChange[])[] = [];
  while (queue.size > 0) batches.push(queue.take(maxMessageObjects));
  return batches;
}
