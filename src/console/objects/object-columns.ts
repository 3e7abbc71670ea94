import type { CellContext, PrintedColumn } from '../../core/columns/printed-column.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import { objectPath } from '../browser/paths.ts';
import type { TableColumn, Tone } from '../table/table-column.ts';
import { pathNameOfKind, type ShownKind } from './kind-names.ts';
import { textOfValue } from './path-values.ts';
import type { KindTableQuery, ObjectRow } from './table-of-kind.ts';

/** The paths that sort the columns of all kinds, by their headers. */
const sortPaths: Readonly<Record<string, string>> = { NAME: 'metadata.name', AGE: 'metadata.creationTimestamp' };

/** The paths that sort the columns of Pods, by their headers. */
const podSortPaths: Readonly<Record<string, string>> = { ...sortPaths, READY: 'ready', STATUS: 'phase', RESTARTS: 'restarts' };

const good = /^(?:Running|Ready|Active|Bound|Available|Complete|Completed|Succeeded|Synced|True)$/;
const bad = /Error|BackOff|Failed|Failure|Invalid|Killed|Evicted|Lost|NotReady|Unknown|Deadline|ExitCode|Signal|^False$/;

/** Returns the columns of a table of objects: cluster, namespace, those of the kind, and the paths of the page. */
export function objectColumns(
  kinds: readonly ShownKind[],
  table: KindTableQuery,
  morePaths: readonly string[],
): readonly TableColumn<ObjectRow>[] {
  const [kind] = kinds;
  const isPod = kinds.length === 1 && kind?.type === 'Pod';
  const cluster: TableColumn<ObjectRow> = { header: 'Cluster', text: (row) => row.cluster.name, sortPath: 'cluster.name' };
  const namespace: TableColumn<ObjectRow> = {
    header: 'Namespace',
    text: ({ metadata }) => metadata.namespace ?? '',
    sortPath: 'metadata.namespace',
  };
  return [
    cluster,
    ...(kinds.some(({ namespaced }) => namespaced) ? [namespace] : []),
    ...table.columns.map((column) => printedColumn(column, kinds, isPod ? podSortPaths : sortPaths)),
    ...morePaths.map((path): TableColumn<ObjectRow> => {
      return { header: path, text: (row) => textOfValue(table.paths.get(path)?.read(row)), sortPath: path };
    }),
  ];
}

function printedColumn(
  column: PrintedColumn<ObjectRow>,
  kinds: readonly ShownKind[],
  sorts: Readonly<Record<string, string>>,
): TableColumn<ObjectRow> {
  const { header } = column;
  const text = (row: ObjectRow, nowMs: number) => firstLineOf(column.cell(row, { nowMs, isMixed: false } satisfies CellContext) ?? '');
  return {
    header: titleOf(header),
    text,
    sortPath: sorts[header],
    ...(header === 'NAME' ? { href: (row: ObjectRow) => hrefOfObject(row, kinds) } : {}),
    ...(header === 'STATUS' ? { tone: (row: ObjectRow) => toneOfStatus(text(row, 0)) } : {}),
    ...(header === 'READY' ? { tone: (row: ObjectRow) => (isShort(text(row, 0)) && !hasEnded(row) ? 'warn' : undefined) } : {}),
    ...(header === 'TYPE' ? { tone: (row: ObjectRow) => (text(row, 0) === 'Warning' ? 'warn' : undefined) } : {}),
  };
}

/** Returns the path of the page of an object. */
export function hrefOfObject(
  { apiVersion, kind, cluster, metadata }: Pick<ObjectRow, 'apiVersion' | 'kind' | 'cluster' | 'metadata'>,
  kinds: readonly ShownKind[] = [],
): string {
  const group = groupOfApiVersion(apiVersion);
  const known = kinds.find((one) => one.kind === kind && one.group === group);
  const name = known === undefined ? (group === '' ? kind : `${kind}.${group}`) : pathNameOfKind(known);
  return objectPath({ cluster: cluster.name, kind: name, namespace: metadata.namespace ?? undefined, name: metadata.name });
}

/** Returns the tone of a word such as `Running` or `CrashLoopBackOff`. */
export function toneOfStatus(text: string): Tone {
  return bad.test(text) ? 'bad' : good.test(text) ? 'good' : 'warn';
}

/** True for a Pod that has completed. It is healthy although none of its containers is ready. */
function hasEnded(row: ObjectRow): boolean {
  return 'podPhase' in row && row.podPhase === 'Completed';
}

function isShort(text: string): boolean {
  const [, some = '', all = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  return Number(some) < Number(all);
}

/** Returns `Up-to-date` for `UP-TO-DATE`, and keeps words of two letters such as `IP`. */
function titleOf(header: string): string {
  return header.length <= 2 ? header : header.charAt(0) + header.slice(1).toLowerCase();
}

function firstLineOf(text: string): string {
  const end = text.search(/[\f\n\r]/);
  return end === -1 ? text : `${text.slice(0, end)}…`;
}
