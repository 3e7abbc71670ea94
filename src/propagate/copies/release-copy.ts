import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectAddress } from '../object-client.ts';
import { own, withUid } from '../rendering/own.ts';
import type { Manifest, ObjectKey } from '../spec.ts';
import type { OldValues } from './copies.ts';
import type { CopyDoor, DoorAnswer } from './copy-door.ts';
import { marksRemoved } from './copy-marks.ts';
import { copyFault } from './copy-reason.ts';
import { withoutOurs } from './owned-fields.ts';

/**
 * Lets go of an object that stays whole: our marks and our ownership of fields go, no field of it does. Under its uid and version.
 *
 * @param object As just read, with its `managedFields`.
 * @param owners Whose our fields were before us: they are theirs again. Absent: nobody's.
 */
export function orphanCopy(
  door: CopyDoor,
  address: ObjectAddress,
  { object, owners }: { readonly object: KubernetesObject; readonly owners?: OldValues['owners'] },
): Promise<DoorAnswer> {
  const { uid, resourceVersion } = object.metadata;
  // To apply nothing would take away every field that only we own, of a Deployment its whole spec.
  const patch: JsonObject = { metadata: { uid, resourceVersion, ...marksRemoved(object), managedFields: withoutOurs(object, owners) } };
  return door.write((client, signal) => client.patch({ ...address, type: 'merge', patch, run: 'real' }, signal));
}

/** Takes our fields back from an object that is somebody's: what only we own goes, what others own too stays theirs. Under its uid and version. */
export function withdrawCopy(
  door: CopyDoor,
  address: ObjectAddress,
  { key, object }: { readonly key: ObjectKey; readonly object: KubernetesObject },
): Promise<DoorAnswer> {
  return applyAsIs(door, address, { manifest: bare(key), object });
}

/** Applies values, by force unless told otherwise. Under the object's uid and version. */
export function applyAsIs(
  door: CopyDoor,
  address: ObjectAddress,
  { manifest, object, force = true }: { readonly manifest: Manifest; readonly object: KubernetesObject; readonly force?: boolean },
): Promise<DoorAnswer> {
  const { uid, resourceVersion } = object.metadata;
  const request = { ...address, manifest, preconditions: { uid, resourceVersion }, force, run: 'real' } as const;
  return door.write((client, signal) => client.apply(request, signal));
}

/** Replaces the whole object, except the fields that its cluster owns. The write is guarded by uid and resourceVersion. */
export async function replaceWith(
  door: CopyDoor,
  address: ObjectAddress,
  { manifest, object }: { readonly manifest: Manifest; readonly object: KubernetesObject },
): Promise<DoorAnswer> {
  const owned = own({ write: 'Replace', desired: manifest, live: object });
  switch (owned.result) {
    case 'write': {
      const replacing = withUid(owned.manifest, object);
      return await door.write((client, signal) => client.replace({ ...address, object: replacing, run: 'real' }, signal));
    }
    case 'unchanged':
      return { result: 'answered', object, isNew: false, warnings: [] };
    case 'failed': {
      const fault = copyFault(door.cluster, 'INVALID', `${owned.path}: ${owned.message}`);
      return { result: 'failed', fault };
    }
    default:
      return owned satisfies never;
  }
}

/** Named, and nothing else. */
function bare({ apiVersion, kind, namespace, name }: ObjectKey): Manifest {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}
