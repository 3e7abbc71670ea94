import type { ObjectAddress } from '../../changes/object-client.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import type { OldValues } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import type { ExactSpec } from '../model/spec.ts';
import { marksRemovalPatch } from '../plan/copies/copy-marks.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import { manifestForWrite, withUid } from '../plan/copies/manifest-for-write.ts';
import { withoutMusterFields } from '../plan/copies/owned-fields.ts';
import type { GuardedAnswer, GuardedClient } from './guarded-client.ts';

/**
 * Releases an object: removes Muster's marks and its ownership of fields. No other field changes. The patch is guarded by uid and
 * resourceVersion.
 *
 * @param object The object, just read, with its `managedFields`.
 * @param owners The entries of `managedFields` before Muster took the object over. These owners get their fields back. Default: Muster's
 * fields have no owner afterwards.
 */
export function releaseCopy(
  guardedClient: GuardedClient,
  address: ObjectAddress,
  { object, owners }: { readonly object: KubernetesObject; readonly owners?: OldValues['owners'] },
): Promise<GuardedAnswer> {
  const { uid, resourceVersion } = object.metadata;
  // An empty apply would remove every field that only Muster owns: of a Deployment, the whole spec.
  const patch: JsonObject = {
    metadata: { uid, resourceVersion, ...marksRemovalPatch(object), managedFields: withoutMusterFields(object, owners) },
  };
  return guardedClient.write((client, signal) => client.patch({ ...address, type: 'merge', patch, run: 'real' }, signal));
}

/**
 * Removes Muster's fields from an object that belongs to another owner, by applying a manifest without fields. Fields that other managers
 * own too keep their values. The apply is guarded by uid and resourceVersion.
 */
export function withdrawFields(
  guardedClient: GuardedClient,
  address: ObjectAddress,
  { key, object }: { readonly key: ObjectKey; readonly object: KubernetesObject },
): Promise<GuardedAnswer> {
  return applyToExisting(guardedClient, address, { manifest: manifestWithoutFields(key), object });
}

/**
 * Applies a manifest to an existing object. The apply is guarded by uid and resourceVersion. `force` overwrites fields of other managers.
 * Default: true.
 */
export function applyToExisting(
  guardedClient: GuardedClient,
  address: ObjectAddress,
  { manifest, object, force = true }: { readonly manifest: Manifest; readonly object: KubernetesObject; readonly force?: boolean },
): Promise<GuardedAnswer> {
  const { uid, resourceVersion } = object.metadata;
  const request = { ...address, manifest, preconditions: { uid, resourceVersion }, force, run: 'real' } as const;
  return guardedClient.write((client, signal) => client.apply(request, signal));
}

interface Replacement extends Pick<RenderedObject, 'overriding'> {
  readonly manifest: Manifest;
  readonly object: KubernetesObject;
  /** `exact` of the spec. Undefined: the rules of Muster apply. */
  readonly exact: ExactSpec | undefined;
}

/**
 * Replaces the whole object, except the fields that its cluster owns. Sends nothing if the object would not change. The write is guarded by
 * uid and resourceVersion.
 */
export async function replaceExisting(
  guardedClient: GuardedClient,
  address: ObjectAddress,
  { manifest, object, exact, overriding }: Replacement,
): Promise<GuardedAnswer> {
  const owned = manifestForWrite({ write: 'Replace', desired: manifest, live: object, exact, overriding });
  switch (owned.result) {
    case 'write': {
      const replacing = withUid(owned.manifest, object);
      return await guardedClient.write((client, signal) => client.replace({ ...address, object: replacing, run: 'real' }, signal));
    }
    case 'unchanged':
      return { result: 'answered', object, isNew: false, warnings: [] };
    case 'failed': {
      const fault = copyFault(guardedClient.cluster, 'INVALID', `${owned.path}: ${owned.message}`);
      return { result: 'failed', fault };
    }
    default:
      return owned satisfies never;
  }
}

/** Returns a manifest with the kind and the name only. */
function manifestWithoutFields({ apiVersion, kind, namespace, name }: ObjectKey): Manifest {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}
