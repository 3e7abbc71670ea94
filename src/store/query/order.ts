import { MusterError } from '../../core/errors.ts';
import { compareOrderKeys, type OrderKey, orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import { createPathContext, type PathStart, type ReadCost, someValue } from '../filter/path-values.ts';
import type { QuerySource } from '../query-source.ts';
import { anySingleValue, findValuePaths, type ValuePath } from './value-paths.ts';

/** One key of an order, as it comes from GraphQL. */
export interface OrderByInput {
  readonly path: string;
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

/** What comes before namespace, name, cluster and kind: made by `compileOrder`. Without terms it is the default order. */
export interface CompiledOrder {
  /** For each term whether the greatest comes first. */
  readonly descending: readonly boolean[];
  /** Equal for orders whose terms compare alike: a cursor is good for such orders alone. */
  readonly meaning: string;
  /** The keys of an object of this source, one for each term; undefined for what it does not have, which stands last in both directions. @param read Counts the values that are read. */
  keysFor(source: QuerySource, read?: ReadCost): (object: KubernetesObject) => readonly (OrderKey | undefined)[];
}

const maxTerms = 8;
/** Longer texts are equal for the order if they begin alike: a cursor carries them. */
const maxTextLength = 1_024;

/**
 * Checks an order against the model and makes it ready to run. At most 8 terms. Of a path through lists the least element counts, or descending
 * the greatest. For several kinds a path needs to fit one of them at least.
 *
 * @throws {MusterError} `BAD_INPUT`: the path, what was expected there, and what came.
 */
export function compileOrder(model: Model, kinds: readonly ModelKind[], orderBy: readonly OrderByInput[]): CompiledOrder {
  if (orderBy.length > maxTerms) throw new MusterError('BAD_INPUT', `orderBy: expected at most ${maxTerms} paths, got ${orderBy.length}`);
  const terms = orderBy.map((term) => compileTerm(model, kinds, term));
  return {
    descending: terms.map(({ descending }) => descending),
    meaning: terms.length === 0 ? '' : JSON.stringify(terms.map(({ types }) => types)),
    keysFor(source, read) {
      const around = createPathContext(source, read);
      const kind = keyOfKind(source.kind);
      const keys = terms.map((term) => ({ term, key: term.keys.get(kind) }));
      return (object) => keys.map(({ term, key }) => key?.({ value: object, context: around }, term.descending));
    },
  };
}

/** The order by namespace, name, cluster and kind alone. */
export const defaultOrder: CompiledOrder = { descending: [], meaning: '', keysFor: () => () => [] };

type KeyAt = (place: PathStart, descending: boolean) => OrderKey | undefined;

interface Term {
  readonly descending: boolean;
  /** By `keyOfKind`; none for a kind that the path does not fit. */
  readonly keys: ReadonlyMap<string, KeyAt>;
  /** The type by which the term compares in each of these kinds. */
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
  return (place, descending) => {
    let best: OrderKey | undefined;
    someValue(path, place, (value) => {
      const key = cut(orderKeyOf(value, type));
      if (key !== undefined && (best === undefined || compareOrderKeys(key, best) < 0 !== descending)) best = key;
      return false;
    });
    return best;
  };
}

function cut(key: OrderKey | undefined): OrderKey | undefined {
  return key?.type === 'text' && key.value.length > maxTextLength ? { type: 'text', value: key.value.slice(0, maxTextLength) } : key;
}
