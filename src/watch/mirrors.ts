import type { Fault } from '../core/faults.ts';
import type { GroupKind, ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { StoreReader } from '../store/mirror-store.ts';

/** How true a mirror is. Equal to the schema's `SyncPhase`; see the table in docs/internals/mirror.md 5. */
export type SyncPhase = 'SYNCING' | 'SYNCED' | 'STALE' | 'MISSING';

export interface SyncState {
  readonly phase: SyncPhase;
  /** Milliseconds of the epoch up to which the content is known to be true. Absent before the first whole list. */
  readonly asOfMs?: number | undefined;
  readonly version?: ResourceVersion | undefined;
  readonly fault?: Fault | undefined;
}

/** One mirror, for those who read it. */
export interface MirrorReader {
  readonly cluster: ClusterName;
  readonly resource: ServedResource;
  readonly store: StoreReader;
  sync(): SyncState;
  /** Faults of parts of it: namespaces that may not be read. */
  faults(): readonly Fault[];
  /**
   * Where the kind may not be listed in all namespaces, why one of these is not mirrored, so that nothing held of it says nothing: `FORBIDDEN` if
   * it may not be listed there either, else `TOO_LARGE` as there was no room for it. Undefined otherwise, and while it is being asked for: then
   * `sync` says so.
   */
  unmirroredFault(namespaces: readonly string[]): Fault | undefined;
  /**
   * `FORBIDDEN` where the kind may not be listed in all namespaces, so that what is held is of some of those in sight: the message says of which,
   * and names none that is out of sight. Undefined if all in sight are mirrored.
   */
  partialListFault(sight: 'all' | ReadonlySet<string>): Fault | undefined;
  /** True once the first list is whole, or has failed, or can never come: nothing to wait for. */
  settled(): boolean;
  /** Resolves when settled, or when the signal aborts. */
  whenSettled(signal: AbortSignal): Promise<void>;
}

/** Holds a mirror open. Disposing it twice is once; the mirror stays for a while after the last lease is gone. */
export interface MirrorLease extends Disposable {
  readonly mirror: MirrorReader;
}

/** Equal to the schema's `ClusterPhase`. */
export type ClusterPhase = 'CONNECTING' | 'SYNCED' | 'DEGRADED' | 'UNREACHABLE';

/** What is known of one cluster now. */
export interface ClusterStatus {
  readonly name: ClusterName;
  readonly phase: ClusterPhase;
  /** Milliseconds of the epoch of the last sign of life. */
  readonly asOfMs?: number | undefined;
  readonly faults: readonly Fault[];
  /** What the server says of itself: `v1.36.3`. Absent until it has answered once. */
  readonly version?: string | undefined;
  /** Absent until discovery has succeeded once. */
  readonly resources?: readonly ServedResource[] | undefined;
  /** The uid of the namespace `kube-system`, by which two contexts are known as one cluster. */
  readonly uid?: string | undefined;
}

/** All mirrors of all clusters, for those who read. */
export interface Mirrors {
  /** The names of the clusters that are members now, in order of code units: the same set until one joins or leaves. */
  members(): ReadonlySet<ClusterName>;
  /** What is known of the members now, in that order: some time for each. */
  clusters(): readonly ClusterStatus[];
  /** Undefined if no such cluster is a member. */
  cluster(name: ClusterName): ClusterStatus | undefined;
  /** Undefined if the cluster has not answered yet or does not serve the kind. */
  served(cluster: ClusterName, kind: GroupKind): ServedResource | undefined;
  /**
   * Starts the mirror if nobody has, and holds it.
   * Undefined if `served` is. `namespaces` are asked for first where the kind may not be listed in all of them.
   */
  acquire(cluster: ClusterName, kind: GroupKind, options?: { readonly namespaces?: readonly string[] }): MirrorLease | undefined;
  /** The mirror if it runs, without starting or holding it. */
  peek(cluster: ClusterName, kind: GroupKind): MirrorReader | undefined;
  /** Resolves once discovery of the cluster has succeeded or failed once, or when the signal aborts. */
  whenDiscovered(cluster: ClusterName, signal: AbortSignal): Promise<void>;
  /** Calls back after any change of a cluster's state, discovery or membership, at the end of the turn, until the signal aborts. */
  onChange(callback: (change: MirrorsChange) => void, signal: AbortSignal): void;
}

export type MirrorsChange =
  | { readonly type: 'joined'; readonly cluster: ClusterName }
  | { readonly type: 'left'; readonly cluster: ClusterName }
  /** Phase, faults, version or the served kinds. */
  | { readonly type: 'changed'; readonly cluster: ClusterName }
  /** One mirror's phase, with its fault; or what is `unread` of it. */
  | { readonly type: 'mirrored'; readonly cluster: ClusterName; readonly kind: GroupKind; readonly sync: SyncState; readonly size: number };
