import type { V1Pod } from '@kubernetes/client-node';
import { autoscalerTable } from './autoscaler-table.ts';
import { builtInTables } from './built-in-tables.ts';
import { nodeTable } from './cluster-tables.ts';
import { eventTable } from './event-table.ts';
import { ageText } from './kubectl-text.ts';
import { networkTables } from './network-tables.ts';
import { type AnsweredObject, ageColumn, type KindTable, type Maybe, nameColumn, orNone, type PrintedColumn } from './printed-column.ts';
import { storageTables } from './storage-tables.ts';
import { workloadTables } from './workload-tables.ts';

type Pod = AnsweredObject<V1Pod> & {
  readonly podPhase: string;
  readonly podReady: string;
  readonly restarts: number;
  readonly lastRestart?: Maybe<string>;
};

const columns: readonly PrintedColumn<Pod>[] = [
  nameColumn,
  { header: 'READY', fields: 'podReady: ready', cell: ({ podReady }) => podReady },
  { header: 'STATUS', fields: 'podPhase: phase', cell: ({ podPhase }) => podPhase },
  {
    header: 'RESTARTS',
    fields: 'restarts lastRestart',
    cell: ({ restarts, lastRestart }, { nowMs }) =>
      restarts === 0 || !lastRestart ? String(restarts) : `${restarts} (${ageText(lastRestart, nowMs)} ago)`,
  },
  ageColumn,
  {
    header: 'IP',
    isWide: true,
    fields: 'status { podIP podIPs { ip } }',
    cell: ({ status }) => orNone(status?.podIPs?.[0]?.ip ?? status?.podIP),
  },
  { header: 'NODE', isWide: true, fields: 'spec { nodeName }', cell: ({ spec }) => orNone(spec?.nodeName) },
  {
    header: 'NOMINATED NODE',
    isWide: true,
    fields: 'status { nominatedNodeName }',
    cell: ({ status }) => orNone(status?.nominatedNodeName),
  },
  {
    header: 'READINESS GATES',
    isWide: true,
    fields: 'spec { readinessGates { conditionType } } status { conditions { type status } }',
    cell: gatesText,
  },
];

const podTable: KindTable = { group: '', kind: 'Pod', columns };

function gatesText({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  const isTrue = (gate: Maybe<string>) => status?.conditions?.find(({ type }) => type === gate)?.status === 'True';
  return gates.length === 0 ? '<none>' : `${gates.filter(({ conditionType }) => isTrue(conditionType)).length}/${gates.length}`;
}

/** The tables of all kinds with built-in columns. */
export const kindTables: readonly KindTable[] = [
  podTable,
  ...workloadTables,
  ...networkTables,
  nodeTable,
  ...storageTables,
  autoscalerTable,
  eventTable,
  ...builtInTables,
];

const plain: readonly PrintedColumn[] = [nameColumn, ageColumn];

/** Returns the columns of a kind in kubectl's order, without cluster and namespace. Default: NAME and AGE. */
export function columnsOfKind({ group, kind }: Pick<KindTable, 'group' | 'kind'>): readonly PrintedColumn[] {
  return kindTables.find((table) => table.group === group && table.kind === kind)?.columns ?? plain;
}
