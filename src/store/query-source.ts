import type { KubernetesObject } from '../core/objects.ts';
import type { ModelKind } from '../model/model.ts';
import type { PathRelation } from '../model/paths/path-relations.ts';
import type { StoreReader } from './mirror-store.ts';

/** The fields of a cluster that filters, orders and relations can use: the paths that begin with `cluster`. */
export interface ClusterAttributes {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  readonly version?: string | undefined;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly zones?: readonly string[] | undefined;
}

/** One mirror that a query reads, and which of its objects the caller may see. */
export interface QuerySource {
  readonly cluster: ClusterAttributes;
  readonly kind: ModelKind;
  /** The version in which the kind is read, such as `apps/v1`. The items of a list do not contain it. */
  readonly apiVersion: string;
  readonly store: StoreReader;
  readonly visibility: QueryVisibility;
  /** Finds the objects to which relation paths lead. If it is undefined, paths that begin with a relation have no value. */
  readonly related?: RelatedObjects | undefined;
}

/** Finds related objects that are visible to the caller, all as of one moment. */
export interface RelatedObjects {
  /**
   * Returns the object to which the relation leads. Undefined if the object refers to none, or if the related object does not exist or is
   * not visible. The caller cannot tell these cases apart.
   */
  find(relation: PathRelation, object: KubernetesObject): RelatedObject | undefined;
  /** Number of calls of `find` so far that could not decide, because the related kind is not mirrored or may not be read. */
  readonly unknown: number;
}

/** A related object, and the version and kind under which it is read. */
export interface RelatedObject {
  readonly object: KubernetesObject;
  readonly servedAs: { readonly apiVersion: string; readonly kind: string };
}

/**
 * The objects that the caller may see: all, or only those in these namespaces. Cluster-scoped objects are in no namespace, so `namespaces`
 * hides them.
 */
export type QueryVisibility = { readonly type: 'all' } | { readonly type: 'namespaces'; readonly namespaces: ReadonlySet<string> };
