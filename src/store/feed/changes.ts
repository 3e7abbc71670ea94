import type { KubernetesObject } from '../../core/objects.ts';
import type { StoreEvent } from '../mirror-store.ts';

/** A store event about one object. */
export type StoreObjectEvent = Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>;

/** One change of a mirror while it waits for readers. All readers share it. */
export interface StoreChange {
  readonly event: StoreObjectEvent;
  /** The result of `keyOfObject`. */
  readonly key: string;
  /** Estimated bytes that the change keeps in memory. */
  readonly bytes: number;
}

/** Makes the change of an event, with the key of its object. */
export function changeOf(event: StoreObjectEvent, bytes: number): StoreChange {
  return { event, key: keyOfObject(event.object), bytes };
}

/**
 * Returns a key of uid, namespace and name. It is equal for all states of one object. Two objects that used one name in turn have two keys.
 */
export function keyOfObject({ metadata: { uid = '', namespace = '', name } }: KubernetesObject): string {
  return `${uid}/${namespace}/${name}`;
}
