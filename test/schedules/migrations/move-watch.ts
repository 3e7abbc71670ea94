import { labelsAt, textAt } from '../../../src/core/json-at.ts';
import { migrationMarks } from '../../../src/migrate/model/migration.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { SimWrite } from '../../support/sim/sim-cluster.ts';
import { availableIn, clusterNames, hasServiceIn, type MovingFleet, type RecordedApp, recordedApps } from './moving-fleet.ts';
import type { ScheduledApp } from './random-fleet.ts';

/** Checks the invariants at each change of a cluster, until it is disposed of. */
export interface MoveWatch extends Disposable {
  /** One sentence per violation, each once. */
  violations(): readonly string[];
}

/**
 * Watches every cluster. At each change:
 *
 * - An application has as many healthy replicas as it needs, in all clusters together. If it has a Service, one cluster has the Service and
 *   as many healthy replicas.
 * - A write of the gateway follows the step that the hub has at that moment. It creates an object only with an intent token that the hub
 *   has, and never changes an existing one in this way. It scales and deletes only by a uid that the hub has, under that uid and the version
 *   that was read. It never touches a stranger, and never deletes a PersistentVolumeClaim.
 * - When the gateway deletes or scales down a workload, the other clusters that it can read have the healthy replicas that are needed, or as
 *   many as the workload has. Pods of a cluster that is away do not count.
 */
export function watchMoves(fleet: MovingFleet): MoveWatch {
  const found = new Set<string>();
  const stack = new DisposableStack();
  const workloads = new Set(['Deployment', 'StatefulSet', 'Service']);
  for (const name of clusterNames) {
    const cluster = fleet.cluster(name);
    stack.use(
      cluster.observe(({ kind }) => {
        if (workloads.has(kind.kind)) for (const violation of fleet.apps.flatMap((app) => outagesOf(fleet, app))) found.add(violation);
      }),
    );
    stack.use(
      cluster.onWrite((write) => {
        const violation = violationOf(fleet, name, write);
        if (violation !== undefined) found.add(`${name}: ${write.kind} ${write.name} was ${write.result} (${write.verb}): ${violation}`);
        return undefined;
      }),
    );
  }
  return { violations: () => [...found], [Symbol.dispose]: () => stack.dispose() };
}

function outagesOf(fleet: MovingFleet, { name, workload, parts }: ScheduledApp): readonly string[] {
  const needed = fleet.needed.get(name) ?? 0;
  const available = clusterNames.map((cluster) => ({ cluster, count: availableIn(fleet, cluster, workload) }));
  const sum = available.reduce((total, { count }) => total + count, 0);
  const outages = sum < needed ? [`${name} has ${sum} healthy replicas in all clusters, expected ${needed}`] : [];
  if (!parts.some((part) => part.kind === 'Service' && part.metadata.name === name)) return outages;
  const isServed = available.some(({ cluster, count }) => count >= needed && hasServiceIn(fleet, cluster, workload));
  return isServed ? outages : [...outages, `${name} has no cluster with its Service and ${needed} healthy replicas`];
}

/** Returns why the gateway must not have deleted or scaled down this workload. Undefined if it was allowed to. */
function lossOf(fleet: MovingFleet, cluster: string, { kind, name, object, result }: SimWrite): string | undefined {
  const app = fleet.apps.find(({ workload }) => workload.kind === kind && workload.metadata.name === name);
  const { spec, status } = object as unknown as { readonly spec?: { replicas?: number }; readonly status?: { availableReplicas?: number } };
  const isLoss = result === 'deleted' || result === 'marked' || (result === 'changed' && spec?.replicas === 0);
  if (app === undefined || app.propagation !== undefined || !isLoss) return undefined;
  const others = clusterNames.filter((other) => other !== cluster && !fleet.isAway(other));
  const left = others.reduce((sum, other) => sum + availableIn(fleet, other, app.workload), 0);
  const lost = Math.min(status?.availableReplicas ?? 0, fleet.needed.get(app.name) ?? 0);
  return left < lost ? `only ${left} healthy replicas are left in clusters that answer, expected ${lost}` : undefined;
}

function violationOf(fleet: MovingFleet, cluster: string, write: SimWrite): string | undefined {
  const { object, manager, isDry, group, kind, result, preconditions } = write;
  if (manager !== 'muster' || isDry || group === 'muster.dev' || kind === 'Lease' || kind === 'ControllerRevision') return undefined;
  const loss = lossOf(fleet, cluster, write);
  if (loss !== undefined) return loss;
  const uid = object.metadata.uid ?? '';
  if (fleet.strangers.has(uid) && result !== 'unchanged') return 'it is a stranger';
  // Writes of copies have rules of their own: expectLawful checks them.
  if (labelsAt(object, 'metadata', 'labels')[marks.propagation] !== undefined) return undefined;
  const intent = textAt(object, 'metadata', 'annotations', migrationMarks.intent);
  const apps = recordedApps(fleet);
  switch (result) {
    case 'created':
      if (preconditions.resourceVersion !== '1') return 'the creation could have changed an existing object';
      return apps.some((app) => mayCreate(app, cluster) && entriesIn(app, cluster).some((entry) => entry.intent === intent))
        ? undefined
        : 'the hub has no intent to create it';
    case 'changed':
    case 'deleted':
    case 'marked': {
      if (preconditions.uid === undefined || preconditions.resourceVersion === undefined) return 'the write has no uid and version';
      const owners = apps.filter((app) => entriesIn(app, cluster).some((entry) => entry.uid === uid || isIntent(entry, intent)));
      if (owners.length === 0) return 'the hub does not have its uid';
      if (result === 'changed') return owners.some((app) => mayScale(app, cluster)) ? undefined : 'no recorded step scales it';
      if (kind === 'PersistentVolumeClaim') return 'a migration deletes no claim';
      return owners.some((app) => mayDelete(app, cluster)) ? undefined : 'no recorded step deletes it';
    }
    case 'unchanged':
      return undefined;
    default:
      return result satisfies never;
  }
}

function isIntent(entry: { readonly uid?: string; readonly intent?: string }, intent: string | undefined): boolean {
  return entry.uid === undefined && intent !== undefined && entry.intent === intent;
}

function entriesIn({ from, app }: RecordedApp, cluster: string) {
  return cluster === from ? app.source : app.target;
}

function isUndone({ app }: RecordedApp): boolean {
  return app.undo?.isRequested === true;
}

/** A pass that has begun may end after an undo was recorded. So an undo forbids no write of the step. */
function mayCreate(recorded: RecordedApp, cluster: string): boolean {
  const { step } = recorded.app;
  if (cluster === recorded.to) return step === 'Surge' || step === 'Traffic';
  return cluster === recorded.from && isUndone(recorded);
}

function mayScale(recorded: RecordedApp, cluster: string): boolean {
  return cluster === recorded.from && (recorded.app.step === 'Drain' || isUndone(recorded));
}

function mayDelete(recorded: RecordedApp, cluster: string): boolean {
  const { step } = recorded.app;
  if (cluster === recorded.from) return step === 'Drain' || step === 'Remove';
  return cluster === recorded.to && isUndone(recorded) && ['Health', 'Surge'].includes(step);
}
