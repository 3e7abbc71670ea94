import type { Fault } from '../../core/faults.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { numberAt, valueAt } from '../../core/json-at.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { type DeletedOwner, isClaimKey, isKeptFromOwner, outlivingKinds } from '../discover/owned-objects.ts';
import { type AppPass, awayFault, clusterOf, type MigrationSide, reachObject } from './app-pass.ts';
import { disownObject } from './change-objects.ts';

/** Maximum wait for mirrors that were never read before, in milliseconds. */
const maxWaitMs = 10_000;

/** The values of `persistentVolumeClaimRetentionPolicy` with which a StatefulSet never deletes its claims. */
const retained: JsonObject = { whenDeleted: 'Retain', whenScaled: 'Retain' };

/** Returns the retention policy for claims in the spec of a workload. Undefined if the spec has none. */
function claimPolicyOf(object: JsonObject | KubernetesObject): JsonObject | undefined {
  const policy = valueAt(object as JsonObject, 'spec', 'persistentVolumeClaimRetentionPolicy');
  return isJsonObject(policy) ? policy : undefined;
}

function deletesClaims(policy: JsonObject): boolean {
  return Object.values(policy).includes('Delete');
}

/** Returns the merge patch for `spec` with which a workload keeps its claims. Empty if it keeps them already. */
export function patchToKeepClaims(object: KubernetesObject): JsonObject {
  const policy = claimPolicyOf(object);
  return policy !== undefined && deletesClaims(policy) ? { persistentVolumeClaimRetentionPolicy: retained } : {};
}

/**
 * Returns the merge patch for `spec` that gives a workload the retention policy of its manifest again, after `patchToKeepClaims`. Empty if
 * it has that policy, or one that another client has set.
 */
export function patchOfClaimPolicy(object: KubernetesObject, manifest: JsonObject): JsonObject {
  const [now, before] = [claimPolicyOf(object), claimPolicyOf(manifest)];
  if (now === undefined || before === undefined || deletesClaims(now) || !deletesClaims(before)) return {};
  return { persistentVolumeClaimRetentionPolicy: before };
}

/**
 * True if the controller of a workload with a retention policy of claims has seen the current policy. True for a workload without such a
 * policy.
 */
export function isClaimPolicySeen(object: KubernetesObject): boolean {
  if (claimPolicyOf(object) === undefined) return true;
  return (numberAt(object, 'status', 'observedGeneration') ?? 0) >= (numberAt(object, 'metadata', 'generation') ?? 0);
}

/**
 * Removes the references to an owner from the objects that a migration keeps: Kubernetes would delete them with the owner. Finds them in
 * the mirrors. Skips kinds that the gateway may not read. If claims may not be read, this is a fault. Stops at the first fault: the owner
 * must not be deleted then.
 */
export async function keepOwned(pass: AppPass, side: MigrationSide, owner: DeletedOwner): Promise<{ readonly fault: Fault } | undefined> {
  const owned = await findOwned(pass, side, owner);
  if ('fault' in owned) return owned;
  for (const { key, uid } of owned) {
    const reached = reachObject(pass, side, key);
    if ('fault' in reached) return reached;
    const change = await disownObject(reached.client, reached.address, { uid, owner: owner.uid });
    if (change.result === 'failed') return { fault: change.fault };
    // The guarded client sends no more writes, so the owner is not deleted either.
    if (change.result === 'stopped') return undefined;
  }
  return undefined;
}

async function findOwned(
  pass: AppPass,
  side: MigrationSide,
  owner: DeletedOwner,
): Promise<readonly { readonly key: ObjectKey; readonly uid: string }[] | { readonly fault: Fault }> {
  const { objects } = pass.ports.hub.members;
  const cluster = clusterOf(pass, side);
  const wanted = outlivingKinds.map((kind) => ({ cluster, kind }));
  await objects.whenRead(wanted, maxWaitMs, pass.signal);
  const owned: { readonly key: ObjectKey; readonly uid: string }[] = [];
  for (const kind of outlivingKinds) {
    const served = objects.served(cluster, kind);
    if (served === 'absent') continue;
    const all = served === undefined ? undefined : objects.all(cluster, kind);
    if (all === undefined || served === undefined) {
      const state = objects.read(cluster, kind, { namespace: '', name: '' });
      const fault = state.result === 'unread' ? state.fault : awayFault(pass, side);
      if (fault.code === 'FORBIDDEN' && !isClaimKey({ apiVersion: 'v1', kind: kind.kind })) continue;
      return { fault };
    }
    const named = { apiVersion: apiVersionOf(served), kind: kind.kind };
    for (const object of all) {
      const { namespace, name, uid } = object.metadata;
      if (uid === undefined || namespace !== owner.key.namespace) continue;
      const key = { ...named, name, ...(namespace === undefined ? {} : { namespace }) };
      if (isKeptFromOwner({ key, object }, owner)) owned.push({ key, uid });
    }
  }
  return owned;
}
