import type { KubernetesObject } from '../core/objects.ts';
import type { ModelKind } from '../model/model.ts';
import type { PathRelation } from '../model/paths/path-relations.ts';
import type { StoreReader } from './mirror-store.ts';

/** What filters, orders and relations may ask of a cluster: the paths that begin with `cluster`. */
export interface ClusterAttributes {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  readonly version?: string | undefined;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly zones?: readonly string[] | undefined;
}

/** One mirror that a query reads: one kind of one cluster, and what of it the caller may see. */
export interface QuerySource {
  readonly cluster: ClusterAttributes;
  readonly kind: ModelKind;
  /** As how the kind is read here (`apps/v1`): items of lists do not say it themselves. */
  readonly apiVersion: string;
  readonly store: StoreReader;
  readonly visibility: QueryVisibility;
  /** Where paths that begin with a relation go on; absent where nobody asks for one: then they lead to nothing. */
  readonly related?: RelatedObjects | undefined;
}

/** What the objects of a source name, as far as the caller may see it. Of one moment. */
export interface RelatedObjects {
  /** Undefined if it names none, or none that is there and in sight: these look the same. */
  find(relation: PathRelation, object: KubernetesObject): RelatedObject | undefined;
  /** How often `find` could not tell, so far: where it would be is not mirrored, or may not be read. */
  readonly unknown: number;
}

/** An object, and as how it is read. */
export interface RelatedObject {
  readonly object: KubernetesObject;
  readonly servedAs: { readonly apiVersion: string; readonly kind: string };
}

/** Everything, or the objects of these namespaces only. A cluster-scoped object is in none. */
export type QueryVisibility = { readonly type: 'all' } | { readonly type: 'namespaces'; readonly namespaces: ReadonlySet<string> };
