/** A bound of a range of list elements, such as `1` in `[1:3]`. */
export interface RangeBound {
  readonly value: number;
  /** True for the end of a single index such as `[-1]`, which is the index plus one. */
  readonly derived: boolean;
}

/** One node of a parsed template. */
export type TemplateNode =
  /** Text outside of braces, or a text in quotes. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'number'; readonly value: number; readonly isFloat: boolean }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'field'; readonly name: string }
  /** `range` or `end`. Any other word fails when it is evaluated. */
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'wildcard' }
  /** `..`: all values below a value. */
  | { readonly type: 'descent' }
  | {
      readonly type: 'elements';
      readonly start: RangeBound | undefined;
      readonly end: RangeBound | undefined;
      readonly step: RangeBound | undefined;
    }
  | { readonly type: 'union'; readonly members: readonly NodeList[] }
  /** Selects the elements of a list for which the comparison of `left` and `right` holds. Without an operator: those in which `left` finds a value. */
  | { readonly type: 'filter'; readonly left: NodeList; readonly right: NodeList; readonly operator: string | undefined }
  /** The nodes inside one pair of braces: each one is evaluated on the results of the one before. */
  | NodeList;

export interface NodeList {
  readonly type: 'list';
  readonly nodes: readonly TemplateNode[];
}
