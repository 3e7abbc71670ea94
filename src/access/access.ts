import type { Fault } from '../core/faults.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';

/** The user of a request. `key` distinguishes users: cursors and caches are bound to it. */
export interface Caller {
  readonly key: string;
}

/** The objects of one kind in one cluster that a caller may see. */
export type Visibility =
  | { readonly type: 'all' }
  /** Only objects in these namespaces are visible. No fault is reported for other namespaces. */
  | { readonly type: 'namespaces'; readonly namespaces: ReadonlySet<string> }
  /** No object is visible, and no mirror is read. `fault` has the reason. */
  | { readonly type: 'none'; readonly fault: Fault };

export interface AccessRequest {
  readonly caller: Caller;
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  /** A subresource of the kind, such as `log` of Pods. Default: the objects themselves. */
  readonly subresource?: string;
  readonly verb: 'get' | 'list' | 'watch';
}

/** Decides what a caller may see of one kind in one cluster. Every read of a store goes through this decision. */
export interface Access {
  /**
   * Returns the visibility at once if it is known without a call to the cluster, else a promise. If that call fails, the result is `none`
   * with its fault. Never throws.
   */
  visibilityOf(request: AccessRequest, signal: AbortSignal): Visibility | Promise<Visibility>;
  /** Returns true if the caller may see anything in the cluster. */
  maySeeCluster(caller: Caller, cluster: ClusterName): boolean;
}
