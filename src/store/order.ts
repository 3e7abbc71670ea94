import { MusterError } from '../core/errors.ts';
import { compareOrderKeys, type OrderKey, orderKeyOf, type ValueType } from '../core/json-values.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Model, ModelKind } from '../model/model.ts';
import { findPath, isMisfit, type ModelPath, printTypeReference } from '../model/paths.ts';
import { type KindMisfit, noKindHasPath } from '../model/paths-of-kinds.ts';
import { type Place, someValue, surroundingsOf } from './path-values.ts';
import type { QuerySource } from './query-source.ts';

/** One key of an order, as it comes from GraphQL. */
export interface OrderByInput {
  readonly path: string;
  readonly direction?: 'ASC' | 'DESC' | null | undefined;
}

/** What comes before namespace, name, cluster and kind: made by `compileOrder`. Without terms it is the default order. */
export interface Order {
  /** For each term whether the greatest comes first. */
  readonly descending: readonly boolean[];
  /** The keys of an object of this source, one for each term; undefined for what it does not have, which stands last in both directions. */
  keysFor(source: QuerySource): (object: KubernetesObject) => readonly (OrderKey | undefined)[];
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
export function compileOrder(model: Model, kinds: readonly ModelKind[], orderBy: readonly OrderByInput[]): Order {
  if (orderBy.length > maxTerms) throw refuse(`expected at most ${maxTerms} paths, got ${orderBy.length}`);
  const terms = orderBy.map((term) => compileTerm(model, kinds, term));
  return {
    descending: terms.map(({ descending }) => descending),
    keysFor(source) {
      const around = surroundingsOf(source);
      const kind = keyOfKind(source.kind);
      const keys = terms.map((term) => ({ term, key: term.keys.get(kind) }));
      return (object) => keys.map(({ term, key }) => key?.({ here: object, around }, term.descending));
    },
  };
}

/** The order by namespace, name, cluster and kind alone. */
export const defaultOrder: Order = { descending: [], keysFor: () => () => [] };

type KeyAt = (place: Place, descending: boolean) => OrderKey | undefined;

interface Term {
  readonly descending: boolean;
  /** By `keyOfKind`; none for a kind that the path does not fit. */
  readonly keys: ReadonlyMap<string, KeyAt>;
}

function compileTerm(model: Model, kinds: readonly ModelKind[], { path, direction }: OrderByInput): Term {
  const keys = new Map<string, KeyAt>();
  const misfits: KindMisfit[] = [];
  let wrongType: MusterError | undefined;
  for (const kind of kinds) {
    const found = findPath(model, kind, path);
    const type = isMisfit(found) ? undefined : orderedTypeOf(found);
    if (isMisfit(found)) misfits.push({ kind, misfit: found });
    else if (type === undefined) wrongType ??= notASingleValue(found);
    else keys.set(keyOfKind(kind), keyAt(found, type));
  }
  if (kinds.length > 0 && keys.size === 0) throw wrongType ?? noKindHasPath(path, misfits);
  return { descending: direction === 'DESC', keys };
}

function keyAt(path: ModelPath, type: ValueType): KeyAt {
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

function orderedTypeOf({ type }: ModelPath): ValueType | undefined {
  return 'scalar' in type && type.scalar !== 'StringMap' ? type.scalar : undefined;
}

function notASingleValue({ type, text }: ModelPath): MusterError {
  return refuse(`expected a path to a single value, got ${text.slice(0, 80)}, which is a ${printTypeReference(type)}`);
}

function cut(key: OrderKey | undefined): OrderKey | undefined {
  return key?.type === 'text' && key.value.length > maxTextLength ? { type: 'text', value: key.value.slice(0, maxTextLength) } : key;
}

function refuse(message: string): MusterError {
  return new MusterError('BAD_INPUT', `orderBy: ${message}`);
}
