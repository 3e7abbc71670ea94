import { type ClusterFault, reasonOfFault } from '../client/cluster-faults.ts';
import { fullObjectName, objectOfKey } from '../client/object-names.ts';
import { diffLines } from '../output/diff-lines.ts';
import { createTableColumns, type Paint, printable } from '../output/table.ts';
import type { ClusterPlan, IntentNote, ObjectPlan, Plan } from './plan.ts';

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
export function noteLine({ severity, code, message, path }: IntentNote): string {
  const word = severity === 'INFO' ? 'note' : severity.toLowerCase();
  return printable(`${word}: ${code}${path === null ? '' : ` ${path}`}: ${message}`);
}

/** Returns a line for each problem that prevents an object from becoming as planned. */
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
    one.chosen ? 'yes' : whyNot(one),
    one.share === null ? '' : replicasOf(one.share),
    one.wave === null ? '' : (waves[one.wave] ?? String(one.wave)),
    actionsOf(one),
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

function whyNot({ reason, detail }: ClusterPlan): string {
  return `no${reason === null ? '' : `: ${reason}`}${detail === null ? '' : ` ${detail}`}`;
}

function replicasOf({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? String(to) : `${from}→${to}`;
}

/**
 * Returns `CREATE`, or for several objects `CREATE 2, UNCHANGED 1`. An object that the cluster refuses counts under its fault code, such
 * as `INVALID`.
 */
function actionsOf({ objects, fault }: ClusterPlan): string {
  if (fault !== null) return fault.code;
  const counts = new Map<string, number>();
  for (const { action, fault: refusal } of objects) {
    const word = refusal?.code ?? action;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const [first] = counts.keys();
  if (objects.length === 1 && first !== undefined) return first;
  return [...counts].map(([action, count]) => `${action} ${count}`).join(', ');
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

/** True if a cluster of the plan already shows this fault. */
export function isShownWithCluster({ clusters }: Plan, fault: ClusterFault): boolean {
  return clusters.some(
    (one) => one.cluster.name === fault.cluster.name && one.fault?.code === fault.code && one.fault.message === fault.message,
  );
}
