import type { Json } from '../../core/json.ts';

/**
 * The recursive filter, the input type `Where`, as it comes from GraphQL. All that one level says must hold; `null` is as good as not said.
 *
 * A path through lists matches if any of its values does, each comparison for itself; `ne` is what `eq` is not, so no value may equal. What is
 * absent or null is no value: it is not equal, less or greater, and does not exist. `and: []` always holds, `or: []` never.
 */
export interface WhereInput {
  readonly path?: string | null | undefined;
  readonly eq?: Json | undefined;
  readonly ne?: Json | undefined;
  readonly in?: readonly Json[] | null | undefined;
  readonly lt?: Json | undefined;
  readonly lte?: Json | undefined;
  readonly gt?: Json | undefined;
  readonly gte?: Json | undefined;
  readonly contains?: string | null | undefined;
  readonly startsWith?: string | null | undefined;
  readonly exists?: boolean | null | undefined;
  /** One element of the list at `path` meets all of this; its paths begin at the element, and without a path it is about the element itself. */
  readonly some?: WhereInput | null | undefined;
  readonly and?: readonly WhereInput[] | null | undefined;
  readonly or?: readonly WhereInput[] | null | undefined;
  readonly not?: WhereInput | null | undefined;
}
