import { ageText, phaseText } from '../../core/columns/kubectl-text.ts';
import type { PropagationProgress } from '../../core/columns/propagation-texts.ts';
import { propagationPath } from '../browser/paths.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { countedText } from '../parts/texts.ts';
import { progressFields, toneOfPhase } from '../propagation/propagation-state.ts';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn } from '../table/table-column.ts';

interface PropagationRow extends PropagationProgress {
  readonly namespace: string;
  readonly name: string;
  readonly clusters: readonly { readonly since: string }[];
}

interface PropagationsAnswer {
  readonly gateway: { readonly readOnly: boolean; readonly controllerProblem: string | null };
  readonly propagations: { readonly totalCount: number; readonly items: readonly PropagationRow[] };
}

const propagationsQuery = `{
  gateway { readOnly controllerProblem }
  propagations(first: 500) { totalCount items { namespace name ${progressFields} clusters { since } } }
}`;

const columns: readonly TableColumn<PropagationRow>[] = [
  { header: 'Namespace', text: ({ namespace }) => namespace },
  { header: 'Name', text: ({ name }) => name, href: propagationPath },
  { header: 'Phase', text: ({ phase }) => phaseText(phase), tone: ({ phase }) => toneOfPhase(phase) },
  { header: 'Clusters', text: ({ progress }) => `${progress.done}/${progress.clusters}` },
  { header: 'Ready', text: ({ ready, desired }) => (desired === null ? '' : `${ready ?? 0}/${desired}`) },
  { header: 'Since', text: ({ clusters }, nowMs) => (clusters.length === 0 ? '' : ageText(latest(clusters), nowMs)) },
];

/** Shows all Propagations and how far each is. */
export function PropagationsPage() {
  const { data, failure } = usePolled<PropagationsAnswer>({ query: propagationsQuery, everyMs: 2_000 });
  const { totalCount = 0, items = [] } = data?.propagations ?? {};
  return (
    <>
      <Heading title="Propagations">
        {data?.gateway.readOnly === true ? <span class="remark">read-only</span> : null}
        <a class="button primary" href="/propagations/new">
          New propagation
        </a>
      </Heading>
      {failure === undefined ? null : <Alert>{failure.message}</Alert>}
      {data?.gateway.controllerProblem ? <Alert>{data.gateway.controllerProblem}</Alert> : null}
      <p role="status" class="status-line">
        {data === undefined ? (failure === undefined ? 'Loading' : '') : countOf(totalCount, items.length)}
      </p>
      {items.length === 0 ? null : (
        <DataTable name="Propagations" rows={items} columns={columns} keyOf={({ namespace, name }) => `${namespace}/${name}`} isMain />
      )}
    </>
  );
}

function countOf(total: number, shown: number): string {
  if (total === 0) return 'No Propagations. A Propagation keeps the same objects in several clusters.';
  return `${countedText(total, 'Propagation', 'Propagations')}${shown < total ? `; the first ${shown} are shown` : ''}`;
}

function latest(clusters: readonly { readonly since: string }[]): string {
  return clusters.reduce((last, { since }) => (since > last ? since : last), '');
}
