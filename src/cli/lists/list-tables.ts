import type { ListTarget } from '../arguments/object-words.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import { listPages, type ObjectSelection } from '../client/list-pages.ts';
import { fullKindName, noClusterServes, type ResolvedKind, resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { stylesOf } from '../columns/cell-style.ts';
import { customColumns } from '../columns/custom-columns.ts';
import { columnsOfKind } from '../columns/kind-tables.ts';
import { itemFields, type ListedItem, type PrintedColumn } from '../columns/printed-column.ts';
import { createTableColumns, type Paint, paintFor, textOfLines } from '../output/table.ts';
import { type FoundNames, nameCondition } from './find-named.ts';

export interface ListTablesOptions {
  readonly targets: readonly ListTarget[];
  /** The selection of objects. A target with names replaces its `where` by a condition on the names. */
  readonly selected: ObjectSelection;
  readonly report: ClusterFaultReport;
  /** Collects the found names of the targets, and which clusters have answered. */
  readonly found: FoundNames;
  readonly isWide: boolean;
}

/**
 * Prints a table of each kind, in the order of the targets, with an empty line between tables. A kind without objects gets no table.
 *
 * @returns True if there was an object.
 * @throws {CommandFailure} if no cluster serves any of the kinds, or the gateway refuses a query. Then nothing is printed.
 */
export async function listTables(session: Session, options: ListTablesOptions): Promise<boolean> {
  const { terminal } = session;
  const { targets } = options;
  const kinds = new Map<string, { readonly kind: ResolvedKind; readonly target: ListTarget }>();
  const resolved = await kindsOfTargets(session, targets);
  // Two names of one kind give one table, unless the targets have names of objects.
  for (const one of resolved) kinds.set(`${one.target.names === undefined ? '' : one.target.kind} ${fullKindName(one.kind)}`, one);
  const tables: string[] = [];
  for (const one of kinds.values()) {
    const lines = await tableOf(session, one, { ...options, isMixed: kinds.size > 1 });
    if (lines.length > 0) tables.push(textOfLines(lines));
  }
  if (tables.length > 0) await terminal.out(tables.join('\n'));
  return tables.length > 0;
}

/** Returns the kinds of all targets. A target may mean several kinds. */
async function kindsOfTargets(session: Session, targets: readonly ListTarget[]) {
  const resolved = await Promise.all(targets.map(({ kind }) => resolveKinds(session, [kind])));
  const kinds = resolved.flatMap((some, at) => some.map(({ kind }) => ({ kind, target: targets[at] ?? { kind: '' } })));
  if (kinds.length === 0) throw noClusterServes(targets.map(({ kind }) => kind));
  return kinds;
}

/** Returns the columns of a kind as kubectl prints them, without cluster and namespace. Wide columns only if `isWide`. */
export async function columnsToPrint(
  session: Session,
  kind: ResolvedKind,
  { isWide }: { readonly isWide: boolean },
): Promise<readonly PrintedColumn[]> {
  const columns = kind.source === 'CUSTOM' ? await customColumns(session, kind) : columnsOfKind(kind);
  return columns.filter((column) => isWide || column.isWide !== true);
}

/** Returns the GraphQL selection that these columns need. */
export function selectionForColumns({ type }: ResolvedKind, columns: readonly PrintedColumn[]): string {
  const fields = [...new Set(columns.map((column) => column.fields))].filter((text) => text !== '');
  return `${itemFields}${fields.length === 0 ? '' : ` ... on ${type} { ${fields.join(' ')} }`}`;
}

/** Returns the lines of the table of one kind. Reads all rows first, because the width of a column is known only at the end. */
async function tableOf(
  session: Session,
  { kind, target }: { readonly kind: ResolvedKind; readonly target: ListTarget },
  { selected, report, found, isWide, isMixed }: ListTablesOptions & { readonly isMixed: boolean },
): Promise<readonly string[]> {
  const columns = [...locationColumns(kind), ...(await columnsToPrint(session, kind, { isWide }))];
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
  return tableLines(columns, rows, paintFor(session.terminal));
}

/** Returns the lines of a table, without columns that no object has. */
export function tableLines(
  columns: readonly PrintedColumn[],
  rows: readonly (readonly (string | undefined)[])[],
  paint: Paint,
): readonly string[] {
  const shown = columns.map((_, at) => rows.some((row) => row[at] !== undefined));
  const header = columns.map((column) => column.header).filter((_, at) => shown[at]);
  const cells = rows.map((row) => row.filter((_, at) => shown[at]).map((cell = '') => firstLine(cell)));
  return createTableColumns(header).lines(cells, stylesOf(header, cells, paint));
}

/** Returns the columns CLUSTER and, for namespaced kinds, NAMESPACE. */
export function locationColumns({ namespaced }: Pick<ResolvedKind, 'namespaced'>): readonly PrintedColumn[] {
  const cluster: PrintedColumn = { header: 'CLUSTER', fields: '', cell: (item) => item.cluster.name };
  const namespace: PrintedColumn = { header: 'NAMESPACE', fields: '', cell: ({ metadata }) => metadata.namespace ?? '' };
  return namespaced ? [cluster, namespace] : [cluster];
}

/** Cuts a cell after its first line, as kubectl does. */
export function firstLine(text: string): string {
  const end = text.search(/[\f\n\r]/);
  return end === -1 ? text : `${text.slice(0, end)}...`;
}
