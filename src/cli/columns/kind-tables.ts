import { autoscalerTable } from './autoscaler-table.ts';
import { builtInTables } from './built-in-tables.ts';
import { clusterTables } from './cluster-tables.ts';
import { eventTable } from './event-table.ts';
import { networkTables } from './network-tables.ts';
import { podTable } from './pod-table.ts';
import { ageColumn, type KindTable, nameColumn, type PrintedColumn } from './printed-column.ts';
import { storageTables } from './storage-tables.ts';
import { workloadTables } from './workload-tables.ts';

/** The tables of the kinds whose columns are known here. */
export const kindTables: readonly KindTable[] = [
  podTable,
  ...workloadTables,
  ...networkTables,
  ...clusterTables,
  ...storageTables,
  autoscalerTable,
  eventTable,
  ...builtInTables,
];

const plain: readonly PrintedColumn[] = [nameColumn, ageColumn];

/** The columns of a kind, in kubectl's order, without cluster and namespace: name and age where no others are known. */
export function columnsOfKind({ group, kind }: Pick<KindTable, 'group' | 'kind'>): readonly PrintedColumn[] {
  return kindTables.find((table) => table.group === group && table.kind === kind)?.columns ?? plain;
}
