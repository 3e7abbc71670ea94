import { isJsonObject } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { kindOfKey } from '../object-key.ts';
import type { RenderedObject } from '../plan.ts';
import { prune } from '../rendering/prune.ts';
import { projectOnto, sentHashOf } from '../rendering/sent-fields.ts';
import type { Manifest, ObjectKey } from '../spec.ts';
import type { CopyWork, OldValues } from './copies.ts';
import { withMarks } from './copy-marks.ts';
import { othersIn } from './owned-fields.ts';

/** What is needed to compare a copy with what was written. */
export type Sight = Pick<CopyWork, 'sensitiveKinds' | 'listRulesOf'>;

/** True for kinds of which a mirror holds metadata only, and whose values are kept nowhere. */
export function isHidden(key: ObjectKey, { sensitiveKinds }: Pick<Sight, 'sensitiveKinds'>): boolean {
  const kind = kindOfKey(key);
  return keyOfKind(kind) === 'Secret' || sensitiveKinds.has(kind);
}

/** What `InventoryEntry.observedHash` is of this object: equal as long as nobody changed what we sent, our marks included. */
export function observedHashOf({ key, desired }: Pick<RenderedObject, 'key' | 'desired'>, object: KubernetesObject, sight: Sight): string {
  // Its fields are not in any mirror; its version changes with them, and with whatever else.
  if (isHidden(key, sight)) return object.metadata.resourceVersion ?? '';
  // Without our marks nobody can tell which write a mirror shows, so they are ours as any field is.
  return sentHashOf(withMarks(desired, someMarks), object, sight.listRulesOf(kindOfKey(key)));
}

/** Which marks there are, but for the token of an intent, which only a first write is told by. What they say is not looked at. */
const someMarks = { owner: { uid: '', namespace: '', name: '' }, generation: 0 };

/** Of larger ones nothing is kept: a resource of the hub has 1.5 MiB. */
const mostKept = 1024 * 1024;

/** What the object holds where we are about to write: all of it where it is replaced. Undefined of what is hidden, and of what is larger than 1 MiB. */
export function oldValuesOf(
  { key, desired }: Pick<RenderedObject, 'key' | 'desired'>,
  object: KubernetesObject,
  work: Sight & Pick<CopyWork, 'share' | 'spec'>,
): OldValues | undefined {
  const { uid } = object.metadata;
  if (uid === undefined || isHidden(key, work)) return undefined;
  const isWhole = work.spec.write === 'Replace';
  const held = isWhole ? prune(object, { removeJobTtl: false }) : projectOnto(desired, object, work.listRulesOf(kindOfKey(key)));
  const values = asManifest(desired, held);
  if (JSON.stringify(values).length > mostKept) return undefined;
  const owners = othersIn(object);
  const { cluster } = work.share;
  return { cluster, key, uid, values, ...(owners.length === 0 ? {} : { owners }), ...(isWhole ? { whole: true } : {}) };
}

/** Named as the manifest is, so that it can be applied. */
function asManifest({ apiVersion, kind, metadata: { name, namespace } }: Manifest, values: unknown): Manifest {
  const { metadata, ...rest } = isJsonObject(values) ? values : {};
  return {
    ...rest,
    apiVersion,
    kind,
    metadata: { ...(isJsonObject(metadata) ? metadata : {}), name, ...(namespace === undefined ? {} : { namespace }) },
  };
}
