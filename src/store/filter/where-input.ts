import type { Json } from '../../core/json.ts';

/**
 * The recursive filter as it comes from GraphQL (input type `Where`). All conditions of one level must hold, and `null` counts as absent.
 *
 * A path through lists matches if any of its values matches, separately for each comparison. `ne` is the opposite of `eq`: it holds if no
 * value is equal. Absent and null values are not equal, less or greater, and `exists` counts them as absent. `and: []` always holds, and
 * `or: []` never.
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
  /**
   * At least one element of the list at `path` meets all of these conditions. Their paths begin at the element. A condition without a path
   * is about the element itself.
   */
  readonly some?: WhereInput | null | undefined;
  readonly and?: readonly WhereInput[] | null | undefined;
  readonly or?: readonly WhereInput[] | null | undefined;
  readonly not?: WhereInput | null | undefined;
}
