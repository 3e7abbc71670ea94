import { useMemo, useState } from 'preact/hooks';
import type { JobState } from '../../core/columns/job-cells.ts';
import { changeQuery, query } from '../browser/location.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { jobColumns, sortedJobs } from '../jobs/job-columns.ts';
import { jobsQuery, type ShownJobMessage, type ShownJobSummary, summaryColumns, summaryRows } from '../jobs/job-summary.ts';
import { type ClusterAnswer, countSentence, isPartial, problemOfSync } from '../objects/answers.ts';
import { Filters, objectFilters } from '../objects/kind-filters.tsx';
import { type KindSyncAnswer, kindSyncQuery } from '../objects/kind-names.ts';
import { kindStateOf } from '../objects/kind-state.ts';
import { useLiveRows } from '../objects/use-live-rows.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { DataTable } from '../table/data-table.tsx';
import { sortAfterClick } from '../table/table-column.ts';

/** Shows the Jobs of all clusters, live, and how many are in each phase. */
export function JobsPage() {
  const text = query.value.toString();
  const { selection, isFiltered, sort, problem: wrongInput } = useMemo(() => kindStateOf(new URLSearchParams(text)), [text]);
  const { search, ...variables } = selection;
  const [summary, setSummary] = useState<ShownJobSummary | undefined>();
  const live = useLiveRows<JobState, ShownJobMessage>(
    wrongInput === undefined
      ? { query: jobsQuery, field: 'jobStatus', variables, onMessage: (message) => setSummary(message.summary) }
      : undefined,
  );
  const answers = useAnswers(summary, live.complete);
  const wanted = search?.toLowerCase();
  const jobs = useMemo(
    () => sortedJobs(wanted === undefined ? live.items : live.items.filter(({ name }) => name.includes(wanted)), sort),
    [live.items, wanted, sort],
  );
  const problem = wrongInput ?? live.failure?.message;
  const hidden = live.items.length - jobs.length;
  const sentence = countSentence({
    count: live.count - hidden,
    shown: jobs.length,
    one: 'Job',
    many: 'Jobs',
    answers,
    isFiltered,
  });
  return (
    <>
      <Heading title="Jobs" />
      <Filters fields={objectFilters} search="Search names" />
      {problem === undefined ? null : <Alert>{problem}</Alert>}
      {summary === undefined ? null : (
        <DataTable name="Summary" rows={summaryRows(summary)} columns={summaryColumns(summary)} keyOf={({ name }) => name} isShort />
      )}
      <p role="status" class={isPartial(answers) ? 'status-line warn' : 'status-line'}>
        {problem === undefined ? sentence : ''}
      </p>
      <DataTable
        name="Jobs"
        rows={jobs}
        columns={jobColumns}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(path) => changeQuery({ sort: sortAfterClick(sort, path) }, { isStep: true })}
        isMain
      />
    </>
  );
}

/**
 * Returns whether each cluster answers, by the last summary. Undefined before the first summary. If no cluster serves Jobs, no summary ever comes. So
 * until the first summary the page asks which clusters serve Jobs, and returns an empty list if none does.
 */
function useAnswers(summary: ShownJobSummary | undefined, complete: ReadonlySet<string>): readonly ClusterAnswer[] | undefined {
  const { data } = usePolled<KindSyncAnswer>(
    summary === undefined ? { query: kindSyncQuery, variables: { kinds: ['jobs.batch'] }, everyMs: 5_000 } : undefined,
  );
  if (summary !== undefined) return answersOf(summary, complete);
  return data?.resources.sync.length === 0 ? [] : undefined;
}

function answersOf({ byCluster }: ShownJobSummary, complete: ReadonlySet<string>): readonly ClusterAnswer[] {
  return byCluster.map(({ cluster: { name }, sync }) => ({ cluster: name, isComplete: complete.has(name), problem: problemOfSync(sync) }));
}
