import { cellsOfJob, type JobState } from '../../core/columns/job-cells.ts';
import { compareText } from '../../core/text.ts';
import { objectPath } from '../browser/paths.ts';
import type { SortOrder, TableColumn, Tone } from '../table/table-column.ts';

const tones: Readonly<Record<string, Tone>> = {
  COMPLETE: 'good',
  FAILED: 'bad',
  FAILURE_TARGET: 'bad',
  RUNNING: 'busy',
  SUSPENDED: 'warn',
  TERMINATING: 'warn',
};

/** The columns of the table of Jobs, as `muster watch jobs` prints them. */
export const jobColumns: readonly TableColumn<JobState>[] = [
  { header: 'Cluster', text: ({ cluster }) => cluster.name, sortPath: 'cluster.name' },
  { header: 'Namespace', text: ({ namespace }) => namespace, sortPath: 'metadata.namespace' },
  {
    header: 'Name',
    text: ({ name }) => name,
    href: ({ cluster, namespace, name }) => objectPath({ cluster: cluster.name, kind: 'jobs.batch', namespace, name }),
    sortPath: 'metadata.name',
  },
  { header: 'Status', text: (row, nowMs) => cellsOfJob(row, nowMs).status, tone: ({ phase }) => tones[phase], sortPath: 'phase' },
  { header: 'Completions', text: (row, nowMs) => cellsOfJob(row, nowMs).completions },
  { header: 'Duration', text: (row, nowMs) => cellsOfJob(row, nowMs).duration },
  { header: 'Age', text: (row, nowMs) => cellsOfJob(row, nowMs).age, sortPath: 'metadata.creationTimestamp' },
];

const keys: Readonly<Record<string, (job: JobState) => string>> = {
  'cluster.name': ({ cluster }) => cluster.name,
  'metadata.namespace': ({ namespace }) => namespace,
  'metadata.name': ({ name }) => name,
  phase: ({ phase }) => phase,
  'metadata.creationTimestamp': ({ job }) => job.metadata.creationTimestamp ?? '',
};

/** Sorts Jobs. Those with equal values at the path of `sort` follow the default order: the newest first, then by name and cluster. */
export function sortedJobs(jobs: readonly JobState[], sort: SortOrder | undefined): readonly JobState[] {
  const key = sort === undefined ? undefined : keys[sort.path];
  const sign = sort?.isDescending === true ? -1 : 1;
  const created = keys['metadata.creationTimestamp'] ?? (() => '');
  const usual = (a: JobState, b: JobState) =>
    compareText(created(b), created(a)) || compareText(a.name, b.name) || compareText(a.cluster.name, b.cluster.name);
  return jobs.toSorted((a, b) => (key === undefined ? 0 : sign * compareText(key(a), key(b))) || usual(a, b));
}
