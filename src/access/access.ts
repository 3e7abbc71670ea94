import type { Impersonation } from '../cluster/endpoint.ts';
import type { Fault } from '../core/faults.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';

/**
 * An authenticated user as Kubernetes describes one: name, uid, groups and extra values. The name and the groups begin with the prefixes that
 * the config sets for the issuer.
 */
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
   * Only objects in these namespaces are visible. The set may be empty. A namespace that is denied is left out without a fault. `fault` is set
   * if the cluster did not answer for some namespaces. They are left out too.
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
  /** Every verb except `list` and `watch` can be limited to one object (`object`). `impersonate` is requested for ServiceAccounts only. */
  readonly verb: AccessVerb;
  /**
   * The one object that is read or written. If the caller has this right, the result is `namespaces` with the namespace of the object, or
   * `all` for an object without a namespace. The caller needs no right to other objects of the kind. Default: all objects of the kind.
   */
  readonly object?: { readonly namespace?: string | undefined; readonly name: string } | undefined;
  /**
   * True: the right to this one object counts only if a mirrored binding gives it. So a list with many related objects costs no review for
   * each of them. Default: the cluster is asked about the object.
   */
  readonly onlyIfBound?: boolean | undefined;
  /**
   * The namespaces that the query names. The right to each of them is checked, even if no known binding names the caller there. Other
   * namespaces may be missing in the result. Default: every namespace in which the caller may have the right, by the known bindings.
   */
  readonly namespaces?: readonly string[] | undefined;
}

/** Decides what a caller may see of one kind in one cluster. Every read of a store goes through this decision. */
export interface Access {
  /**
   * Returns the visibility at once if it is known without a call to the cluster, else a promise. If the cluster does not answer, the right
   * counts as denied, and the result has the fault. If the signal aborts, the promise resolves with an empty set of namespaces. Never throws.
   */
  visibilityOf(request: AccessRequest, signal: AbortSignal): Visibility | Promise<Visibility>;
  /** Returns true if the caller may see anything in the cluster, as far as the last `prepare` found out. False while this is unknown. */
  maySeeCluster(caller: Caller, cluster: ClusterName): boolean;
  /**
   * Finds out which clusters the caller may see, for `maySeeCluster`. Call it before each operation, and before each check of the rights of a
   * stream. Returns undefined if there is no answer to wait for. Else the promise resolves after at most 2 s, or when the signal aborts. A
   * cluster whose first answer is missing by then stays hidden until it answers. Never throws.
   */
  prepare(caller: Caller, signal: AbortSignal): Promise<void> | undefined;
  /** Calls back with a cluster in which rights may have changed, until the signal aborts. Changes of one cluster within 0.1 s are one call. */
  onChange(callback: (cluster: ClusterName) => void, signal: AbortSignal): void;
}

/**
 * True if the cluster did not answer all questions about the rights of the caller. Objects that the caller may see can then be hidden. False
 * if `visibility` is undefined.
 */
export function isUnchecked(visibility: Visibility | undefined): boolean {
  if (visibility?.type === 'none') return visibility.fault.code !== 'FORBIDDEN';
  return visibility?.type === 'namespaces' && visibility.fault !== undefined;
}
