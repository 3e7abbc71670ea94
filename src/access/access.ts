import type { Impersonation } from '../cluster/endpoint.ts';
import type { Fault } from '../core/faults.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';

/** An authenticated user: the name, uid, groups and extra values that API servers know, with the prefixes of the issuer. */
export interface User extends Impersonation {
  /** The source of the identity: the URL of an OIDC issuer, `tokenreview`, `certificate` or `proxy`. */
  readonly issuer: string;
}

/** The user of a request. `key` distinguishes users: cursors and caches are bound to it. */
export interface Caller {
  readonly key: string;
  /** Undefined in local mode: the caller then has the rights of the gateway's own account. */
  readonly user?: User;
}

/** The objects of one kind in one cluster that a caller may see. */
export type Visibility =
  | { readonly type: 'all' }
  /**
   * Only objects in these namespaces are visible. A namespace that is denied is left out without a fault. `fault` is set if the cluster did
   * not answer for some namespaces. They are left out too.
   */
  | { readonly type: 'namespaces'; readonly namespaces: ReadonlySet<string>; readonly fault?: Fault | undefined }
  /** No object is visible, and no mirror is read. `fault` has the reason. */
  | { readonly type: 'none'; readonly fault: Fault };

/** A verb of the authorization of Kubernetes. */
type AccessVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'impersonate';

export interface AccessRequest {
  readonly caller: Caller;
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  /** A subresource of the kind, such as `log` of Pods. Default: the objects themselves. */
  readonly subresource?: string;
  /** `impersonate` is about ServiceAccounts. Every verb but `list` and `watch` may be about one object. */
  readonly verb: AccessVerb;
  /**
   * The one object that is read or written. If the caller may do so, the result shows its namespace, or `all` for an object without a
   * namespace, even if the caller has no right to any other object of the kind. Default: all objects of the kind.
   */
  readonly object?: { readonly namespace?: string | undefined; readonly name: string } | undefined;
  /**
   * The namespaces that the query names. The result then covers these namespaces, and need not show others. They are checked even if no known
   * binding names them. Default: all namespaces.
   */
  readonly namespaces?: readonly string[] | undefined;
}

/** Decides what a caller may see of one kind in one cluster. Every read of a store goes through this decision. */
export interface Access {
  /**
   * Returns the visibility at once if it is known without a call to the cluster, else a promise. If that call fails, the result is `none`
   * with its fault. Never throws.
   */
  visibilityOf(request: AccessRequest, signal: AbortSignal): Visibility | Promise<Visibility>;
  /** Returns true if the caller may see anything in the cluster, as far as the last `prepare` found out. False for an unknown answer. */
  maySeeCluster(caller: Caller, cluster: ClusterName): boolean;
  /**
   * Finds out which clusters the caller may see, for `maySeeCluster`. Call it before each operation, and before each check of the rights of a
   * stream. Undefined if all clusters are known. The promise resolves after at most 2 s, or when the signal aborts: clusters that have not
   * answered by then stay hidden until they answer. Never throws.
   */
  prepare(caller: Caller, signal: AbortSignal): Promise<void> | undefined;
  /** Calls back with a cluster in which rights may have changed, until the signal aborts. Several changes within 0.1 s are one call. */
  onChange(callback: (cluster: ClusterName) => void, signal: AbortSignal): void;
}

/** True if the cluster did not answer everything about the rights of the caller. Objects may then be hidden that the caller may see. */
export function isUnchecked(visibility: Visibility | undefined): boolean {
  if (visibility?.type === 'none') return visibility.fault.code !== 'FORBIDDEN';
  return visibility?.type === 'namespaces' && visibility.fault !== undefined;
}
