import { type OrderKey, parseOrderKey, printOrderKey } from '../../core/json/json-values.ts';
import { type Json, parseJsonExactly } from '../../core/json.ts';
import { type LabelSelector, printLabelSelector } from '../../core/selectors.ts';
import type { WhereInput } from '../filter/where-input.ts';
import type { OrderByInput } from './order.ts';

/**
 * A position between two objects of an order, given by the object before it. It stays valid when objects are added, deleted or listed
 * again.
 */
export interface OrderPosition {
  /** One key for each term of the order. Undefined if the object had no value there. */
  readonly keys: readonly (OrderKey | undefined)[];
  readonly namespace: string;
  readonly name: string;
  readonly cluster: string;
  /** The result of `keyOfKind`. */
  readonly kind: string;
}

/**
 * Prints a position as bytes for `parseOrderPosition`. The bytes contain the name of an object, so they must be sealed before a client
 * receives them.
 */
export function printOrderPosition({ keys, namespace, name, cluster, kind }: OrderPosition): Uint8Array {
  const printed = keys.map((key) => (key === undefined ? null : printOrderKey(key)));
  return new TextEncoder().encode(JSON.stringify([namespace, name, cluster, kind, printed]));
}

/** Parses the bytes of `printOrderPosition`. Undefined for any other bytes. */
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

/** The list that a cursor belongs to: everything that decides its objects and their order. */
interface ListIdentity {
  readonly kinds: readonly string[];
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly where?: WhereInput | null | undefined;
  readonly search?: string | null | undefined;
  readonly orderBy?: readonly OrderByInput[] | null | undefined;
  /** The `meaning` of the order. It changes if the types of the same paths change, because the paths then compare differently. */
  readonly orderMeaning?: string | undefined;
}

/**
 * Returns a text that is equal for lists with the same meaning. Order and repetition of names, `null` and absent fields make no difference.
 */
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
  const members = Object.entries(where).filter(([, value]) => value !== null && value !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([key, value]: [string, unknown]) => {
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
