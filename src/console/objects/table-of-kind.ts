import { columnsOfDefinitions, type Definition, definitionsQuery } from '../../core/columns/custom-columns.ts';
import { columnsOfKind } from '../../core/columns/kind-tables.ts';
import { ageColumn, itemFields, type ListedItem, nameColumn, type PrintedColumn } from '../../core/columns/printed-column.ts';
import { objectSummary, summaryDefinition, summaryFragment } from '../../core/columns/summary-columns.ts';
import { request } from '../gateway/graphql.ts';
import type { ShownKind } from './kind-names.ts';
import { type SelectedPath, selectPath } from './path-selection.ts';

/** An object of a table. */
export interface ObjectRow extends ListedItem {
  readonly id: string;
}

/** The columns of the table of a kind, and the subscription that fills them. */
export interface KindTableQuery {
  readonly columns: readonly PrintedColumn<ObjectRow>[];
  /** The paths of the query of the page: more columns, and the order. */
  readonly paths: ReadonlyMap<string, SelectedPath>;
  readonly query: string;
}

/** The paths that every object has, so that no question about the schema is needed. */
const usualPaths: ReadonlyMap<string, SelectedPath> = new Map(
  [
    { path: 'cluster.name', fields: '', read: (item: object) => (item as ObjectRow).cluster.name },
    { path: 'metadata.name', fields: '', read: (item: object) => (item as ObjectRow).metadata.name },
    { path: 'metadata.namespace', fields: '', read: (item: object) => (item as ObjectRow).metadata.namespace ?? undefined },
    { path: 'metadata.creationTimestamp', fields: '', read: (item: object) => (item as ObjectRow).metadata.creationTimestamp ?? undefined },
  ].map((one) => [one.path, one]),
);

/**
 * Makes the table of a kind: the columns of `muster list`, and a column for each path. Several kinds get the columns that all of them have.
 *
 * @returns The table, or the reason why a path is none.
 */
export async function tableOfKinds(
  kinds: readonly ShownKind[],
  paths: readonly string[],
): Promise<KindTableQuery | { readonly problem: string }> {
  const [kind] = kinds;
  if (kind === undefined) return { problem: 'no cluster serves this kind' };
  const isOne = kinds.length === 1;
  const selected = new Map<string, SelectedPath>();
  for (const path of paths) {
    const found = usualPaths.get(path) ?? (await selectPath(isOne ? kind.type : 'Resource', path));
    if ('problem' in found) return found;
    selected.set(path, found);
  }
  const columns = isOne ? await columnsOfOne(kind) : mixedColumns;
  const fields = [...columns.map((column) => column.fields), ...[...selected.values()].map((path) => path.fields)];
  return { columns, paths: selected, query: queryOf(isOne ? kind.type : 'Resource', new Set(fields), isOne ? '' : summaryDefinition) };
}

async function columnsOfOne(kind: ShownKind): Promise<readonly PrintedColumn<ObjectRow>[]> {
  const columns = kind.source === 'CUSTOM' ? await customColumns(kind) : columnsOfKind(kind);
  return columns.filter(({ isWide }) => isWide !== true);
}

async function customColumns({ plural, group }: ShownKind): Promise<readonly PrintedColumn[]> {
  const answer = await request<{ readonly customResourceDefinitions: { readonly items: readonly Definition[] } }>(definitionsQuery, {
    name: `${plural}.${group}`,
  });
  return columnsOfDefinitions(answer.customResourceDefinitions.items);
}

const mixedColumns: readonly PrintedColumn<ObjectRow>[] = [
  { header: 'KIND', fields: '', cell: ({ kind }) => kind },
  nameColumn,
  { header: 'READY', fields: `...${summaryFragment}`, cell: (item, at) => objectSummary(item, at).ready },
  { header: 'STATUS', fields: `...${summaryFragment}`, cell: (item, at) => objectSummary(item, at).status },
  ageColumn,
];

function queryOf(type: string, fields: ReadonlySet<string>, fragments: string): string {
  const more = [...fields].filter((text) => text !== '').join(' ');
  const object = `id ${itemFields} ${more === '' ? '' : `... on ${type} { ${more} }`}`;
  return `subscription ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $labels: String, $search: String, $where: Where, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, search: $search, where: $where, after: $after) {
      type cluster { name } kind { group kind } cursor fault { code message }
      added { ${object} } modified { ${object} } deleted { id }
    }
  } ${fragments}`;
}
