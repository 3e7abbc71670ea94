import { ageOf, humanDuration } from '../human-duration.ts';
import { completionsText, wordOf } from '../job-status.ts';
import { type LabelSelector, labelsText, selectorFields, selectorText } from './label-texts.ts';
import {
  ageColumn,
  countText,
  type KindTable,
  type ListedItem,
  type Maybe,
  nameColumn,
  orNone,
  type PrintedColumn,
  type Whole,
} from './printed-column.ts';

interface Template {
  readonly spec?: Maybe<{
    readonly containers?: Maybe<readonly { readonly name?: Maybe<string>; readonly image?: Maybe<string> }[]>;
    readonly nodeSelector?: Maybe<Readonly<Record<string, string>>>;
  }>;
}

interface Workload extends ListedItem {
  readonly spec?: Maybe<{
    readonly replicas?: Whole;
    readonly selector?: Maybe<LabelSelector>;
    readonly template?: Maybe<Template>;
  }>;
  readonly status?: Maybe<Readonly<Record<string, Whole>>>;
}

interface Job extends Workload {
  readonly jobPhase: string;
  readonly spec?: Maybe<NonNullable<Workload['spec']> & { readonly completions?: Maybe<number>; readonly parallelism?: Maybe<number> }>;
  readonly status?: Maybe<{
    readonly succeeded?: Maybe<number>;
    readonly startTime?: Maybe<string>;
    readonly completionTime?: Maybe<string>;
  }>;
}

interface CronJob extends ListedItem {
  readonly spec?: Maybe<{
    readonly schedule?: Maybe<string>;
    readonly timeZone?: Maybe<string>;
    readonly suspend?: Maybe<boolean>;
    readonly jobTemplate?: Maybe<{ readonly spec?: Workload['spec'] }>;
  }>;
  readonly status?: Maybe<{
    readonly active?: Maybe<readonly unknown[]>;
    readonly lastScheduleTime?: Maybe<string>;
  }>;
}

/** Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs. */
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
  {
    group: 'apps',
    kind: 'ReplicaSet',
    columns: [
      nameColumn,
      { header: 'DESIRED', fields: 'spec { replicas }', cell: ({ spec }: Workload) => countText(spec?.replicas) },
      statusCount('CURRENT', 'replicas'),
      statusCount('READY', 'readyReplicas'),
      ageColumn,
      ...containerColumns(),
      selectorColumn(),
    ],
  },
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

function jobColumns(): readonly PrintedColumn<Job>[] {
  return [
    nameColumn,
    { header: 'STATUS', fields: 'jobPhase: phase', cell: ({ jobPhase }) => wordOf(jobPhase) },
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
    { header: 'SCHEDULE', fields: 'spec { schedule }', cell: ({ spec }) => spec?.schedule ?? '' },
    { header: 'TIMEZONE', fields: 'spec { timeZone }', cell: ({ spec }) => spec?.timeZone ?? '<none>' },
    { header: 'SUSPEND', fields: 'spec { suspend }', cell: ({ spec }) => truthText(spec?.suspend) },
    { header: 'ACTIVE', fields: 'status { active { uid } }', cell: ({ status }) => countText(status?.active?.length) },
    {
      header: 'LAST SCHEDULE',
      fields: 'status { lastScheduleTime }',
      cell: ({ status }, { nowMs }) => (status?.lastScheduleTime ? ageOf(status.lastScheduleTime, nowMs) : '<none>'),
    },
    ageColumn,
    ...[...containerColumns(), selectorColumn()].map((column) => inJobTemplate(column)),
  ];
}

/** The column of a Job, for what a CronJob makes its Jobs of. */
function inJobTemplate({ fields, cell, ...column }: PrintedColumn<Workload>): PrintedColumn<CronJob> {
  return {
    ...column,
    fields: `spec { jobTemplate { ${fields} } }`,
    cell: ({ spec, ...item }, at) => cell({ ...item, spec: spec?.jobTemplate?.spec, status: null }, at),
  };
}

/** READY of what keeps replicas: `2/3`. */
export function readyOfReplicas(): PrintedColumn<Workload> {
  return {
    header: 'READY',
    fields: 'spec { replicas } status { readyReplicas }',
    cell: ({ spec, status }) => `${countText(status?.readyReplicas)}/${countText(spec?.replicas)}`,
  };
}

/** READY of a DaemonSet, like that of the others: its own table counts in columns apart. */
export const readyOfDaemons: PrintedColumn<Workload> = {
  header: 'READY',
  fields: 'status { numberReady desiredNumberScheduled }',
  cell: ({ status }) => `${countText(status?.numberReady)}/${countText(status?.desiredNumberScheduled)}`,
};

function statusCount(header: string, field: string): PrintedColumn<Workload> {
  return { header, fields: `status { ${field} }`, cell: ({ status }) => countText(status?.[field]) };
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

function selectorColumn(textOf = (selector: Maybe<LabelSelector>) => orNone(selectorText(selector) ?? '<error>')): PrintedColumn<Workload> {
  return { header: 'SELECTOR', isWide: true, fields: `spec { ${selectorFields} }`, cell: ({ spec }) => textOf(spec?.selector) };
}

/** As kubectl: of a Job that failed it goes on. */
function durationText(start: Maybe<string>, end: Maybe<string>, nowMs: number): string {
  if (start === undefined || start === null) return '';
  return humanDuration((end === undefined || end === null ? nowMs : Date.parse(end)) - Date.parse(start));
}

function truthText(value: Maybe<boolean>): string {
  if (value === undefined || value === null) return '<unset>';
  return value ? 'True' : 'False';
}
