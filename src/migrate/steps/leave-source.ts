import type { Fault } from '../../core/faults.ts';
import { numberAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import type { RolloutState } from '../../model/columns/rollout.ts';
import { deletionOf } from '../../propagate/plan/copies/copy-marks.ts';
import { copyFault } from '../../propagate/plan/copies/copy-reason.ts';
import { claimDeleterMessage, claimDeleterOf, isBuiltInWorkload, statefulSetKind } from '../discover/owned-objects.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { movedReplicas } from '../plan/movable-manifest.ts';
import {
  type AppPass,
  awayFault,
  clusterOf,
  countPathIn,
  entryOf,
  isReachable,
  mirroredIn,
  readInCluster,
  type StepHold,
} from './app-pass.ts';
import { callOf } from './app-state.ts';
import { sourceHoldOf } from './source-edits.ts';
import { healthyReplicasOf, workloadHealthOf } from './workload-health.ts';

/** The result of the check before a step changes or deletes objects. `stopped`: this process does not lead any more. */
type ChangeCheck =
  | { readonly result: 'ready' }
  | { readonly result: 'stopped' }
  | { readonly result: 'held'; readonly hold: StepHold }
  | { readonly result: 'failed'; readonly fault: Fault };

/**
 * Returns the progress of the workload in the target, from the mirrors. It is `done` if enough replicas are healthy to replace those of the
 * source.
 */
export function targetHealth(pass: AppPass, app: MigratedApp): RolloutState {
  const mirrored = mirroredIn(pass, 'target', app.key);
  if (mirrored.result === 'unread') return { phase: 'progressing', message: mirrored.fault.message };
  if (mirrored.fault !== undefined) return { phase: 'progressing', message: mirrored.fault.message };
  const source = mirroredIn(pass, 'source', app.key);
  // The count of a source that cannot be read is that of the plan.
  const before =
    source.result === 'unread' || source.fault !== undefined ? 'unread' : source.result === 'absent' ? undefined : source.object;
  return copyHealth(pass, app, { copy: mirrored.result === 'absent' ? undefined : mirrored.object, before });
}

/**
 * Checks whether an object of the source may be deleted or scaled down now. Call it before each such change. All of these must be true:
 *
 * - The target has enough healthy replicas.
 * - The workload of the source was not replaced since the plan. If its spec was edited, its copy has the same edit.
 * - The source has no StatefulSet of `claimDeleterOf`.
 *
 * The workloads are read live, and the StatefulSets from their mirror.
 */
export async function checkLeave(pass: AppPass, app: MigratedApp): Promise<ChangeCheck> {
  const copy = await readInCluster(pass, 'target', app.key);
  if (copy.result !== 'read') return copy;
  const before = await readInCluster(pass, 'source', app.key);
  if (before.result !== 'read') return before;
  const hold = before.object === undefined ? undefined : await sourceHoldOf(pass, app, { key: app.key, object: before.object });
  if (hold !== undefined) return hold;
  const deleter = before.object === undefined ? undefined : await claimDeleterIn(pass, app, before.object);
  if (deleter !== undefined) return deleter;
  const { phase, message } = copyHealth(pass, app, { copy: copy.object, before: before.object });
  if (phase === 'done') return { result: 'ready' };
  return { result: 'held', hold: { reason: 'Unhealthy', message, isFailure: phase === 'failed' } };
}

/**
 * Checks with live reads whether the target may lose traffic or copies now: only while the source has enough healthy replicas. Call it
 * before the traffic goes back, and before each deletion of a copy.
 */
export async function checkReturn(pass: AppPass, app: MigratedApp): Promise<ChangeCheck> {
  const copy = await readInCluster(pass, 'target', app.key);
  if (copy.result === 'stopped') return copy;
  const needed = neededInSource(app, copy.result === 'read' ? healthyCopies(app, copy.object) : undefined);
  if (needed === 0) return { result: 'ready' };
  if (!isReachable(pass, 'source')) return { result: 'failed', fault: awayFault(pass, 'source') };
  const source = await readInCluster(pass, 'source', app.key);
  if (source.result !== 'read') return source;
  const { phase, message } = sourceHealth(pass, app, { object: source.object, needed });
  if (phase === 'done') return { result: 'ready' };
  const { from, to } = pass.migration.spec;
  return {
    result: 'held',
    hold: { reason: 'Unhealthy', message: `${to} is needed until ${from} is healthy: ${message}`, isFailure: false },
  };
}

function sourceHealth(
  pass: AppPass,
  app: MigratedApp,
  { object, needed }: { readonly object: KubernetesObject | undefined; readonly needed: number },
): RolloutState {
  if (object === undefined) return { phase: 'progressing', message: `it does not exist in ${clusterOf(pass, 'source')}` };
  if (deletionOf(object) !== undefined) return { phase: 'progressing', message: `it is being deleted in ${clusterOf(pass, 'source')}` };
  const countPath = countPathIn(pass, app);
  if (countPath === undefined) return { phase: 'progressing', message: `the definition of ${app.key.kind} is not visible` };
  const health = workloadHealthOf(groupKindOfKey(app.key), object, { countPath, atLeast: needed });
  const count = numberAt(object, ...countPath) ?? 1;
  if (health.phase === 'done' || count >= needed) return health;
  return { ...health, message: `${health.message}, because its count in ${clusterOf(pass, 'source')} is ${count}: scale it to ${needed}` };
}

/** True if a workload of the target is the copy of the application. Its uid decides, if it is recorded. */
export function isCopy(app: MigratedApp, { metadata }: KubernetesObject): boolean {
  const uid = entryOf(app, 'target', app.key)?.uid;
  return uid === undefined || metadata.uid === uid;
}

function healthyCopies(app: MigratedApp, copy: KubernetesObject | undefined): number {
  return copy === undefined || !isCopy(app, copy) ? 0 : healthyReplicasOf(groupKindOfKey(app.key), copy);
}

/**
 * Returns the number of healthy replicas that the source must have before the target may lose traffic or copies.
 *
 * - While the traffic may be in the target: the count before the migration, or the present count of the target if that is less, but at least 1.
 * - Otherwise, the source serves with a count that autoscalers and users choose. So 1 is enough, or 0 if the target has none either.
 *
 * @param served The healthy replicas in the target. Undefined: they cannot be read.
 */
function neededInSource(app: MigratedApp, served: number | undefined): number {
  const before = app.undo?.replicas ?? app.from;
  const isServedByTarget = servedByTarget.has(app.step) || (app.step === 'Traffic' && callOf(app, 'Shift') !== undefined);
  return isServedByTarget ? Math.min(before, Math.max(served ?? before, 1)) : Math.min(before, served ?? 1, 1);
}

/** The steps in which the target may have all traffic. */
const servedByTarget: ReadonlySet<MigratedApp['step']> = new Set(['Soak', 'Drain', 'Remove', 'Done']);

/** Maximum wait for a mirror that was never read before, in milliseconds. */
const maxWaitMs = 10_000;

/** Returns the obstacle if a custom workload has a StatefulSet that would delete claims. The StatefulSets are read from the mirror. */
async function claimDeleterIn(pass: AppPass, { key }: MigratedApp, object: KubernetesObject): Promise<ChangeCheck | undefined> {
  if (isBuiltInWorkload(key)) return undefined;
  const { objects } = pass.ports.hub.members;
  const cluster = clusterOf(pass, 'source');
  await objects.whenRead([{ cluster, kind: statefulSetKind }], maxWaitMs, pass.signal);
  const sets = objects.all(cluster, statefulSetKind);
  if (sets === undefined) return { result: 'failed', fault: copyFault(cluster, 'SYNCING', 'its StatefulSets are not read yet') };
  const deleter = claimDeleterOf(
    { key, object },
    sets.map((set) => ({ object: set })),
  );
  if (deleter === undefined) return undefined;
  return { result: 'held', hold: { reason: 'Conflict', message: claimDeleterMessage(deleter.object.metadata.name), isFailure: true } };
}

/**
 * The workload of an application, in the target (`copy`) and in the source (`before`). Undefined: it does not exist. `unread`: its mirror
 * cannot be read.
 */
interface Workloads {
  readonly copy: KubernetesObject | undefined;
  readonly before: KubernetesObject | 'unread' | undefined;
}

function copyHealth(pass: AppPass, app: MigratedApp, { copy, before }: Workloads): RolloutState {
  if (copy === undefined || !isCopy(app, copy))
    return { phase: 'progressing', message: `it does not exist in ${clusterOf(pass, 'target')}` };
  const countPath = countPathIn(pass, app);
  if (countPath === undefined) return { phase: 'progressing', message: `the definition of ${app.key.kind} is not visible` };
  const isOwn = before !== 'unread' && before?.metadata.uid === entryOf(app, 'source', app.key)?.uid;
  const present = before === 'unread' ? app.from : isOwn && before !== undefined ? (numberAt(before, ...countPath) ?? 1) : 0;
  const atLeast = neededReplicas(pass, app, present);
  const health = workloadHealthOf(groupKindOfKey(app.key), copy, { countPath, atLeast });
  if (health.phase === 'done' || present <= app.from || atLeast <= app.to) return health;
  const { from, to } = pass.migration.spec;
  const remedy = `scale it in ${from} or in ${to}, or undo the migration and plan it again`;
  return { ...health, message: `${health.message}, because it has ${present} replicas in ${from} since the plan: ${remedy}` };
}

/**
 * Returns the number of healthy replicas that the target must have before the source loses replicas. Autoscalers and users may change both
 * counts after the plan. So the number is the planned count or the present count of the source, whichever is less. If the source has grown
 * since the plan, the number is larger in proportion. Once the source has no replicas, 1 is enough.
 */
function neededReplicas({ migration: { spec } }: AppPass, { from, to }: MigratedApp, present: number): number {
  // A count in a backup may be older than the present count of the source, so the difference does not mean growth.
  const grown = spec.source === 'Live' && present > from ? movedReplicas(present, spec.copies) : 0;
  return Math.max(Math.min(to, Math.max(present, 1)), grown);
}
