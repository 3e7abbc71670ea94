import { ageText, phaseText } from '../../core/columns/kubectl-text.ts';
import { propagationSummary } from '../../core/columns/propagation-texts.ts';
import { kindPath, type PropagationPageNames } from '../browser/paths.ts';
import type { RequestFailure } from '../gateway/graphql.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { DriftTab } from '../propagation/drift-tab.tsx';
import { HistoryTab } from '../propagation/history-tab.tsx';
import { PropagationActions } from '../propagation/propagation-actions.tsx';
import { obstaclesOf, reasonOfCopies, type ShownCopies, toneOfPhase, type WholePropagation } from '../propagation/propagation-state.ts';
import { usePropagation } from '../propagation/use-propagation.ts';
import { useWriteAccess } from '../propagation/write-access.ts';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn } from '../table/table-column.ts';

const columns: readonly TableColumn<ShownCopies>[] = [
  { header: 'Cluster', text: ({ cluster }) => cluster.name, href: ({ cluster }) => kindPath('pods', { clusters: cluster.name }) },
  { header: 'Wave', text: ({ wave }) => (wave === null ? '' : String(wave + 1)), isNumeric: true },
  { header: 'Phase', text: ({ phase }) => phaseText(phase), tone: ({ phase }) => toneOfPhase(phase) },
  { header: 'Ready', text: readyText },
  { header: 'Health', text: ({ health }) => phaseText(health) },
  { header: 'Since', text: ({ since }, nowMs) => ageText(since, nowMs) },
  { header: 'Why', text: reasonOfCopies, tone: ({ phase }) => (toneOfPhase(phase) === 'bad' ? 'bad' : 'dim') },
];

function readyText({ ready, replicas }: ShownCopies): string {
  if (ready === null && replicas === null) return '';
  return replicas === null ? String(ready) : `${ready ?? 0}/${replicas}`;
}

/** Shows one Propagation, live: its progress, where copies differ from it, and its history. */
export function SinglePropagationPage({ namespace, name }: PropagationPageNames) {
  const { state, failure } = usePropagation(namespace, name);
  const access = useWriteAccess(namespace);
  return (
    <>
      <Heading
        title={name}
        kicker={
          <>
            <a href="/propagations">All propagations</a> / {namespace}
          </>
        }
      >
        {state === undefined || failure !== undefined ? null : <PropagationActions state={state} access={access} />}
      </Heading>
      {access.problem === undefined ? null : <p class="remark">{access.problem}</p>}
      {failure === undefined ? null : <Alert>{failureText(failure, state !== undefined, { namespace, name })}</Alert>}
      <p role="status" class="status-line">
        {state === undefined ? (failure === undefined ? 'Loading' : '') : propagationSummary(state)}
      </p>
      {state === undefined ? null : <PropagationTabs state={state} mayChange={access.change && failure === undefined} />}
    </>
  );
}

/** Returns why a Propagation cannot be followed. The gateway refuses one that does not exist with `BAD_INPUT`. */
function failureText({ code, message }: RequestFailure, wasShown: boolean, { namespace, name }: PropagationPageNames): string {
  if (code !== 'BAD_INPUT') return message;
  return wasShown ? `${name} is gone. This is its last state.` : `There is no Propagation ${name} in namespace ${namespace}.`;
}

function PropagationTabs({ state, mayChange }: { readonly state: WholePropagation; readonly mayChange: boolean }) {
  const tabs = [
    { id: 'progress', title: 'Progress', content: () => <ProgressTab state={state} /> },
    { id: 'drift', title: 'Drift', content: () => <DriftTab spec={state.spec} /> },
    { id: 'history', title: 'History', content: () => <HistoryTab state={state} mayChange={mayChange} /> },
  ];
  return <Tabs label="About the Propagation" tabs={tabs} />;
}

function ProgressTab({ state }: { readonly state: WholePropagation }) {
  const { done, clusters, failed } = state.progress;
  return (
    <>
      {clusters === 0 ? null : (
        <progress class={failed > 0 ? 'failed' : ''} value={done} max={clusters} aria-label="Clusters that are done" />
      )}
      {obstaclesOf(state).map((text) => (
        <p key={text} class="remark">
          {text}
        </p>
      ))}
      <DataTable name="Copies" rows={state.clusters} columns={columns} keyOf={({ cluster }) => cluster.name} isMain />
    </>
  );
}
