import type { Fault } from '../core/faults.ts';
import type { GroupKind, ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { StoreReader } from '../store/mirror-store.ts';

/**
 * The state of a mirror compared with its cluster. `SyncPhase` of the schema has the same values and describes each. The rules are in
 * docs/internals/mirror.md 5.
 */
export type SyncPhase = 'SYNCING' | 'SYNCED' | 'STALE' | 'MISSING';

export interface SyncState {
  readonly phase: SyncPhase;
  /** The time in Unix milliseconds up to which the content is known to be correct. Undefined before the first complete list. */
  readonly asOfMs?: number | undefined;
  readonly version?: ResourceVersion | undefined;
  readonly fault?: Fault | undefined;
}

/** A mirror for its readers. */
export interface MirrorReader {
  readonly cluster: ClusterName;
  readonly resource: ServedResource;
  readonly store: StoreReader;
  /** True: the mirror stays empty, because the cluster has `authorization: live`. Default: false. */
  readonly isRefused?: boolean | undefined;
  sync(): SyncState;
  /** Returns a list with one fault if the kind may be listed in some namespaces only, else an empty list. */
  faults(): readonly Fault[];
  /**
   * For a kind that the gateway may list only namespace by namespace: returns why at least one of these namespaces is not mirrored.
   * `FORBIDDEN`: the kind may not be listed there. `TOO_LARGE`: too many namespaces are mirrored already. An object that the mirror lacks may
   * then exist in the cluster.
   *
   * Returns undefined if all these namespaces are mirrored, or while the rights are being checked: `sync` then reports `SYNCING`.
   */
  unmirroredFault(namespaces: readonly string[]): Fault | undefined;
  /**
   * Returns `FORBIDDEN` if the kind may not be listed in all namespaces, and some visible ones are not mirrored. Its message names the
   * mirrored namespaces that are visible. Returns undefined if all visible namespaces are mirrored.
   */
  partialListFault(visible: 'all' | ReadonlySet<string>): Fault | undefined;
  /** True once the first list is complete, has failed, or can never come. Waiting for the mirror is useless then. */
  settled(): boolean;
  /** Resolves when the mirror is settled, or when the signal aborts. */
  whenSettled(signal: AbortSignal): Promise<void>;
}

/** Keeps a mirror running. The mirror stays for a while after its last lease is disposed of. A second disposal has no effect. */
export interface MirrorLease extends Disposable {
  readonly mirror: MirrorReader;
}

/** The phase of a cluster. `ClusterPhase` of the schema has the same values and describes each. */
export type ClusterPhase = 'CONNECTING' | 'SYNCED' | 'DEGRADED' | 'UNREACHABLE';

/** The current knowledge about one cluster. */
export interface ClusterStatus {
  readonly name: ClusterName;
  readonly phase: ClusterPhase;
  /** The time in Unix milliseconds at which the cluster last sent anything. Undefined: it has not answered yet. */
  readonly asOfMs?: number | undefined;
  readonly faults: readonly Fault[];
  /** The version that the server reports, such as `v1.36.3`. Undefined until it has answered once. */
  readonly version?: string | undefined;
  /** The served kinds. Undefined until discovery has succeeded once. */
  readonly resources?: readonly ServedResource[] | undefined;
  /** The uid of the namespace `kube-system`. Two contexts with one uid may be one cluster. Undefined: it is not known. */
  readonly uid?: string | undefined;
}

/** The mirrors of all clusters, for their readers. Implemented in `clusters/registry.ts`. */
export interface Mirrors {
  /** Returns the names of the member clusters, in order of code units. The set stays the same until a cluster joins or leaves. */
  members(): ReadonlySet<ClusterName>;
  /** Returns the status of each member, in the order of `members`. Computing it takes some time for each cluster. */
  clusters(): readonly ClusterStatus[];
  /** Returns the status of the member with this name. Undefined if there is none. */
  cluster(name: ClusterName): ClusterStatus | undefined;
  /** Returns the kinds that the cluster serves: the same list until they change. Undefined until discovery has succeeded once. */
  servedKinds(cluster: ClusterName): readonly ServedResource[] | undefined;
  /** Returns the resource that serves the kind. Undefined if the cluster has not answered yet, or does not serve the kind. */
  served(cluster: ClusterName, kind: GroupKind): ServedResource | undefined;
  /**
   * Starts the mirror if it does not run, and keeps it running until the lease is disposed of. Returns undefined if the cluster has not
   * answered yet, or does not serve the kind.
   *
   * @param options `namespaces`: the namespaces whose rights are checked first, if the kind may not be listed in all.
   */
  acquire(cluster: ClusterName, kind: GroupKind, options?: { readonly namespaces?: readonly string[] }): MirrorLease | undefined;
  /** Returns the mirror if it runs, else undefined. Does not start it, and does not keep it running. */
  peek(cluster: ClusterName, kind: GroupKind): MirrorReader | undefined;
  /** Resolves once discovery of the cluster has succeeded or failed once, or when the signal aborts. */
  whenDiscovered(cluster: ClusterName, signal: AbortSignal): Promise<void>;
  /**
   * Calls back after a change of a cluster's state, discovery or membership, or of a mirror's sync, until the signal aborts. It calls in a
   * microtask, once the current synchronous code has ended. Of several changes of one type, cluster and kind until then, only the last one is
   * passed.
   */
  onChange(callback: (change: MirrorsChange) => void, signal: AbortSignal): void;
}

export type MirrorsChange =
  | { readonly type: 'joined'; readonly cluster: ClusterName }
  | { readonly type: 'left'; readonly cluster: ClusterName }
  /** The phase, the faults, the version or the served kinds changed. */
  | { readonly type: 'changed'; readonly cluster: ClusterName }
  /** The sync phase of one mirror changed, or its fault, or the result of `unmirroredFault`. */
  | { readonly type: 'mirrored'; readonly cluster: ClusterName; readonly kind: GroupKind; readonly sync: SyncState; readonly size: number };
