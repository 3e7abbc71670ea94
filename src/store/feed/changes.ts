import type { KubernetesObject } from '../../core/objects.ts';
import type { StoreEvent } from '../mirror-store.ts';

/** An event about one object. */
export type StoreObjectEvent = Extract<StoreEvent, { readonly type: 'applied' | 'deleted' }>;

/** One change of a mirror as it waits for readers: shared by all of them. */
export interface StoreChange {
  readonly event: StoreObjectEvent;
  /** `keyOfObject`: uid, namespace and name, as two objects of one name are two. */
  readonly key: string;
  /** Estimated bytes that it keeps alive. */
  readonly bytes: number;
}

/** The change with its key. */
export function changeOf(event: StoreObjectEvent, bytes: number): StoreChange {
  return { event, key: keyOfObject(event.object), bytes };
}

/** Equal for states of one object. */
export function keyOfObject({ metadata: { uid = '', namespace = '', name } }: KubernetesObject): string {
  return `${uid}/${namespace}/${name}`;
}
