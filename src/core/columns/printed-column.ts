import type { Stored } from '../stored.ts';
import { ageText } from './kubectl-text.ts';
import { kindAndName, type NamedObject } from './object-names.ts';

/** An optional value of an answer. Absent fields are null. */
export type Maybe<T> = T | null | undefined;

/** An `Int64` in an answer: text if a number cannot hold the value. */
export type Int64Value = Maybe<number | string>;

/** The fields that are selected for every object of a table. */
export interface ListedItem extends NamedObject {
  readonly cluster: { readonly name: string };
  readonly metadata: NamedObject['metadata'] & { readonly creationTimestamp?: string | null };
}

/** A built-in object in an answer, with the selected fields. Absent fields are null. */
export type AnsweredObject<T> = ListedItem & Stored<Omit<T, 'metadata' | 'kind' | 'apiVersion'>, null>;

/** The GraphQL selection that gives a `ListedItem`. */
export const itemFields = 'apiVersion kind cluster { name } metadata { name namespace creationTimestamp }';

/** The facts that a cell depends on, besides its object. */
export interface CellContext {
  readonly nowMs: number;
  /** True if several kinds are listed: then names contain the kind. */
  readonly isMixed: boolean;
}

/** One column of the table of a kind. */
export interface PrintedColumn<Item extends ListedItem = ListedItem> {
  /** The header in capitals. */
  readonly header: string;
  /** Set for a column that is shown only with `-o wide`. */
  readonly isWide?: true;
  /** The GraphQL selection on the kind's type that the cells need, in addition to `itemFields`. May be empty. */
  readonly fields: string;
  /** Returns the cell of an object, or undefined if the object has no such column. Any selected field may be null. */
  cell(item: Item, at: CellContext): string | undefined;
}

/** The table of one kind, as kubectl prints it. */
export interface KindTable {
  readonly group: string;
  readonly kind: string;
  readonly columns: readonly PrintedColumn[];
}

/** The column NAME. It contains the kind if several kinds are listed. */
export const nameColumn = {
  header: 'NAME',
  fields: '',
  cell: (item: ListedItem, { isMixed }: CellContext) => (isMixed ? kindAndName(item) : item.metadata.name),
} satisfies PrintedColumn;

/** The column AGE. */
export const ageColumn = {
  header: 'AGE',
  fields: '',
  cell: ({ metadata }: ListedItem, { nowMs }: CellContext) => ageText(metadata.creationTimestamp, nowMs),
} satisfies PrintedColumn;

/** Returns `<none>` for an absent or empty text, as kubectl does. */
export function orNone(text: Maybe<string>): string {
  return text === undefined || text === null || text === '' ? '<none>' : text;
}

/** Returns the number as text. 0 if it is absent. */
export function countText(count: Int64Value): string {
  return String(count ?? 0);
}
