import { columnsOfDefinitions, type Definition, definitionsQuery } from '../../core/columns/custom-columns.ts';
import { columnsOfKind, kindTables } from '../../core/columns/kind-tables.ts';
import { labelsText } from '../../core/columns/label-texts.ts';
import { itemFields, type ListedItem, orNone, type PrintedColumn } from '../../core/columns/printed-column.ts';
import type { ListTarget } from '../arguments/object-words.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import type { GatewayRequest } from '../client/gateway-client.ts';
import { listPages, type ObjectSelection, pageRequest } from '../client/list-pages.ts';
import { fullKindName, type ResolvedKind } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { stylesOf } from '../output/cell-style.ts';
import { createTableColumns, type Paint, paintFor, textOfLines } from '../output/table.ts';
import { type FoundNames, nameCondition } from './find-named.ts';
import type { ResolvedListTarget } from './target-kinds.ts';

export interface ListTablesOptions {
  readonly targets: readonly ResolvedListTarget[];
  /** The selection of objects. A target with names replaces its `where` by a condition on the names. */
  readonly selected: ObjectSelection;
  readonly report: ClusterFaultReport;
  /** Collects the found names of the targets, and which clusters have answered. */
  readonly found: FoundNames;
  readonly table: TableFlags;
}

/** The flags that change a table. */
export interface TableFlags {
  readonly isWide: boolean;
  readonly hasHeaders: boolean;
  /** True: the last column shows all labels. */
  readonly showsLabels: boolean;
  /** The keys of labels that have a column each. */
  readonly labelColumns: readonly string[];
}

/**
 * Prints a table of each kind, in the order of the targets, with an empty line between tables. A kind without objects gets no table.
 *
 * @returns True if there was an object.
 * @throws {CommandFailure} if the gateway refuses a query. Then nothing is printed.
 */
export async function listTables(session: Session, options: ListTablesOptions): Promise<boolean> {
  const { terminal } = session;
  const { targets } = options;
  const kinds = new Map<string, { readonly kind: ResolvedKind; readonly target: ListTarget }>();
  // Two words that mean the same kind give one table. If the targets name objects, each target has its own table.
  for (const target of targets)
    for (const kind of target.kinds) kinds.set(`${target.names === undefined ? '' : target.kind} ${fullKindName(kind)}`, { kind, target });
  const tables: string[] = [];
  for (const one of kinds.values()) {
    const lines = await tableOf(session, one, { ...options, isMixed: kinds.size > 1 });
    if (lines.length > 0) tables.push(textOfLines(lines));
  }
  if (tables.length > 0) await terminal.out(tables.join('\n'));
  return tables.length > 0;
}

/** Returns all columns of the table of one kind: location, the columns of the kind, labels. */
export async function tableColumns(session: Session, kind: ResolvedKind, table: TableFlags): Promise<readonly PrintedColumn[]> {
  return [...locationColumns(kind), ...(await columnsToPrint(session, kind, table)), ...labelColumns(table)];
}

/** Returns the columns that kubectl prints for a kind, without cluster and namespace. Columns of `-o wide` are among them only if `isWide`. */
export async function columnsToPrint(
  session: Session,
  kind: ResolvedKind,
  { isWide }: { readonly isWide: boolean },
): Promise<readonly PrintedColumn[]> {
  const columns = kind.source === 'CUSTOM' ? await customColumns(session, kind) : columnsOfKind(kind);
  return columns.filter((column) => isWide || column.isWide !== true);
}

/**
 * Queries the columns of a custom kind from the definitions in all clusters. Only NAME and AGE if there is no definition, or if the caller
 * may read none.
 */
async function customColumns({ gateway, clusters }: Session, { group, plural }: ResolvedKind): Promise<readonly PrintedColumn[]> {
  const { customResourceDefinitions: found } = await gateway.query<{
    readonly customResourceDefinitions: { readonly items: readonly Definition[] };
  }>(definitionsQuery, { clusters, name: `${plural}.${group}` });
  return columnsOfDefinitions(found.items);
}

/** Returns the GraphQL selection that these columns need. */
export function selectionForColumns({ type }: ResolvedKind, columns: readonly PrintedColumn[]): string {
  const fields = [...new Set(columns.map((column) => column.fields))].filter((text) => text !== '');
  return `${itemFields}${fields.length === 0 ? '' : ` ... on ${type} { ${fields.join(' ')} }`}`;
}

/**
 * Returns the first request for the table of the kind that a word probably means: a built-in kind of that name. Only the gateway knows the kind,
 * as clusters may serve another one of that name. Undefined if no built-in kind has the name.
 */
export async function likelyTableRequest(
  session: Session,
  word: string,
  { selected, table }: Pick<ListTablesOptions, 'selected' | 'table'>,
): Promise<GatewayRequest | undefined> {
  const known = kindTables.find(({ kind }) => [kind.toLowerCase(), pluralOf(kind.toLowerCase())].includes(word.toLowerCase()));
  if (known === undefined) return undefined;
  const { group, kind: type } = known;
  // Whether the kind has namespaces does not change the request: the column NAMESPACE needs no field of its own.
  const kind = { group, kind: type, type, plural: pluralOf(type.toLowerCase()), namespaced: true, source: 'BUILT_IN' };
  const fields = selectionForColumns(kind, await tableColumns(session, kind, table));
  return pageRequest(session, { kinds: [fullKindName(kind)], selected, fields }, null);
}

function pluralOf(name: string): string {
  return name
    .replace(/y$/, 'ie')
    .replace(/(?<=ss|x|ch)$/, 'e')
    .concat('s');
}

/** Returns the lines of the table of one kind. Reads all rows first, because the width of a column is known only at the end. */
async function tableOf(
  session: Session,
  { kind, target }: { readonly kind: ResolvedKind; readonly target: ListTarget },
  { selected, report, found, table, isMixed }: ListTablesOptions & { readonly isMixed: boolean },
): Promise<readonly string[]> {
  const columns = await tableColumns(session, kind, table);
  const at = { nowMs: session.clock.now(), isMixed };
  const rows: (readonly (string | undefined)[])[] = [];
  const isNamed = target.names !== undefined;
  const { names, answers } = isNamed ? found.forTarget(target) : { names: new Set<string>(), answers: found.answers };
  const chosen = isNamed ? { ...selected, where: nameCondition(target) } : selected;
  const options = { kinds: [fullKindName(kind)], selected: chosen, fields: selectionForColumns(kind, columns), report, answers };
  for await (const items of listPages<ListedItem>(session, options)) {
    for (const { metadata } of items) names.add(metadata.name);
    rows.push(...items.map((item) => columns.map((column) => column.cell(item, at))));
  }
  return tableLines(columns, rows, { paint: paintFor(session.terminal), hasHeader: table.hasHeaders });
}

/** Returns the lines of a table. A column is left out if no row has a value in it. */
export function tableLines(
  columns: readonly PrintedColumn[],
  rows: readonly (readonly (string | undefined)[])[],
  { paint, hasHeader }: { readonly paint: Paint; readonly hasHeader?: boolean },
): readonly string[] {
  const shown = columns.map((_, at) => rows.some((row) => row[at] !== undefined));
  const header = columns.map((column) => column.header).filter((_, at) => shown[at]);
  const cells = rows.map((row) => row.filter((_, at) => shown[at]).map((cell = '') => firstLine(cell)));
  return createTableColumns(header, { hasHeader }).lines(cells, stylesOf(header, cells, paint));
}

/** Returns the columns CLUSTER and, for namespaced kinds, NAMESPACE. */
export function locationColumns({ namespaced }: Pick<ResolvedKind, 'namespaced'>): readonly PrintedColumn[] {
  const cluster: PrintedColumn = { header: 'CLUSTER', fields: '', cell: (item) => item.cluster.name };
  const namespace: PrintedColumn = { header: 'NAMESPACE', fields: '', cell: ({ metadata }) => metadata.namespace ?? '' };
  return namespaced ? [cluster, namespace] : [cluster];
}

/** Returns the columns of `-L` and `--show-labels`, with kubectl's headers. */
export function labelColumns({
  labelColumns: keys,
  showsLabels,
}: Pick<TableFlags, 'labelColumns' | 'showsLabels'>): readonly PrintedColumn[] {
  const fields = 'metadata { labels }';
  const labels = ({ metadata }: ListedItem) => (metadata as { readonly labels?: Readonly<Record<string, string>> | null }).labels ?? {};
  const chosen = keys.map((key) => ({
    header: (key.split('/').at(-1) ?? '').toUpperCase(),
    fields,
    cell: (item: ListedItem) => labels(item)[key] ?? '',
  }));
  return showsLabels ? [...chosen, { header: 'LABELS', fields, cell: (item) => orNone(labelsText(labels(item))) }] : chosen;
}

/** Cuts a cell after its first line, as kubectl does. */
export function firstLine(text: string): string {
  const end = text.search(/[\f\n\r]/);
  return end === -1 ? text : `${text.slice(0, end)}...`;
}
