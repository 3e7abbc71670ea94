import type { OrderKey } from '../core/json-values.ts';

/** A place between two objects in an order: the keys of the object before it. Stable across inserts, deletions and relists. */
export interface Position {
  /** Of the order's own terms; undefined where the object had no value. */
  readonly keys: readonly (OrderKey | undefined)[];
  readonly namespace: string;
  readonly name: string;
  readonly cluster: string;
  /** `keyOfKind` of its kind. */
  readonly kind: string;
}
