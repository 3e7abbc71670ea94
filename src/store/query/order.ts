import { MusterError } from '../../core/errors.ts';
import { compareOrderKeys, type OrderKey, orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import { createPathContext, hasMatchingValue, type PathStart, type ReadCost } from '../filter/path-values.ts';
import type { QuerySource } from '../query-source.ts';
import { anySingleValue, findValuePaths, type ValuePath } from './value-paths.ts';

/** One term of an order, as it comes from GraphQL. */
export interface OrderByInput {
  readonly path: string;
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

/**
 * An order that was checked by `compileOrder`. Its terms come before namespace, name, cluster and kind. Without terms it is the default
 * order.
 */
export interface CompiledOrder {
  /** One entry for each term: true if the largest value comes first. */
  readonly descending: readonly boolean[];
  /** Equal for orders whose terms compare in the same way. A cursor is valid only for such orders. */
  readonly meaning: string;
  /**
   * Returns a function that gives the keys of an object of this source, one for each term. A key is undefined if the object has no value
   * there; such objects come last in both directions.
   *
   * @param read Counts the values that are read.
   */
  keysFor(source: QuerySource, read?: ReadCost): (object: KubernetesObject) => readonly (OrderKey | undefined)[];
}

const maxTerms = 8;
/** Longer texts are shortened to this length before they are compared, because cursors contain them. */
const maxTextLength = 1_024;

/**
 * Checks an order against the model and compiles it.
 *
 * An order has at most 8 terms. A path through a list compares by its smallest element, or by its largest one in descending order. With
 * several kinds, a path must exist in at least one of them.
 *
 * @throws {MusterError} `BAD_INPUT` with the path, the expected and the actual input.
 */
export function compileOrder(model: Model, kinds: readonly ModelKind[], orderBy: readonly OrderByInput[]): CompiledOrder {
  if (orderBy.length > maxTerms) throw new MusterError('BAD_INPUT', `orderBy: expected at most ${maxTerms} paths, got ${orderBy.length}`);
  const terms = orderBy.map((term) => compileTerm(model, kinds, term));
  return {
    descending: terms.map(({ descending }) => descending),
    meaning: terms.length === 0 ? '' : JSON.stringify(terms.map(({ types }) => types)),
    keysFor(source, read) {
      const context = createPathContext(source, read);
      const kind = keyOfKind(source.kind);
      const keys = terms.map((term) => ({ term, key: term.keys.get(kind) }));
      return (object) => keys.map(({ term, key }) => key?.({ value: object, context }, term.descending));
    },
  };
}

/** The order by namespace, name, cluster and kind. */
export const defaultOrder: CompiledOrder = { descending: [], meaning: '', keysFor: () => () => [] };

type KeyAt = (start: PathStart, descending: boolean) => OrderKey | undefined;

interface Term {
  readonly descending: boolean;
  /** The functions that return the sort key of an object, by `keyOfKind`. A kind without the path has no entry. */
  readonly keys: ReadonlyMap<string, KeyAt>;
  /** The type by which the term compares, for each kind that has the path. */
  readonly types: readonly (readonly [string, ValueType])[];
}

function compileTerm(model: Model, kinds: readonly ModelKind[], { path, direction }: OrderByInput): Term {
  const paths = findValuePaths({ model, kinds }, path, anySingleValue('orderBy'));
  return {
    descending: direction === 'DESC',
    keys: new Map([...paths].map(([kind, found]) => [kind, keyAt(found)])),
    types: [...paths].map(([kind, { type }]) => [kind, type] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

function keyAt({ path, type }: ValuePath): KeyAt {
  return (start, descending) => {
    let best: OrderKey | undefined;
    hasMatchingValue(path, start, (value) => {
      const key = shorten(orderKeyOf(value, type));
      if (key !== undefined && (best === undefined || compareOrderKeys(key, best) < 0 !== descending)) best = key;
      return false;
    });
    return best;
  };
}

function shorten(key: OrderKey | undefined): OrderKey | undefined {
  return key?.type === 'text' && key.value.length > maxTextLength ? { type: 'text', value: key.value.slice(0, maxTextLength) } : key;
}
