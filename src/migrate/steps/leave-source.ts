import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { numberAt, objectAt } from '../../core/json-at.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { withoutValueAt } from '../../manifests/json-edits.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import type { RolloutState } from '../../model/columns/rollout.ts';
import { copyFault } from '../../propagate/plan/copies/copy-reason.ts';
import { claimDeleterMessage, claimDeleterOf, isBuiltInWorkload, statefulSetKind } from '../discover/owned-objects.ts';
import type { MigratedApp, MigratedAppReason } from '../model/migration-status-definition.ts';
import { countPathOf, movedReplicas } from '../plan/movable-manifest.ts';
import { type AppPass, addressIn, awayFault, clusterOf, entryOf, mirroredIn, type Side } from './app-pass.ts';
import { sourceManifestOf } from './source-manifest.ts';
import { workloadHealthOf } from './workload-health.ts';

/** Why the source of an application must not be changed now. */
export interface SourceHold {
  readonly reason: Extract<MigratedAppReason, 'Unhealthy' | 'Conflict'>;
  readonly message: string;
  /** True: the application has failed. False: it waits until the cause is gone. */
  readonly isFailure: boolean;
}

/** The result of the check before a change of the source. `stopped`: this process does not lead any more. */
type LeaveCheck =
  | { readonly result: 'ready' }
  | { readonly result: 'stopped' }
  | { readonly result: 'held'; readonly hold: SourceHold }
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
 * Checks with live reads whether an object of the source may be deleted or scaled down now: only while the target has enough healthy
 * replicas, and the workload of the source has the spec of the plan. Call it before each such change.
 */
export async function checkLeave(pass: AppPass, app: MigratedApp): Promise<LeaveCheck> {
  const copy = await readWorkload(pass, app, 'target');
  if (copy.result !== 'read') return copy;
  const before = await readWorkload(pass, app, 'source');
  if (before.result !== 'read') return before;
  const edit = before.object === undefined ? undefined : specEditOf(pass, app, before.object);
  if (edit !== undefined) return { result: 'held', hold: edit };
  const deleter = before.object === undefined ? undefined : await claimDeleterIn(pass, app, before.object);
  if (deleter !== undefined) return deleter;
  const { phase, message } = copyHealth(pass, app, { copy: copy.object, before: before.object });
  if (phase === 'done') return { result: 'ready' };
  return { result: 'held', hold: { reason: 'Unhealthy', message, isFailure: phase === 'failed' } };
}

/** Maximum wait for a mirror that was never read before, in milliseconds. */
const maxWaitMs = 10_000;

/** Returns the obstacle if a custom workload has a StatefulSet that would delete claims. The StatefulSets are read from the mirror. */
async function claimDeleterIn(pass: AppPass, { key }: MigratedApp, object: KubernetesObject): Promise<LeaveCheck | undefined> {
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

/** Maximum number of changed fields that a message names. */
const maxFields = 3;

/**
 * Returns why the source must not be changed if the spec of the workload was edited there after the plan: the copy does not have the edit.
 * The number of replicas is not compared here, but in `checkLeave`. Undefined if the spec is that of the plan, or if the plan comes from a
 * backup, which may be older than the spec.
 */
export function specEditOf(pass: AppPass, app: MigratedApp, object: KubernetesObject): SourceHold | undefined {
  const { spec } = pass.migration;
  const uid = entryOf(app, 'source', app.key)?.uid;
  const own = textOfKey(app.key);
  const planned = pass.kept.find(({ side, manifest }) => side === 'source' && textOfKey(keyOfManifest(manifest)) === own);
  if (spec.source !== 'Live' || planned === undefined || object.metadata.uid !== uid) return undefined;
  const countPath = countPathIn(pass, app) ?? [];
  const compared = (manifest: Manifest) => objectAt(uncounted.concat([countPath]).reduce(withoutPath, manifest), 'spec');
  const fields = changedFields(compared(planned.manifest), compared(sourceManifestOf(app.key, object)), 'spec');
  if (fields.length === 0) return undefined;
  const named = fields.slice(0, maxFields).join(', ') + (fields.length > maxFields ? ` and ${fields.length - maxFields} more` : '');
  const { kind, name } = app.key;
  const message = `${kind} ${name} was edited in ${spec.from} after the plan, and its copy does not have the edit: ${named}. Revert the edit and continue, or undo the migration and plan it again`;
  return { reason: 'Conflict', message: message.slice(0, 1_024), isFailure: true };
}

/** The migration itself changes this field, so that the claims of a StatefulSet stay. */
const uncounted: readonly (readonly string[])[] = [['spec', 'persistentVolumeClaimRetentionPolicy']];

function withoutPath(manifest: Manifest, path: readonly string[]): Manifest {
  return path.length === 0 ? manifest : withoutValueAt(manifest, path);
}

/** Returns the paths of the fields that differ. Lists are compared as a whole. */
function changedFields(before: Json | undefined, after: Json | undefined, path: string): readonly string[] {
  if (!isJsonObject(before) || !isJsonObject(after)) return canonicalJson(before ?? null) === canonicalJson(after ?? null) ? [] : [path];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name) => changedFields(before[name], after[name], `${path}.${name}`));
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
  const uid = entryOf(app, 'target', app.key)?.uid;
  if (copy === undefined || (uid !== undefined && copy.metadata.uid !== uid))
    return { phase: 'progressing', message: `it does not exist in ${clusterOf(pass, 'target')}` };
  const countPath = countPathIn(pass, app);
  if (countPath === undefined) return { phase: 'progressing', message: `the definition of ${app.key.kind} is not visible` };
  const isOwn = before !== 'unread' && before?.metadata.uid === entryOf(app, 'source', app.key)?.uid;
  const present = before === 'unread' ? app.from : isOwn && before !== undefined ? (numberAt(before, ...countPath) ?? 1) : 0;
  const atLeast = neededReplicas(pass, app, present);
  const health = workloadHealthOf(groupKindOfKey(app.key), copy, { countPath, atLeast });
  if (health.phase === 'done' || present <= app.from || atLeast <= app.to) return health;
  const { from } = pass.migration.spec;
  const remedy = 'scale one of them, or undo the migration and plan it again';
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

const definitionKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** Returns the path of the count of the workload. Undefined if no definition of its kind is visible. */
export function countPathIn(pass: AppPass, { key }: Pick<MigratedApp, 'key'>): readonly string[] | undefined {
  const { objects } = pass.ports.hub.members;
  const sides: readonly Side[] = ['source', 'target'];
  return countPathOf(
    key,
    sides.flatMap((side) => objects.all(clusterOf(pass, side), definitionKind) ?? []),
  );
}

type ReadWorkload =
  | { readonly result: 'read'; readonly object: KubernetesObject | undefined }
  | Extract<LeaveCheck, { readonly result: 'failed' | 'stopped' }>;

async function readWorkload(pass: AppPass, { key }: MigratedApp, side: Side): Promise<ReadWorkload> {
  const client = pass.client(side);
  const address = addressIn(pass, side, key);
  if (client === undefined) return { result: 'failed', fault: awayFault(pass, side) };
  if ('fault' in address) return { result: 'failed', fault: address.fault };
  const answer = await client.get(address);
  switch (answer.result) {
    case 'answered':
      return { result: 'read', object: answer.object };
    case 'absent':
      return { result: 'read', object: undefined };
    case 'failed':
      return { result: 'failed', fault: answer.fault };
    case 'stopped':
      return { result: 'stopped' };
    default:
      return answer satisfies never;
  }
}
