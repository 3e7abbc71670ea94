import type { V2HorizontalPodAutoscaler, V2MetricValueStatus } from '@kubernetes/client-node';
import type { Stored } from '../stored.ts';
import { pathColumn } from './json-columns.ts';
import { type AnsweredObject, ageColumn, type KindTable, type Maybe, nameColumn, type PrintedColumn } from './printed-column.ts';

type Value = Stored<V2MetricValueStatus, null>;

interface Source {
  readonly name?: Maybe<string>;
  readonly values?: Maybe<Value>;
}

/** A metric of the spec or of the status. The query aliases `target` and `current` to the same field `values`. */
type Metric = { readonly type?: Maybe<string> } & {
  readonly [source in 'external' | 'pods' | 'object' | 'resource' | 'containerResource']?: Maybe<Source>;
};

type Autoscaler = AnsweredObject<V2HorizontalPodAutoscaler> & {
  readonly spec?: Maybe<{ readonly metrics?: Maybe<readonly Metric[]> }>;
  readonly status?: Maybe<{ readonly currentMetrics?: Maybe<readonly Metric[]> }>;
};

const maxMetrics = 2;

const columns: readonly PrintedColumn<Autoscaler>[] = [
  nameColumn,
  {
    header: 'REFERENCE',
    fields: 'spec { scaleTargetRef { kind name } }',
    cell: ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
  },
  {
    header: 'TARGETS',
    fields: `spec { metrics { ${metricFields('target')} } } status { currentMetrics { ${metricFields('current')} } }`,
    cell: ({ spec, status }) => targetsText(spec?.metrics ?? [], status?.currentMetrics ?? []),
  },
  pathColumn('MINPODS', 'spec.minReplicas', { absent: '<unset>' }),
  pathColumn('MAXPODS', 'spec.maxReplicas', { absent: '0' }),
  pathColumn('REPLICAS', 'status.currentReplicas', { absent: '0' }),
  ageColumn,
];

/** The table of HorizontalPodAutoscalers. */
export const autoscalerTable: KindTable = { group: 'autoscaling', kind: 'HorizontalPodAutoscaler', columns };

/** Returns the selection of metrics: their targets (spec) or their current values (status). */
function metricFields(side: 'target' | 'current'): string {
  const values = `values: ${side} { averageUtilization averageValue value }`;
  const unnamed = ['external', 'pods', 'object'].map((source) => `${source} { ${values} }`);
  return ['type', ...unnamed, ...['resource', 'containerResource'].map((source) => `${source} { name ${values} }`)].join(' ');
}

function targetsText(wanted: readonly Metric[], current: readonly Metric[]): string {
  if (wanted.length === 0) return '<none>';
  const shown = wanted.slice(0, maxMetrics).map((metric, at) => metricText(metric, current[at]));
  return `${shown.join(', ')}${wanted.length > maxMetrics ? ` + ${wanted.length - maxMetrics} more...` : ''}`;
}

function metricText(metric: Metric, current: Metric | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external?.values, current?.external?.values);
    case 'Object':
      return valueText(metric.object?.values, current?.object?.values);
    case 'Pods':
      return `${current?.pods?.values?.averageValue ?? '<unknown>'}/${metric.pods?.values?.averageValue ?? ''}`;
    case 'Resource':
      return `${metric.resource?.name ?? ''}: ${usageText(metric.resource?.values, current?.resource?.values)}`;
    case 'ContainerResource':
      return `${metric.containerResource?.name ?? ''}: ${usageText(metric.containerResource?.values, current?.containerResource?.values)}`;
    default:
      return '<unknown type>';
  }
}

function valueText(target: Maybe<Value>, current: Maybe<Value>): string {
  if (target?.averageValue) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue} (avg)`;
  return `${current?.value ?? '<unknown>'}/${target?.value ?? ''}`;
}

function usageText(target: Maybe<Value>, current: Maybe<Value>): string {
  if (target?.averageValue) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue}`;
  return `${percent(current?.averageUtilization) ?? '<unknown>'}/${percent(target?.averageUtilization) ?? '<auto>'}`;
}

function percent(share: Maybe<number>): string | undefined {
  return share === undefined || share === null ? undefined : `${share}%`;
}
