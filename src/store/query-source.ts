import type { ModelKind } from '../model/model.ts';
import type { StoreReader } from './mirror-store.ts';

/** What filters, orders and relations may ask of a cluster: the paths that begin with `cluster`. */
export interface ClusterFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  readonly version?: string;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
}

/** One mirror that a query reads: one kind of one cluster, and what of it the caller may see. */
export interface QuerySource {
  readonly cluster: ClusterFacts;
  readonly kind: ModelKind;
  /** As how the kind is read here (`apps/v1`): items of lists do not say it themselves. */
  readonly apiVersion: string;
  readonly store: StoreReader;
  readonly sight: QuerySight;
}

/** Everything, or the objects of these namespaces only. A cluster-scoped object is in none. */
export type QuerySight = { readonly type: 'all' } | { readonly type: 'namespaces'; readonly namespaces: ReadonlySet<string> };
