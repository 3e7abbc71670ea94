import { actionsText, chosenText, noteText, shareText } from '../../core/columns/plan-texts.ts';
import { faultText } from '../gateway/faults.ts';
import { Alert } from '../parts/alert.tsx';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn } from '../table/table-column.ts';
import { DiffView } from './diff-view.tsx';
import { nameOfPlanned, type ShownClusterPlan, type ShownObjectPlan, type ShownPlan, silentInPlan } from './plan-query.ts';

export interface PlanViewProps {
  readonly plan: ShownPlan;
  /** The sentence for a plan without changes and errors. */
  readonly unchanged?: string;
}

/** Shows a plan: what happens in which cluster, problems, and the diff of each object that changes. */
export function PlanView({ plan, unchanged = 'Nothing changes in any cluster.' }: PlanViewProps) {
  const errors = [
    ...plan.notes.filter(({ severity }) => severity === 'ERROR').map(noteText),
    ...plan.clusters.flatMap(problemsIn),
    ...otherFaults(plan),
  ];
  const remarks = [...silentInPlan(plan), ...plan.notes.filter(({ severity }) => severity !== 'ERROR').map(noteText)];
  const changes = plan.clusters.flatMap(({ cluster, objects }) =>
    objects.filter(({ action }) => action !== 'UNCHANGED').map((object) => ({ cluster: cluster.name, object })),
  );
  return (
    <>
      {errors.length === 0 ? null : <Alert>{errors.join('\n')}</Alert>}
      {remarks.map((text) => (
        <p key={text} class="remark">
          {text}
        </p>
      ))}
      {plan.clusters.length === 0 ? null : (
        <DataTable name="Plan" rows={plan.clusters} columns={columnsOf(plan)} keyOf={({ cluster }) => cluster.name} isShort />
      )}
      {plan.desired === null ? null : <p class="status-line">{replicasText(plan)}</p>}
      {changes.length === 0 && errors.length === 0 ? <p class="status-line">{unchanged}</p> : null}
      {changes.map(({ cluster, object }) => (
        <PlannedChange key={nameOfPlanned(cluster, object)} cluster={cluster} object={object} />
      ))}
    </>
  );
}

function PlannedChange({ cluster, object }: { readonly cluster: string; readonly object: ShownObjectPlan }) {
  const name = nameOfPlanned(cluster, object);
  return (
    <section class="planned">
      <h2>
        {name} <span class={`action ${object.action.toLowerCase()}`}>{object.action}</span>
      </h2>
      {object.predicted ? <p class="dim">Not checked by the cluster, because the plan creates its namespace or its kind.</p> : null}
      {object.diff === null ? null : <DiffView diff={object.diff} label={`Diff of ${name}`} />}
    </section>
  );
}

function columnsOf({ waves }: ShownPlan): readonly TableColumn<ShownClusterPlan>[] {
  return [
    { header: 'Cluster', text: ({ cluster }) => cluster.name },
    { header: 'Chosen', text: chosenText, tone: ({ chosen }) => (chosen ? undefined : 'dim') },
    {
      header: 'Replicas',
      text: ({ share }) => shareText(share),
    },
    { header: 'Wave', text: ({ wave }) => (wave === null ? '' : (waves[wave] ?? String(wave + 1))) },
    { header: 'Actions', text: actionsText, tone: (one) => (problemsIn(one).length > 0 ? 'bad' : undefined) },
    { header: 'Overrides', text: ({ overrides }) => overrides.join(', ') },
  ];
}

function problemsIn({ cluster, objects, fault }: ShownClusterPlan): readonly string[] {
  return [
    ...(fault === null ? [] : [`${cluster.name}: ${faultText(fault)}`]),
    ...objects.flatMap((object) => [
      ...object.conflicts.map(({ manager, path }) => `${nameOfPlanned(cluster.name, object)}: ${path} is managed by ${manager}`),
      ...(object.fault === null ? [] : [`${nameOfPlanned(cluster.name, object)}: ${faultText(object.fault)}`]),
    ]),
  ];
}

/** Returns the faults that are not those of a cluster in the plan. */
function otherFaults({ clusters, faults }: ShownPlan): readonly string[] {
  const shown = new Set(clusters.flatMap(({ cluster, fault }) => (fault === null ? [] : [cluster.name])));
  return faults.filter(({ cluster }) => !shown.has(cluster.name)).map((fault) => `${fault.cluster.name}: ${faultText(fault)}`);
}

function replicasText({ desired, placed, unplaced }: ShownPlan): string {
  return `${placed ?? 0} of ${desired} replicas have a cluster${unplaced === 0 ? '' : `, ${unplaced} have none`}.`;
}
