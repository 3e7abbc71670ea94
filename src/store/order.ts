import type { OrderKey } from '../core/json-values.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { QuerySource } from './query-source.ts';

/** One key of an order, as it comes from GraphQL. */
export interface OrderByInput {
  readonly path: string;
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

/** One key of an order, checked against the model. */
export interface OrderTerm {
  readonly descending: boolean;
  /** Undefined if the object has no such value: it stands last in both directions. */
  keyOf(object: KubernetesObject, source: QuerySource): OrderKey | undefined;
}

/** What comes before namespace, name, cluster and kind: made by `compileOrder`. Empty is the default order. */
export interface Order {
  readonly terms: readonly OrderTerm[];
}
