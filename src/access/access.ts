import type { Fault } from '../core/faults.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';

/** Who asks. `key` tells people apart: cursors and caches are bound to it. */
export interface Caller {
  readonly key: string;
}

/** What a caller may see of one kind in one cluster. */
export type Visibility =
  | { readonly type: 'all' }
  /** These namespaces only; no fault is told for the others. */
  | { readonly type: 'namespaces'; readonly namespaces: ReadonlySet<string> }
  /** Nothing, anywhere: decided before any lookup. */
  | { readonly type: 'none'; readonly fault: Fault };

export interface AccessRequest {
  readonly caller: Caller;
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  /** Of the kind, such as `log` of Pods. Absent: the objects themselves. */
  readonly subresource?: string;
  readonly verb: 'get' | 'list' | 'watch';
}

/**
 * The one decision that every read goes through: "what may this caller see of this kind in this cluster".
 * Nothing reads a store around it.
 */
export interface Access {
  /** At once where nothing has to be asked; a promise otherwise. Doubt answers `none` with its fault. Never throws. */
  visibilityOf(question: AccessRequest, signal: AbortSignal): Visibility | Promise<Visibility>;
  /** A cluster is visible to whoever may see anything in it. */
  maySeeCluster(caller: Caller, cluster: ClusterName): boolean;
}
