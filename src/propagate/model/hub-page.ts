import type { PropagationPhase } from './propagation.ts';

/** The resources that a list of one kind on the hub shows, and the page of them. A part that is not set or null limits nothing. */
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
