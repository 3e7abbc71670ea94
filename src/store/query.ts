import type { KubernetesObject } from '../core/objects.ts';
import type { LabelSelector } from '../core/selectors.ts';
import type { Position } from './cursor.ts';
import type { Order } from './order.ts';
import type { QuerySource } from './query-source.ts';
import type { Where } from './where.ts';

/** What is asked of many mirrors at once. All conditions must hold. */
export interface QuerySpec {
  /** Objects in these namespaces only; cluster-scoped ones are in none. Absent: anywhere. */
  readonly namespaces?: readonly string[] | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly where?: Where | undefined;
  /** A part of the name, of a label's key or of its value, or of `key=value`, whatever the case. Empty text asks nothing. */
  readonly search?: string | undefined;
  readonly order?: Order | undefined;
  /** Most objects on the page, at least 1. */
  readonly first: number;
  /** The page begins after it, whether or not an object still stands there. */
  readonly after?: Position | undefined;
}

/** One object on a page, and where it was found. */
export interface Hit<S extends QuerySource = QuerySource> {
  readonly source: S;
  readonly object: KubernetesObject;
}

/** One page, all of one moment. */
export interface QueryResult<S extends QuerySource = QuerySource> {
  readonly hits: readonly Hit<S>[];
  /** Of all matching objects in sight, whatever the page. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Where an object of this page stands in this order: `after` of the next page. */
  positionOf(hit: Hit<S>): Position;
}
