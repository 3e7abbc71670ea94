import { groupOfApiVersion, keyOfKind } from '../../core/kinds.ts';
import { kindTables } from './kind-tables.ts';
import { ageColumn, type CellContext, itemFields, type ListedItem, type PrintedColumn } from './printed-column.ts';
import { readyOfDaemons, readyOfReplicas } from './workload-tables.ts';

/** How an object of any kind is, in few words; empty where its kind has none. */
export interface ObjectSummary {
  /** `2/3`. */
  readonly ready: string;
  readonly status: string;
  readonly age: string;
}

interface SummaryColumns {
  readonly kind: string;
  readonly ready?: PrintedColumn;
  readonly status?: PrintedColumn;
}

/** Where READY is a mere count in the table of the kind, or goes by another name. */
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

/** The name of a GraphQL fragment with all that `propagationSummary` reads of an object of any kind. */
export const summaryFragment = 'Summary';

/** Its definition. */
export const summaryDefinition = `fragment ${summaryFragment} on Resource { ${itemFields} ${[...byKind.values()]
  .map(({ kind, ready, status }) => `... on ${kind} { ${ready?.fields ?? ''} ${status?.fields ?? ''} }`)
  .join(' ')} }`;

/** How an object is of which the fragment was selected. */
export function objectSummary(item: ListedItem, at: CellContext): ObjectSummary {
  const known = byKind.get(keyOfKind({ group: groupOfApiVersion(item.apiVersion), kind: item.kind }));
  return {
    ready: known?.ready?.cell(item, at) ?? '',
    status: known?.status?.cell(item, at) ?? '',
    age: ageColumn.cell(item, at),
  };
}
