import type { Stored } from '../../core/stored.ts';
import { kindAndName, type NamedObject } from '../client/object-names.ts';
import { ageText } from '../output/kubectl-text.ts';

/** Part of what was served, of which nothing is certain: what is absent is null. */
export type Maybe<T> = T | null | undefined;

/** An `Int64` as the gateway answers it: text where a number does not hold it. */
export type Whole = Maybe<number | string>;

/** What is asked of every object of a table. */
export interface ListedItem extends NamedObject {
  readonly cluster: { readonly name: string };
  readonly metadata: NamedObject['metadata'] & { readonly creationTimestamp?: string | null };
}

/** An object of a built-in kind in an answer of the gateway, as far as it was selected. Absent fields are null. */
export type AnsweredObject<T> = ListedItem & Stored<Omit<T, 'metadata' | 'kind' | 'apiVersion'>, null>;

/** The selection of a `ListedItem`. */
export const itemFields = 'apiVersion kind cluster { name } metadata { name namespace creationTimestamp }';

/** What a cell depends on besides its object. */
export interface CellContext {
  readonly nowMs: number;
  /** Several kinds are listed: names say which. */
  readonly isMixed: boolean;
}

/** One column of the table of a kind. */
export interface PrintedColumn<Item extends ListedItem = ListedItem> {
  /** In capitals, as it is shown. */
  readonly header: string;
  /** Only shown where it was asked for. */
  readonly isWide?: true;
  /** What has to be selected of the kind's type for its cells, besides `itemFields`; empty for nothing. */
  readonly fields: string;
  /** The text for one object; undefined if it has no such column at all. Any of the selected fields may be null. */
  cell(item: Item, at: CellContext): string | undefined;
}

/** The table of a kind of object, as kubectl prints it. */
export interface KindTable {
  readonly group: string;
  readonly kind: string;
  readonly columns: readonly PrintedColumn[];
}

/** NAME: with the kind, where several are listed. */
export const nameColumn = {
  header: 'NAME',
  fields: '',
  cell: (item: ListedItem, { isMixed }: CellContext) => (isMixed ? kindAndName(item) : item.metadata.name),
} satisfies PrintedColumn;

/** AGE: since when the object has been there. */
export const ageColumn = {
  header: 'AGE',
  fields: '',
  cell: ({ metadata }: ListedItem, { nowMs }: CellContext) => ageText(metadata.creationTimestamp, nowMs),
} satisfies PrintedColumn;

/** `<none>`, as kubectl writes what is not there or empty. */
export function orNone(text: Maybe<string>): string {
  return text === undefined || text === null || text === '' ? '<none>' : text;
}

/** The number as text, 0 if there is none. */
export function countText(count: Whole): string {
  return String(count ?? 0);
}
