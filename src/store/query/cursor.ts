import { type OrderKey, parseOrderKey, printOrderKey } from '../../core/json/json-values.ts';
import { type Json, parseJsonExactly } from '../../core/json.ts';
import { type LabelSelector, printLabelSelector } from '../../core/selectors.ts';
import type { WhereInput } from '../filter/where-input.ts';
import type { OrderByInput } from './order.ts';

/** A place between two objects in an order: the keys of the object before it. Stable across inserts, deletions and relists. */
export interface OrderPosition {
  /** Of the order's own terms; undefined where the object had no value. */
  readonly keys: readonly (OrderKey | undefined)[];
  readonly namespace: string;
  readonly name: string;
  readonly cluster: string;
  /** `keyOfKind` of its kind. */
  readonly kind: string;
}

/** The bytes from which `parseOrderPosition` makes an equal position. They name an object, so they are sealed before anybody sees them. */
export function printOrderPosition({ keys, namespace, name, cluster, kind }: OrderPosition): Uint8Array {
  const printed = keys.map((key) => (key === undefined ? null : printOrderKey(key)));
  return new TextEncoder().encode(JSON.stringify([namespace, name, cluster, kind, printed]));
}

/** Undefined for what `printOrderPosition` did not make. */
export function parseOrderPosition(bytes: Uint8Array): OrderPosition | undefined {
  const json = parseText(bytes);
  if (!Array.isArray(json) || json.length !== 5) return undefined;
  const [namespace, name, cluster, kind, printed]: readonly (Json | undefined)[] = json;
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof cluster !== 'string' || typeof kind !== 'string')
    return undefined;
  if (!Array.isArray(printed)) return undefined;
  const keys: (OrderKey | undefined)[] = [];
  for (const entry of printed) {
    const key = entry === null ? undefined : parseOrderKey(entry);
    if (entry !== null && key === undefined) return undefined;
    keys.push(key);
  }
  return { keys, namespace, name, cluster, kind };
}

/** What a cursor is bound to beside its reader: the question it pages through, whatever the page. */
interface ListIdentity {
  readonly kinds: readonly string[];
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly where?: WhereInput | null | undefined;
  readonly search?: string | null | undefined;
  readonly orderBy?: readonly OrderByInput[] | null | undefined;
  /** `CompiledOrder.meaning`: the same paths compare otherwise after their types have changed. */
  readonly orderMeaning?: string | undefined;
}

/** A text that is equal for questions that mean the same by their form: order and repetition of names, `null` and what is not said count for nothing. */
export function canonicalFilter({ kinds, clusters, namespaces, selector, where, search, orderBy, orderMeaning }: ListIdentity): string {
  return JSON.stringify([
    sortedSet(kinds),
    clusters == null ? null : sortedSet(clusters),
    namespaces == null ? null : sortedSet(namespaces),
    selector === undefined ? '' : printLabelSelector(selector),
    where == null ? null : canonicalWhere(where),
    search ?? '',
    (orderBy ?? []).map(({ path, direction }) => [path, direction ?? 'ASC']),
    ...(orderMeaning === undefined || orderMeaning === '' ? [] : [orderMeaning]),
  ]);
}

function canonicalWhere(where: WhereInput): readonly unknown[] {
  const said = Object.entries(where).filter(([, value]) => value !== null && value !== undefined);
  said.sort(([a], [b]) => (a < b ? -1 : 1));
  return said.map(([key, value]: [string, unknown]) => {
    if (key === 'not' || key === 'some') return [key, canonicalWhere(value as WhereInput)];
    if (key === 'and' || key === 'or') return [key, (value as readonly WhereInput[]).map(canonicalWhere)];
    return [key, value];
  });
}

function sortedSet(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function parseText(bytes: Uint8Array): Json | undefined {
  try {
    return parseJsonExactly(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
