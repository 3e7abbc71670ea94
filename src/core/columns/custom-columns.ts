import { compareApiVersions } from '../api-versions.ts';
import { parseJsonPath } from '../json/json-path.ts';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../json.ts';
import { goFloat, goJson } from '../jsonpath/go-text.ts';
import { versionOfApiVersion } from '../kinds.ts';
import { humanDuration } from './kubectl-text.ts';
import { ageColumn, type CellContext, type ListedItem, type Maybe, nameColumn, type PrintedColumn } from './printed-column.ts';

/** One column of `additionalPrinterColumns`. */
export interface DefinedColumn {
  readonly name: Maybe<string>;
  readonly type: Maybe<string>;
  readonly jsonPath: Maybe<string>;
  readonly priority?: Maybe<number>;
}

/** The CustomResourceDefinition of a kind in one cluster. */
export interface Definition {
  readonly cluster: { readonly name: string };
  readonly spec?: Maybe<{
    readonly versions?: Maybe<
      readonly {
        readonly name?: Maybe<string>;
        /** Default: true. */
        readonly served?: Maybe<boolean>;
        readonly additionalPrinterColumns?: Maybe<readonly DefinedColumn[]>;
      }[]
    >;
  }>;
}

interface Custom extends ListedItem {
  readonly object?: JsonObject;
}

/** The GraphQL query for the definitions of one custom kind. Its variables are `clusters` and `name`, such as `widgets.example.com`. */
export const definitionsQuery = `query ($clusters: [String!], $name: JSON!) {
  customResourceDefinitions(clusters: $clusters, where: { path: "metadata.name", eq: $name }, first: 500) {
    items { cluster { name } spec { versions { name served additionalPrinterColumns { name type jsonPath priority } } } }
  }
}`;

/**
 * Returns the columns of all definitions of one kind: NAME, then the columns of the first cluster, then further columns of other clusters.
 *
 * Each cluster contributes the columns of the version that Muster reads: the served version that Kubernetes orders first. A cell follows
 * the definition in the object's own cluster, for the version in which the object was read. The cell is undefined if that definition has
 * no such column.
 */
export function columnsOfDefinitions(definitions: readonly Definition[]): readonly PrintedColumn[] {
  const byVersion = new Map<string, ReadonlyMap<string, Cell>>();
  const headers = new Map<string, Header>();
  const versions = definitions.flatMap(versionsOf);
  for (const { key, columns } of versions) byVersion.set(key, new Map(columns.map(({ key: header, column }) => [header, cellOf(column)])));
  for (const { columns } of versions.filter(({ isRead }) => isRead))
    for (const { key, column } of columns) headers.set(key, joined(headers.get(key), column));
  // Adds the columns of other versions: while Muster changes the version that it reads, some objects still have the old one. A column that
  // no object has is not shown.
  for (const { columns } of versions)
    for (const { key, column } of columns) if (!headers.has(key)) headers.set(key, joined(undefined, column));
  if (headers.size === 0) return [nameColumn, ageColumn];
  const cellIn = (item: Custom, key: string) => {
    const cells = byVersion.get(keyOf(item.cluster.name, versionOfApiVersion(item.apiVersion)));
    return cells === undefined && key === ageKey ? ageColumn.cell : cells?.get(key);
  };
  const printed = [...headers].map(([key, { header, isWide, isAge }]) => ({
    ...(isWide ? { isWide: true as const } : {}),
    header,
    fields: isAge ? '' : 'object',
    cell: (item: Custom, at: CellContext) => cellIn(item, key)?.(item, at),
  }));
  return [nameColumn, ...printed];
}

/** A column with a key that is equal for the same column in other definitions. */
interface KeyedColumn {
  readonly key: string;
  readonly column: DefinedColumn;
}

function versionsOf({ cluster, spec }: Definition) {
  const served = (spec?.versions ?? []).filter((version) => version.served !== false);
  const [read] = served.map(({ name }) => name ?? '').toSorted(compareApiVersions);
  return served.map(({ name, additionalPrinterColumns }) => ({
    key: keyOf(cluster.name, name ?? ''),
    isRead: name === read,
    columns: keyed(additionalPrinterColumns?.length ? additionalPrinterColumns : usualColumns),
  }));
}

/** Gives columns with equal headers different keys. Headers are equal if names differ only in case. */
function keyed(columns: readonly DefinedColumn[]): readonly KeyedColumn[] {
  const counts = new Map<string, number>();
  return columns.map((column) => {
    const header = headerOf(column);
    const count = counts.get(header) ?? 0;
    counts.set(header, count + 1);
    return { key: `${header} ${count}`, column };
  });
}

/** The columns of a version of a custom kind whose definition has no columns for that version. */
const usualColumns: readonly DefinedColumn[] = [{ name: ageColumn.header, type: 'date', jsonPath: '.metadata.creationTimestamp' }];

const ageKey = `${ageColumn.header} 0`;

/** One printed column, joined from the columns of all definitions that have the same key. */
interface Header {
  readonly header: string;
  /** True if every definition gives the column a priority above 0. */
  readonly isWide: boolean;
  /** True if every definition prints the creation timestamp, which is always selected. */
  readonly isAge: boolean;
}

function joined(before: Header | undefined, column: DefinedColumn): Header {
  const { header, isWide, isAge } = before ?? { header: headerOf(column), isWide: true, isAge: true };
  return { header, isWide: isWide && (column.priority ?? 0) !== 0, isAge: isAge && isAgeColumn(column) };
}

function isAgeColumn({ type, jsonPath }: DefinedColumn): boolean {
  return type === 'date' && jsonPath === '.metadata.creationTimestamp';
}

type Cell = (item: Custom, at: CellContext) => string | undefined;

function cellOf(column: DefinedColumn): Cell {
  if (isAgeColumn(column)) return ageColumn.cell;
  const path = parseJsonPath(column.jsonPath ?? '');
  return ({ object = {} }, { nowMs }) => {
    const value = path?.(object)[0];
    return value === undefined ? '' : textOf(column.type ?? '', value, nowMs);
  };
}

/**
 * Prints a value as the API server does for a column of that type. A value of another type gives an empty text, except for type `string`.
 */
function textOf(type: string, value: Json, nowMs: number): string {
  switch (type) {
    case 'integer':
      return isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(Math.trunc(value)) : '';
    case 'number':
      return numberCell(value);
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : '';
    case 'date':
      return typeof value === 'string' ? dateText(value, nowMs) : '';
    default:
      if (value === null) return '<no value>';
      if (Array.isArray(value) || isJsonObject(value)) return goJson(value);
      return isRawNumber(value) ? value.rawJSON : typeof value === 'number' && !Number.isInteger(value) ? goFloat(value) : String(value);
  }
}

/** Prints a number as the API server does: it converts to a double, and prints a whole double as an integer. */
function numberCell(value: Json): string {
  const number = isRawNumber(value) ? Number(value.rawJSON) : value;
  if (typeof number !== 'number') return '';
  return Number.isInteger(number) && Math.abs(number) < 2 ** 63 ? BigInt(number).toString() : goFloat(number);
}

/** Prints the time since a date. An invalid date is `<invalid>`. */
function dateText(text: string, nowMs: number): string {
  if (text === '' || text === 'null') return '<unknown>';
  return humanDuration(nowMs - (/^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN));
}

function headerOf({ name }: DefinedColumn): string {
  return (name ?? '').toUpperCase();
}

function keyOf(cluster: string, version: string): string {
  return `${cluster} ${version}`;
}
