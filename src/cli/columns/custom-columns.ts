import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { parseJsonPath } from '../../core/json-path.ts';
import { humanDuration } from '../human-duration.ts';
import type { Session } from '../session.ts';
import { ageColumn, type CellContext, type ListedItem, type Maybe, nameColumn, type PrintedColumn } from './printed-column.ts';

/** `additionalPrinterColumns`: what a definition says of one column. */
export interface DefinedColumn {
  readonly name: Maybe<string>;
  readonly type: Maybe<string>;
  readonly jsonPath: Maybe<string>;
  readonly priority?: Maybe<number>;
}

/** The definition of a kind in one cluster. */
export interface Definition {
  readonly cluster: { readonly name: string };
  readonly spec?: Maybe<{
    readonly versions?: Maybe<
      readonly { readonly name?: Maybe<string>; readonly additionalPrinterColumns?: Maybe<readonly DefinedColumn[]> }[]
    >;
  }>;
}

interface Custom extends ListedItem {
  readonly object?: JsonObject;
}

/** Asks for the columns of a custom kind, as the definition of each cluster has them: name and age where it has none, or may not be read. */
export async function customColumns(
  { gateway, clusters }: Session,
  { group, plural }: { readonly group: string; readonly plural: string },
): Promise<readonly PrintedColumn[]> {
  const query = `query ($clusters: [String!], $name: JSON!) {
    customResourceDefinitions(clusters: $clusters, where: { path: "metadata.name", eq: $name }, first: 500) {
      items { cluster { name } spec { versions { name additionalPrinterColumns { name type jsonPath priority } } } }
    }
  }`;
  const answer = await gateway.query<{ readonly customResourceDefinitions: { readonly items: readonly Definition[] } }>(query, {
    clusters,
    name: `${plural}.${group}`,
  });
  return columnsOfDefinitions(answer.customResourceDefinitions.items);
}

/**
 * The columns of the definitions of one kind: NAME, then those of the first cluster, then what others have besides. The cell of an object is what
 * the definition of its own cluster says for the version it was read in; undefined where that has no such column.
 */
export function columnsOfDefinitions(definitions: readonly Definition[]): readonly PrintedColumn[] {
  const byVersion = new Map<string, ReadonlyMap<string, Cell>>();
  const headers = new Map<string, Header>();
  for (const { cluster, spec } of definitions) {
    for (const { name, additionalPrinterColumns } of spec?.versions ?? []) {
      const columns = additionalPrinterColumns?.length ? additionalPrinterColumns : usualColumns;
      for (const column of columns) headers.set(headerOf(column), joined(headers.get(headerOf(column)), column));
      byVersion.set(keyOf(cluster.name, name ?? ''), new Map(columns.map((column) => [headerOf(column), cellOf(column)])));
    }
  }
  if (headers.size === 0) return [nameColumn, ageColumn];
  const cellIn = (item: Custom, header: string) => {
    const cells = byVersion.get(keyOf(item.cluster.name, item.apiVersion.split('/').at(-1) ?? ''));
    return cells === undefined && header === ageColumn.header ? ageColumn.cell : cells?.get(header);
  };
  const printed = [...headers].map(([header, { isWide, isAge }]) => ({
    ...(isWide ? { isWide: true as const } : {}),
    header,
    fields: isAge ? '' : 'object',
    cell: (item: Custom, at: CellContext) => cellIn(item, header)?.(item, at),
  }));
  return [nameColumn, ...printed];
}

/** Of a version that says nothing of columns. */
const usualColumns: readonly DefinedColumn[] = [{ name: ageColumn.header, type: 'date', jsonPath: '.metadata.creationTimestamp' }];

/** What all definitions say of the columns of one name. */
interface Header {
  /** All of them have it among the wide ones. */
  readonly isWide: boolean;
  /** To all of them it is the age of the object, which is known anyway. */
  readonly isAge: boolean;
}

function joined({ isWide, isAge }: Header = { isWide: true, isAge: true }, column: DefinedColumn): Header {
  return { isWide: isWide && (column.priority ?? 0) !== 0, isAge: isAge && isAgeColumn(column) };
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

/** What the API server makes of a value for a column of that type: only text of what has the type, but anything for `string`. */
function textOf(type: string, value: Json, nowMs: number): string {
  switch (type) {
    case 'integer':
      return isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(Math.trunc(value)) : '';
    case 'number':
      return isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? numberText(value) : '';
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : '';
    case 'date':
      return typeof value === 'string' ? dateText(value, nowMs) : '';
    default:
      if (value === null) return '<no value>';
      if (Array.isArray(value) || isJsonObject(value)) return JSON.stringify(value);
      return isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? numberText(value) : String(value);
  }
}

/** As the API server, which is written in Go, prints one: `1e-05`. */
function numberText(value: number): string {
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, (_, sign: string, digit: string) => `e${sign}0${digit}`);
}

/** Unlike an AGE, what is no time is said to be none. */
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
