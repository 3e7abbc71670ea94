import { fullObjectName, objectOfKey } from '../../core/columns/object-names.ts';
import { actionsText, chosenText, type IntentNote, noteText, shareText } from '../../core/columns/plan-texts.ts';
import { type ClusterFault, reasonOfFault } from '../client/cluster-faults.ts';
import { diffLines } from '../output/diff-lines.ts';
import { createTableColumns, type Paint, printable } from '../output/table.ts';
import type { ClusterPlan, ObjectPlan, Plan } from './plan.ts';

/**
 * Returns the lines of a plan for people. They are a table of clusters, the changes in each cluster, overrides without effect, notes with
 * their paths, and the placed replicas. The last line is the digest, unless an error prevents the plan.
 */
export function planLines(plan: Plan, paint: Paint): readonly string[] {
  const changes = plan.clusters.flatMap((one) => changesIn(one, paint));
  const unmatched = plan.clusters.flatMap(({ cluster, unmatched: names }) =>
    names.map((name) => printable(`${cluster.name}: override ${name} changes nothing`)),
  );
  const remarks = [...unmatched, ...plan.notes.map(noteLine), ...replicaLines(plan)];
  const parts = [tableOf(plan, paint), ...changes, remarks, plan.digest === '' ? [] : [`digest: ${plan.digest}`]];
  return parts.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** Returns `warning: UNMATCHED_OVERRIDE overrides[1].image: no container is called webb`. */
export function noteLine(note: IntentNote): string {
  const { severity } = note;
  const word = severity === 'INFO' ? 'note' : severity.toLowerCase();
  return printable(`${word}: ${noteText(note)}`);
}

/** Returns a line for each problem of a plan: the fault of a cluster, or a reason why an object cannot become as planned. */
export function refusalLines({ clusters }: Pick<Plan, 'clusters'>): readonly string[] {
  return clusters.flatMap(({ cluster, objects, fault }) => [
    ...(fault === null ? [] : [printable(`${cluster.name}: ${reasonOfFault(fault)}`)]),
    ...objects.flatMap((object) => {
      const name = fullObjectName(cluster.name, objectOfKey(object.key));
      return problemsOf(object).map((problem) => printable(`${name}: ${problem}`));
    }),
  ]);
}

function tableOf({ clusters, waves }: Plan, paint: Paint): readonly string[] {
  const columns = createTableColumns(['CLUSTER', 'CHOSEN', 'REPLICAS', 'WAVE', 'ACTIONS', 'OVERRIDES']);
  const rows = clusters.map((one) => [
    one.cluster.name,
    chosenText(one),
    shareText(one.share),
    one.wave === null ? '' : (waves[one.wave] ?? String(one.wave)),
    actionsText(one),
    one.overrides.join(','),
  ]);
  return columns.lines(rows, (text, { row }) => {
    if (row === -1) return paint(1, text);
    const one = clusters[row];
    if (one === undefined || hasProblem(one)) return paint(31, text);
    return one.chosen || one.objects.length > 0 ? text : paint(2, text);
  });
}

function hasProblem({ fault, objects }: ClusterPlan): boolean {
  return fault !== null || objects.some((object) => problemsOf(object).length > 0);
}

/** Returns the lines of each object that changes. */
function changesIn({ cluster, objects, fault }: ClusterPlan, paint: Paint): readonly (readonly string[])[] {
  const failed = fault === null ? [] : [[paint(31, printable(`${cluster.name}: ${reasonOfFault(fault)}`))]];
  return [...failed, ...objects.map((object) => objectLines(cluster.name, object, paint))];
}

function objectLines(cluster: string, object: ObjectPlan, paint: Paint): readonly string[] {
  const { key, action, predicted, diff } = object;
  const problems = problemsOf(object).map((problem) => paint(31, printable(problem)));
  if (action === 'UNCHANGED' && problems.length === 0) return [];
  const unchecked = predicted ? ' (not checked: the plan creates its namespace or its kind)' : '';
  const heading = paint(1, printable(`${fullObjectName(cluster, objectOfKey(key))} ${action}${unchecked}`));
  return [heading, ...problems, ...diffLines(diff ?? '', paint)];
}

function problemsOf({ conflicts, fault }: ObjectPlan): readonly string[] {
  return [
    ...conflicts.map(({ manager, path }) => `CONFLICT ${path} is managed by ${manager}`),
    ...(fault === null ? [] : [reasonOfFault(fault)]),
  ];
}

function replicaLines({ desired, placed, unplaced }: Plan): readonly string[] {
  if (desired === null) return [];
  const missing = unplaced === 0 ? '' : `, ${unplaced} unplaced`;
  return [`replicas: ${placed ?? 0} placed of ${desired}${missing}`];
}

/** True if the fault is also the `fault` of a cluster in the plan, so it was printed there. */
export function isShownWithCluster({ clusters }: Plan, fault: ClusterFault): boolean {
  return clusters.some(
    (one) => one.cluster.name === fault.cluster.name && one.fault?.code === fault.code && one.fault.message === fault.message,
  );
}
