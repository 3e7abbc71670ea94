import { groupOfApiVersion, keyOfKind } from '../kinds.ts';
import { kindTables } from './kind-tables.ts';
import { ageColumn, type CellContext, itemFields, type ListedItem, type PrintedColumn } from './printed-column.ts';
import { readyOfDaemons, readyOfReplicas } from './workload-tables.ts';

/** The state of an object of any kind, in columns. READY and STATUS are empty for a kind without them. */
export interface ObjectSummary {
  /** Ready and wanted replicas: `2/3`. */
  readonly ready: string;
  readonly status: string;
  readonly age: string;
}

interface SummaryColumns {
  readonly kind: string;
  readonly ready?: PrintedColumn;
  readonly status?: PrintedColumn;
}

/** READY columns of kinds whose own table has no column READY with two numbers. */
const readyOfKinds: ReadonlyMap<string, PrintedColumn> = new Map([
  ['ReplicaSet.apps', readyOfReplicas()],
  ['ReplicationController', readyOfReplicas()],
  ['DaemonSet.apps', readyOfDaemons],
]);

const byKind: ReadonlyMap<string, SummaryColumns> = new Map(
  kindTables.flatMap((table) => {
    const column = (...headers: readonly string[]) => table.columns.find(({ header }) => headers.includes(header));
    const ready = readyOfKinds.get(keyOfKind(table)) ?? column('READY', 'COMPLETIONS');
    const status = column('STATUS');
    const known = { kind: table.kind, ...(ready === undefined ? {} : { ready }), ...(status === undefined ? {} : { status }) };
    return ready === undefined && status === undefined ? [] : [[keyOfKind(table), known] as const];
  }),
);

/** Name of the GraphQL fragment with all fields that `objectSummary` reads. */
export const summaryFragment = 'Summary';

/** The definition of the fragment. */
export const summaryDefinition = `fragment ${summaryFragment} on Resource { ${itemFields} ${[...byKind.values()]
  .map(({ kind, ready, status }) => `... on ${kind} { ${ready?.fields ?? ''} ${status?.fields ?? ''} }`)
  .join(' ')} }`;

/** Returns the columns of an object that a query selected with `summaryFragment`. A column that its kind does not have is empty. */
export function objectSummary(item: ListedItem, at: CellContext): ObjectSummary {
  const known = byKind.get(keyOfKind({ group: groupOfApiVersion(item.apiVersion), kind: item.kind }));
  return {
    ready: known?.ready?.cell(item, at) ?? '',
    status: known?.status?.cell(item, at) ?? '',
    age: ageColumn.cell(item, at),
  };
}
