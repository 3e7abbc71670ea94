import type { Fault } from '../core/faults.ts';
import type { ResourceVersion } from '../core/names.ts';
import type { KubernetesObject, ObjectIdentity } from '../core/objects.ts';

/**
 * One change of a mirror, in the order the cluster made it.
 *
 * `version` is up to where whoever has handled this event and all before it knows the mirror: what a cursor may hold. Only the last event of a
 * list's diff carries the list's version, as before it the diff is not whole.
 */
export type StoreEvent =
  /** `before` is the object that stood there; absent if it is new. */
  | {
      readonly type: 'applied';
      readonly object: KubernetesObject;
      readonly before?: KubernetesObject | undefined;
      readonly version: ResourceVersion | undefined;
    }
  /** `object` is its last state, `before` what stood there when the reader last knew it. `proof`: the server said so, or a complete list lacks it. */
  | {
      readonly type: 'deleted';
      readonly object: KubernetesObject;
      readonly before: KubernetesObject;
      readonly proof: 'event' | 'absence';
      readonly version: ResourceVersion | undefined;
    }
  /** Nothing changed up to this version. At most one per 30 s reaches a reader. */
  | { readonly type: 'confirmed'; readonly version: ResourceVersion }
  /** The first list is whole, or a stale mirror is true again. */
  | { readonly type: 'synced'; readonly version: ResourceVersion | undefined }
  /** The mirror fell behind, or was emptied for a lost right. Never told as deletions. */
  | { readonly type: 'failed'; readonly fault: Fault }
  /** The delta is unknown: forget everything; this is what is held now. */
  | {
      readonly type: 'reset';
      readonly snapshot: readonly KubernetesObject[];
      readonly version: ResourceVersion | undefined;
      readonly epoch: string;
    }
  /** The kind or the cluster has left. Always the last event. */
  | { readonly type: 'gone'; readonly fault: Fault };

/** The mirror of one kind in one cluster, for those who read it. Every method answers at once, from one moment. */
export interface StoreReader {
  /** Objects held. */
  readonly size: number;
  /** Estimated bytes held, for eviction. */
  readonly bytes: number;
  /** Up to where the mirror is true. Absent before the first list. */
  readonly version: ResourceVersion | undefined;
  /** Changes with another history of the cluster, and between single namespaces and all: a cursor of another epoch is void. */
  readonly epoch: string;
  get(namespace: string, name: string): KubernetesObject | undefined;
  /** In no promised order. */
  objects(): Iterable<KubernetesObject>;
  /** Namespaces with at least one object, in order of code units. */
  namespaces(): readonly string[];
  /** The namespace's objects by name, in order of code units; cached until the namespace changes. Cluster-scoped objects stand in `''`. */
  inNamespace(namespace: string): readonly KubernetesObject[];
  /** The objects of these namespaces, or of all, in no promised order: lists that stay as they are, whatever changes. */
  lists(namespaces?: Iterable<string>): readonly (readonly KubernetesObject[])[];
  /** The objects as they are now, whatever changes until it is disposed of. */
  freeze(): FrozenObjects;
  /** How many objects the namespace holds: what `inNamespace` would give, without making it. */
  countIn(namespace: string): number;
  /**
   * Objects that an index finds for one requirement, each once: a label with one of these values, an owner's uid, a node's name, a mention of one of
   * these values.
   * A superset is never returned; `undefined` says that there is no such index, so ask `objects()`.
   */
  indexed(index: IndexLookup): readonly KubernetesObject[] | undefined;
  /** How many those are at most, exact for a single value: known without looking at any of them. `undefined` as above. */
  countIndexed(index: IndexLookup): number | undefined;
  /**
   * The same by namespace and name, in order of code units; kept until one of them changes. `undefined` too where that costs too much: of several
   * values, and of more than 2,000 objects.
   */
  indexedInOrder(index: IndexLookup): readonly KubernetesObject[] | undefined;
  /** Joins the change feed: see `change-feed.ts`. Snapshot and position are taken in one turn. */
  follow(reader: FeedReader, signal: AbortSignal): FeedSubscription;
  /** Joins the change feed without a snapshot, at no cost that grows with what is held. @returns `FeedSubscription.pull`. */
  followChanges(reader: FeedReader, signal: AbortSignal): () => void;
  /**
   * What came after that version, for one who resumes: in order, its last version being `version` above. Undefined if the delta is unknown:
   * another epoch, a version older than the history (4,096 changes, 4 MiB, 10 minutes), a version that a list jumped over, a mirror of single namespaces.
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
  | { readonly by: 'mention'; readonly mention: Mention; readonly values: readonly string[] };

/** What objects of a kind say of others, such as the claims that a Pod uses. */
export interface Mention {
  /** Unique for the kind: of mentions of one name the first that was looked up makes the index. */
  readonly name: string;
  valuesOf(object: KubernetesObject): readonly string[];
}

/**
 * Called with batches of at most 1,000 events at the end of a turn of the event loop, never from within the change itself.
 *
 * One that returns a promise is not called again before it resolves: what comes meanwhile waits in its queue, merged by object. More than 1,000
 * events or 1 MiB waiting become one `reset`. One that throws or rejects is ended alone.
 */
export type FeedReader = (events: readonly StoreEvent[]) => unknown;

export interface StoreSnapshot {
  /** All objects at the moment of joining. */
  readonly snapshot: readonly KubernetesObject[];
  readonly version: ResourceVersion | undefined;
  readonly epoch: string;
}

/** What a reader of the change feed is given when it joins. */
interface FeedSubscription extends StoreSnapshot {
  /**
   * Hands over at once all that waits for this reader, as the end of the turn would: after it the reader knows the mirror as it is now. Without
   * effect while the reader still handles a batch, and once it has ended.
   */
  pull(): void;
}

/** Parses the same bytes again, keeping integers beyond 2⁵³−1 as `RawNumber`: asked only when the store meets one. */
export type ExactParse = () => KubernetesObject;

/**
 * A complete list in the making. Nothing of it is seen before `commit`, which is one synchronous turn; after it, or after `discard`, every
 * method is without effect. What events say meanwhile about versions after the list's own survives the commit.
 */
export interface ListStage {
  /** True if the store holds this uid at this version: it is kept, and the bytes need no parsing. Never with `byContent`. */
  keep(identity: ObjectIdentity): boolean;
  add(object: KubernetesObject, exactly: ExactParse): void;
  /** Takes back what was added or kept: a DELETED among the initial events of a WatchList. */
  remove(namespace: string, name: string): void;
  /**
   * Swaps: objects that are missing are deleted (`proof: 'absence'`), new and changed ones are applied, and equal ones make no event.
   * A version below the one held, where both are plain decimals, is another history of the cluster: the epoch changes.
   * A commit of everything tells `synced` where that was not so; of one namespace it does not, as others may be missing: call `synced()`.
   */
  commit(version: ResourceVersion | undefined): void;
  discard(): void;
}

export interface ListStageOptions {
  /** Replaces this namespace's objects only. Absent: everything. */
  readonly namespace?: string | undefined;
  /** Compare content even where uid and version are equal: the version served, or the server's, has changed (docs/internals/mirror.md 3.4). */
  readonly byContent?: boolean | undefined;
}

/** The mirror of one kind in one cluster, for the one who fills it. */
export interface StoreWriter {
  replace(options?: ListStageOptions): ListStage;
  /** ADDED or MODIFIED. Idempotent: what is equal to what is held moves the version only. Another uid under the name: `deleted` old, `applied` new. */
  applied(object: KubernetesObject, version: ResourceVersion | undefined, exactly: ExactParse): void;
  /** DELETED with the state it carries. An unknown key is ignored but for the version. */
  deleted(object: KubernetesObject, version: ResourceVersion | undefined, exactly: ExactParse): void;
  /** BOOKMARK. With a namespace: of the watch of that namespace alone. */
  confirmed(version: ResourceVersion, namespace?: string): void;
  failed(fault: Fault): void;
  /** True again after `failed`, without a list. */
  synced(): void;
  /** Drops all objects without telling a deletion: a right was lost. Readers get `failed`, and at the next commit a `reset`. */
  empty(fault: Fault): void;
  /** The kind or the cluster has left: `gone` to all readers, memory freed, no further write has an effect. */
  gone(fault: Fault): void;
}

export interface MirrorStore extends StoreReader, StoreWriter {}
