import type { PropagationPhase } from './propagation.ts';

/** Selects resources of one kind on the hub, and one page of them. A condition that is null or not set selects all resources. */
export interface HubListFilter {
  readonly namespaces?: readonly string[] | null | undefined;
  readonly phases?: readonly PropagationPhase[] | null | undefined;
  /** Maximum number of resources on the page, from 1 to 500. Default: 100. */
  readonly first?: number | null | undefined;
  /** The `endCursor` of the page before. Default: the first page. */
  readonly after?: string | null | undefined;
}

/** One page of resources of the hub, in order of namespace and name. */
export interface HubPage<Item> {
  readonly items: readonly Item[];
  /** The number of matching resources on all pages. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Not set for an empty page. */
  readonly endCursor?: string;
}
