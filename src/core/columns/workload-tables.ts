import type { V1CronJob, V1DaemonSet, V1DaemonSetStatus, V1Deployment, V1DeploymentStatus, V1Job } from '@kubernetes/client-node';
import { pathColumn } from './json-columns.ts';
import { ageText, humanDuration, phaseText } from './kubectl-text.ts';
import { type AnsweredSelector, labelsText, selectorFields, selectorText } from './label-texts.ts';
import {
  type AnsweredObject,
  ageColumn,
  countText,
  type KindTable,
  type ListedItem,
  type Maybe,
  nameColumn,
  orNone,
  type PrintedColumn,
} from './printed-column.ts';

type Workload = AnsweredObject<V1Deployment & V1DaemonSet>;
type Counter = Exclude<keyof (V1DeploymentStatus & V1DaemonSetStatus), 'conditions'>;
type Job = AnsweredObject<V1Job> & { readonly jobPhase: string };
type Controller = ListedItem & { readonly spec?: Maybe<{ readonly podLabels?: Maybe<Readonly<Record<string, string>>> }> };
type CronJob = AnsweredObject<V1CronJob>;

/** The column SELECTOR of a ReplicationController, whose selector is a map of labels. */
const labelsColumn: PrintedColumn<Controller> = {
  header: 'SELECTOR',
  isWide: true,
  fields: 'spec { podLabels: selector }',
  cell: ({ spec }) => orNone(labelsText(spec?.podLabels)),
};

/** The tables of Deployments, ReplicationControllers, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs. */
export const workloadTables: readonly KindTable[] = [
  {
    group: 'apps',
    kind: 'Deployment',
    columns: [
      nameColumn,
      readyOfReplicas(),
      statusCount('UP-TO-DATE', 'updatedReplicas'),
      statusCount('AVAILABLE', 'availableReplicas'),
      ageColumn,
      ...containerColumns(),
      selectorColumn((selector) => selectorText(selector) ?? '<invalid>'),
    ],
  },
  { group: '', kind: 'ReplicationController', columns: replicaColumns(labelsColumn) },
  { group: 'apps', kind: 'ReplicaSet', columns: replicaColumns(selectorColumn()) },
  { group: 'apps', kind: 'StatefulSet', columns: [nameColumn, readyOfReplicas(), ageColumn, ...containerColumns()] },
  {
    group: 'apps',
    kind: 'DaemonSet',
    columns: [
      nameColumn,
      statusCount('DESIRED', 'desiredNumberScheduled'),
      statusCount('CURRENT', 'currentNumberScheduled'),
      statusCount('READY', 'numberReady'),
      statusCount('UP-TO-DATE', 'updatedNumberScheduled'),
      statusCount('AVAILABLE', 'numberAvailable'),
      {
        header: 'NODE SELECTOR',
        fields: 'spec { template { spec { nodeSelector } } }',
        cell: ({ spec }: Workload) => orNone(labelsText(spec?.template?.spec?.nodeSelector)),
      },
      ageColumn,
      ...containerColumns(),
      selectorColumn(),
    ],
  },
  { group: 'batch', kind: 'Job', columns: jobColumns() },
  { group: 'batch', kind: 'CronJob', columns: cronJobColumns() },
];

function replicaColumns(selector: PrintedColumn): readonly PrintedColumn[] {
  return [
    nameColumn,
    pathColumn('DESIRED', 'spec.replicas', { absent: '0' }),
    statusCount('CURRENT', 'replicas'),
    statusCount('READY', 'readyReplicas'),
    ageColumn,
    ...containerColumns(),
    selector,
  ];
}

function jobColumns(): readonly PrintedColumn<Job>[] {
  return [
    nameColumn,
    { header: 'STATUS', fields: 'jobPhase: phase', cell: ({ jobPhase }) => phaseText(jobPhase) },
    {
      header: 'COMPLETIONS',
      fields: 'spec { completions parallelism } status { succeeded }',
      cell: ({ spec, status }) =>
        completionsText({
          succeeded: status?.succeeded ?? 0,
          completions: spec?.completions ?? null,
          parallelism: spec?.parallelism ?? null,
        }),
    },
    {
      header: 'DURATION',
      fields: 'status { startTime completionTime }',
      cell: ({ status }, { nowMs }) => durationText(status?.startTime, status?.completionTime, nowMs),
    },
    ageColumn,
    ...containerColumns(),
    selectorColumn(),
  ];
}

function cronJobColumns(): readonly PrintedColumn<CronJob>[] {
  return [
    nameColumn,
    pathColumn('SCHEDULE', 'spec.schedule'),
    pathColumn('TIMEZONE', 'spec.timeZone', { absent: '<none>' }),
    { header: 'SUSPEND', fields: 'spec { suspend }', cell: ({ spec }) => truthText(spec?.suspend) },
    { header: 'ACTIVE', fields: 'status { active { uid } }', cell: ({ status }) => countText(status?.active?.length) },
    {
      header: 'LAST SCHEDULE',
      fields: 'status { lastScheduleTime }',
      cell: ({ status }, { nowMs }) => (status?.lastScheduleTime ? ageText(status.lastScheduleTime, nowMs) : '<none>'),
    },
    ageColumn,
    ...[...containerColumns(), selectorColumn()].map((column) => inJobTemplate(column)),
  ];
}

/** Converts a column of Jobs to a column of CronJobs, which reads the job template. */
function inJobTemplate({ fields, cell, ...column }: PrintedColumn<Workload>): PrintedColumn<CronJob> {
  return {
    ...column,
    fields: `spec { jobTemplate { ${fields} } }`,
    cell: ({ spec, ...item }, at) => cell({ ...item, spec: spec?.jobTemplate?.spec, status: null }, at),
  };
}

/** Returns the column READY of workloads with replicas: `2/3`. */
export function readyOfReplicas(): PrintedColumn<Workload> {
  return {
    header: 'READY',
    fields: 'spec { replicas } status { readyReplicas }',
    cell: ({ spec, status }) => `${countText(status?.readyReplicas)}/${countText(spec?.replicas)}`,
  };
}

/** The column READY of DaemonSets. Their own table has separate columns for these counts. */
export const readyOfDaemons: PrintedColumn<Workload> = {
  header: 'READY',
  fields: 'status { numberReady desiredNumberScheduled }',
  cell: ({ status }) => `${countText(status?.numberReady)}/${countText(status?.desiredNumberScheduled)}`,
};

function statusCount(header: string, field: Counter): PrintedColumn {
  return pathColumn(header, `status.${field}`, { absent: '0' });
}

function containerColumns(): readonly PrintedColumn<Workload>[] {
  const column = (header: string, field: 'name' | 'image'): PrintedColumn<Workload> => ({
    header,
    isWide: true,
    fields: `spec { template { spec { containers { ${field} } } } }`,
    cell: ({ spec }) => (spec?.template?.spec?.containers ?? []).map((container) => container[field] ?? '').join(','),
  });
  return [column('CONTAINERS', 'name'), column('IMAGES', 'image')];
}

function selectorColumn(
  textOf = (selector: Maybe<AnsweredSelector>) => orNone(selectorText(selector) ?? '<error>'),
): PrintedColumn<Workload> {
  return { header: 'SELECTOR', isWide: true, fields: `spec { ${selectorFields} }`, cell: ({ spec }) => textOf(spec?.selector) };
}

/** Returns the duration of a Job. The duration of a failed Job keeps growing, as in kubectl, because it has no completion time. */
function durationText(start: Maybe<string>, end: Maybe<string>, nowMs: number): string {
  if (start === undefined || start === null) return '';
  return humanDuration((end === undefined || end === null ? nowMs : Date.parse(end)) - Date.parse(start));
}

function truthText(value: Maybe<boolean>): string {
  if (value === undefined || value === null) return '<unset>';
  return value ? 'True' : 'False';
}

/** Returns succeeded and wanted completions: `2/5`, or `2/1 of 3` for a work queue. */
export function completionsText({
  succeeded,
  parallelism,
  completions,
}: {
  readonly succeeded: number;
  readonly parallelism: number | null;
  readonly completions: number | null;
}): string {
  return `${succeeded}/${completions ?? `1${(parallelism ?? 0) > 1 ? ` of ${parallelism}` : ''}`}`;
}
