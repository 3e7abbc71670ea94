import type { Fault } from '../core/faults.ts';
import type { ResourceVersion } from '../core/names.ts';
import type { KubernetesObject, ObjectIdentity } from '../core/objects.ts';

/**
 * One change of a mirror, in the order in which the cluster made it.
 *
 * `version` is the version that a cursor may hold after this event and all earlier ones were handled. Undefined: no cursor may begin after
 * this event. In the diff of a list only the last event has the version of the list, because readers do not have the whole list before it.
 */
export type StoreEvent =
  /** An object was added or changed. `before` is its previous state; undefined if the object is new. */
  | {
      readonly type: 'applied';
      readonly object: KubernetesObject;
      readonly before?: KubernetesObject | undefined;
      readonly version: ResourceVersion | undefined;
    }
  /**
   * An object was deleted. `object` is its last state, and `before` the state that the reader knew last. `proof` is `event` if the server
   * reported the deletion, and `absence` if a complete list does not contain the object.
   */
  | {
      readonly type: 'deleted';
      readonly object: KubernetesObject;
      readonly before: KubernetesObject;
      readonly proof: 'event' | 'absence';
      readonly version: ResourceVersion | undefined;
    }
  /** The mirror has reached this version without a change. A reader receives at most one such event per 30 s. */
  | { readonly type: 'confirmed'; readonly version: ResourceVersion }
  /** The first list is complete, or a mirror that was behind is in sync again. */
  | { readonly type: 'synced'; readonly version: ResourceVersion | undefined }
  /** The mirror is behind its cluster, or was emptied because a right was lost. In both cases no `deleted` events are sent. */
  | { readonly type: 'failed'; readonly fault: Fault }
  /** The changes are unknown. The reader must replace everything that it knows by `snapshot`. */
  | {
      readonly type: 'reset';
      readonly snapshot: readonly KubernetesObject[];
      readonly version: ResourceVersion | undefined;
      readonly epoch: string;
    }
  /** The kind or the cluster has left. Always the last event. */
  | { readonly type: 'gone'; readonly fault: Fault };

/** The read side of the store of one kind in one cluster. Created by `contents/store.ts`. Every method returns at once, and its result is of one moment. */
export interface StoreReader {
  /** Number of objects. */
  readonly size: number;
  /** Grows with each change of the objects. While it stays the same, every method returns the same objects. */
  readonly revision: number;
  /** Estimated bytes held. Decides which idle mirrors are evicted. */
  readonly bytes: number;
  /**
   * The version up to which the mirror is correct. Undefined before the first list, and if single namespaces are mirrored whose versions
   * cannot be compared.
   */
  readonly version: ResourceVersion | undefined;
  /**
   * Changes if the cluster gets another history, or if the mirror changes between single namespaces and all. Cursors of another epoch are
   * void.
   */
  readonly epoch: string;
  get(namespace: string, name: string): KubernetesObject | undefined;
  /** Returns all objects in no promised order. */
  objects(): Iterable<KubernetesObject>;
  /** Returns the namespaces with at least one object, in order of code units. */
  namespaces(): readonly string[];
  /**
   * Returns the objects of a namespace, sorted by name in code units. Cached until the namespace changes. Cluster-scoped objects have the
   * namespace `''`.
   */
  inNamespace(namespace: string): readonly KubernetesObject[];
  /**
   * Returns one list of objects for each of these namespaces, in no promised order. Default: for each namespace that has objects. A
   * returned list never changes.
   */
  lists(namespaces?: Iterable<string>): readonly (readonly KubernetesObject[])[];
  /** Returns the objects as they are now. Later changes do not show in the result. The caller must dispose of the result. */
  freeze(): FrozenObjects;
  /** Returns the number of objects that `inNamespace` would return, without sorting them. */
  countIn(namespace: string): number;
  /**
   * Returns exactly the objects that meet one requirement, each once: a label with one of these values, the uid of an owner, the name of a
   * node, or a mention of one of these values.
   *
   * Undefined if there is no such index. In that case, filter `objects()`.
   */
  indexed(index: IndexLookup): readonly KubernetesObject[] | undefined;
  /**
   * Returns an upper bound of the number of objects that `indexed` returns, without reading them. Exact for a single value. Undefined if
   * there is no such index.
   */
  countIndexed(index: IndexLookup): number | undefined;
  /**
   * Returns the objects that `indexed` returns, sorted by namespace and name in code units. The list is cached until one of the objects
   * changes. Returns undefined for a lookup of several values and for more than 2,000 objects, because sorting would cost too much.
   */
  indexedInOrder(index: IndexLookup): readonly KubernetesObject[] | undefined;
  /** Joins the change feed (`feed/change-feed.ts`). The snapshot and the position of the reader are of the same moment. */
  follow(reader: FeedReader, signal: AbortSignal): FeedSubscription;
  /** Joins the change feed without a snapshot. Takes the same time for any number of objects. Returns `FeedSubscription.pull`. */
  followChanges(reader: FeedReader, signal: AbortSignal): () => void;
  /**
   * Returns the events after a version, in order. The last one leads to the current version.
   *
   * Returns undefined if they are unknown: for another epoch, for a version older than the history (4,096 changes, 4 MiB, 10 minutes), for
   * a version that the mirror never had because a list skipped it, or for a mirror of single namespaces.
   */
  changesSince(epoch: string, version: ResourceVersion): readonly StoreEvent[] | undefined;
}

/** The objects of a mirror as of one moment. */
export interface FrozenObjects extends Disposable {
  get(namespace: string, name: string): KubernetesObject | undefined;
}

export type IndexLookup =
  | { readonly by: 'label'; readonly key: string; readonly values: readonly string[] }
  | { readonly by: 'owner'; readonly uid: string }
  | { readonly by: 'node'; readonly name: string }
  | { readonly by: 'mention'; readonly mention: ObjectMention; readonly values: readonly string[] };

/** A reference from the objects of one kind to other objects, such as the claims that a Pod uses. */
export interface ObjectMention {
  /** Unique within the kind. If two mentions have one name, the first one that is looked up makes the index. */
  readonly name: string;
  valuesOf(object: KubernetesObject): readonly string[];
}

/**
 * Receives batches of at most 1,000 events in the event-loop turn after a change, never during the change itself.
 *
 * A reader that returns a promise is called again only after the promise resolves. Meanwhile its events wait in a queue of its own, merged
 * by object. If more than 1,000 events or 1 MiB wait, they become one `reset`. A reader that throws or rejects is ended, and the other
 * readers continue.
 */
export type FeedReader = (events: readonly StoreEvent[]) => unknown;

export interface StoreSnapshot {
  /** All objects at the moment of joining. */
  readonly snapshot: readonly KubernetesObject[];
  readonly version: ResourceVersion | undefined;
  readonly epoch: string;
}

/** The result of joining the change feed. */
interface FeedSubscription extends StoreSnapshot {
  /**
   * Delivers all waiting events to this reader at once, instead of in the next event-loop turn. Has no effect while the reader handles a batch,
   * or after it has ended.
   */
  pull(): void;
}

/** Parses the same bytes again, and keeps integers beyond 2⁵³−1 as `RawNumber`. Called only if the store finds such an integer. */
export type ExactParse = () => KubernetesObject;

/**
 * A complete list that is being received. Readers do not see it before `commit`, which is one synchronous step. After `commit` or `discard`
 * every method has no effect.
 *
 * If an event with a later version than the list arrives meanwhile, the commit does not undo it.
 */
export interface ListStage {
  /** The estimated bytes of memory that the objects added so far take, without parts that were in memory before. */
  readonly bytes: number;
  /**
   * If the stored object of this name has this uid and version, adds it to the list and returns true. The bytes of the listed object then
   * need no parsing. Returns false if not. Always false with `byContent`.
   */
  keep(identity: ObjectIdentity): boolean;
  add(object: KubernetesObject, exactly: ExactParse): void;
  /** Removes an object that was added or kept. A WatchList sends DELETED among its initial events. */
  remove(namespace: string, name: string): void;
  /**
   * Replaces the contents by the list. Missing objects are deleted (`proof: 'absence'`), new and changed ones are applied, and equal ones
   * make no event.
   *
   * If `version` is below the version that the store already has, and both are plain decimals, the cluster has another history, and the
   * epoch changes.
   *
   * A list of all namespaces makes the store in sync. A list of one namespace does not, because the lists of other namespaces may be
   * missing. The mirror calls `synced()` once all its lists are complete.
   */
  commit(version: ResourceVersion | undefined): void;
  discard(): void;
}

export interface ListStageOptions {
  /** The list replaces the objects of this namespace only. Default: all namespaces. */
  readonly namespace?: string | undefined;
  /**
   * True if objects are compared by content even if uid and version are equal, because the served version or the version of the server has
   * changed (docs/internals/mirror.md 3.4). Default: false.
   */
  readonly byContent?: boolean | undefined;
}

/** The write side of the store of one kind in one cluster. */
export interface StoreWriter {
  replace(options?: ListStageOptions): ListStage;
  /**
   * Stores the object of an ADDED or MODIFIED event. An object that equals the stored one changes only the version. If another uid had the
   * name, readers receive `deleted` for the old object, then `applied`.
   */
  applied(object: KubernetesObject, version: ResourceVersion | undefined, exactly: ExactParse): void;
  /** Removes the object of a DELETED event. `object` is its last state. For an unknown object only the version changes. */
  deleted(object: KubernetesObject, version: ResourceVersion | undefined, exactly: ExactParse): void;
  /**
   * Records the version of a BOOKMARK. With a namespace, the bookmark is of the watch of that namespace. Default: of the watch of all
   * namespaces.
   */
  confirmed(version: ResourceVersion, namespace?: string): void;
  failed(fault: Fault): void;
  /**
   * Reports that the store is in sync without a list of all namespaces: again after `failed`, or after the first lists of single
   * namespaces.
   */
  synced(): void;
  /** Drops all objects without delete events, because a right was lost. Readers receive `failed`, and at the next commit `reset`. */
  empty(fault: Fault): void;
  /**
   * Ends the store, because the kind or the cluster has left. Readers receive `gone`, the memory is freed, and later writes have no effect.
   */
  gone(fault: Fault): void;
}

export interface MirrorStore extends StoreReader, StoreWriter {}
