import { isRawNumber, type Json } from '../json.ts';
import { listAt, valueAt } from '../json-at.ts';
import { countText, type ListedItem, type PrintedColumn } from './printed-column.ts';

interface PathColumn {
  /** The cell of an object that has no value at the path. Default: empty. */
  readonly absent?: string;
}

/** Returns a column with the text, number or boolean at a path of the kind's type, such as `spec.replicas`. */
export function pathColumn(header: string, path: string, { absent = '' }: PathColumn = {}): PrintedColumn {
  const keys = path.split('.');
  return { header, fields: fieldsOf(keys), cell: (item) => scalarText(valueAt(jsonOf(item), ...keys)) ?? absent };
}

/** Returns a column with the length of the list at a path. `field` is any field of its elements, because GraphQL must select one. */
export function countColumn(header: string, path: string, field: string): PrintedColumn {
  const keys = path.split('.');
  return { header, fields: fieldsOf([...keys, field]), cell: (item) => countText(listAt(jsonOf(item), ...keys).length) };
}

/** Returns a column that computes its cells from the selected fields. */
export function computedColumn<Item extends ListedItem>(header: string, fields: string, cell: (item: Item) => string): PrintedColumn {
  return { header, fields, cell };
}

/** Returns the text of a scalar as Go prints it. Undefined for other values. */
function scalarText(value: Json | undefined): string | undefined {
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns the object as JSON: an answer of the gateway is always JSON. */
function jsonOf(item: ListedItem): Json {
  return item as unknown as Json;
}

function fieldsOf(keys: readonly string[]): string {
  return keys.reduceRight((inner, key) => (inner === '' ? key : `${key} { ${inner} }`), '');
}
