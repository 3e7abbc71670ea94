import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import { keyOfKind } from '../../../core/kinds.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import type { ListRulesAt } from '../../../manifests/merge-patch.ts';
import { groupKindOfKey } from '../../../manifests/object-key.ts';
import { portableOf } from '../../../manifests/portable-object.ts';
import type { OldValues } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import { withMarks } from './copy-marks.ts';
import type { CopyWork } from './copy-work.ts';
import { foreignOwnersIn } from './owned-fields.ts';
import { haveEqualSentParts, sentHashOf, sentPartOf } from './sent-fields.ts';

/** The rules for comparing a copy with the written manifest. */
export type ComparisonRules = Pick<CopyWork, 'sensitiveKinds' | 'listRulesOf'>;

/** True for kinds whose mirrors hold metadata only. Their values are never stored. */
export function hasHiddenValues(key: ObjectKey, { sensitiveKinds }: Pick<ComparisonRules, 'sensitiveKinds'>): boolean {
  const kind = groupKindOfKey(key);
  return keyOfKind(kind) === 'Secret' || sensitiveKinds.has(kind);
}

/**
 * Returns the `InventoryEntry.observedHash` of this object. The hash changes only if another manager changes a field that Muster sent, the
 * marks included. For a kind with hidden values, the result is the resourceVersion.
 */
export function observedHashOf(
  { key, desired }: Pick<RenderedObject, 'key' | 'desired'>,
  object: KubernetesObject,
  rules: ComparisonRules,
): string {
  // Mirrors of these kinds have metadata only. So the resourceVersion is used, which changes with every change of the object.
  if (hasHiddenValues(key, rules)) return object.metadata.resourceVersion ?? '';
  // The marks show which write a mirror has seen, so they count as sent fields.
  return sentHashOf(withMarks(desired, someMarks), object, rules.listRulesOf(groupKindOfKey(key)));
}

/**
 * The marks of every write. Only their paths matter here, not their values. The intent token is left out, because only the first write
 * sends it.
 */
const someMarks = { owner: { uid: '', namespace: '', name: '' }, generation: 0 };

/** Maximum size of stored old values, in characters of JSON. A resource on the hub has at most 1.5 MiB. */
const maxOldValuesLength = 1024 * 1024;

/**
 * Returns the old values of the fields that Muster is about to write, or the whole object if it will be replaced. Undefined for kinds with
 * hidden values, and if the values are larger than 1 MiB.
 */
export function oldValuesOf(
  { key, desired }: Pick<RenderedObject, 'key' | 'desired'>,
  object: KubernetesObject,
  work: ComparisonRules & Pick<CopyWork, 'share' | 'spec'>,
): OldValues | undefined {
  const { uid } = object.metadata;
  if (uid === undefined || hasHiddenValues(key, work)) return undefined;
  const isWhole = work.spec.write === 'Replace';
  const held = isWhole ? portableOf(object, { removeJobTtl: false }) : sentPartOf(desired, object, work.listRulesOf(groupKindOfKey(key)));
  const values = asManifest(desired, held);
  if (JSON.stringify(values).length > maxOldValuesLength) return undefined;
  const owners = foreignOwnersIn(object);
  const { cluster } = work.share;
  return { cluster, key, uid, values, ...(owners.length === 0 ? {} : { owners }), ...(isWhole ? { whole: true } : {}) };
}

/** Adds the kind and the name of the manifest, so that the values can be applied. */
function asManifest({ apiVersion, kind, metadata: { name, namespace } }: Manifest, values: unknown): Manifest {
  const { metadata, ...rest } = isJsonObject(values) ? values : {};
  return {
    ...rest,
    apiVersion,
    kind,
    metadata: { ...(isJsonObject(metadata) ? metadata : {}), name, ...(namespace === undefined ? {} : { namespace }) },
  };
}

/** A copy whose existing object is hashed. `desiredHash` is the hash of `desired`. */
type HashedCopy = Pick<RenderedObject, 'key' | 'desired' | 'desiredHash'>;

/** The last hash of an object, and what it depends on besides the object. */
interface LastHash {
  readonly desiredHash: string;
  readonly listRules: ListRulesAt;
  readonly hash: string;
}

/** Returns the result of `observedHashOf` for an existing copy. The result is cached while the object is in memory and the model is the same. */
export function cachedObservedHashOf(copy: HashedCopy, object: KubernetesObject, rules: ComparisonRules): string {
  const listRules = rules.listRulesOf(groupKindOfKey(copy.key));
  const before = lastHashes.get(object);
  if (before?.desiredHash === copy.desiredHash && before.listRules === listRules) return before.hash;
  const hash = hashLikeCopies(copy, object, rules);
  lastHashes.set(object, { desiredHash: copy.desiredHash, listRules, hash });
  return hash;
}

/** The last hash per object. Objects of a mirror never change, and a plan without changes computes the same hashes again and again. */
const lastHashes = new WeakMap<KubernetesObject, LastHash>();

/** Returns the hash of another cluster's copy of the same manifest, if both copies hold the same values. Otherwise computes the hash. */
function hashLikeCopies({ key, desired }: HashedCopy, object: KubernetesObject, rules: ComparisonRules): string {
  if (hasHiddenValues(key, rules)) return observedHashOf({ key, desired }, object, rules);
  const listRules = rules.listRulesOf(groupKindOfKey(key));
  const known = firstCopies.get(desired);
  const first = known?.listRules === listRules ? known : undefined;
  if (first !== undefined && haveEqualSentParts(first.sent, first.object, object)) return first.hash;
  const hash = observedHashOf({ key, desired }, object, rules);
  if (first === undefined) {
    const { apiVersion: _version, kind: _kind, ...sent } = withMarks(desired, someMarks);
    firstCopies.set(desired, { sent, object, listRules, hash });
  }
  return hash;
}

/** The first hashed copy of a manifest, the fields that were sent for it, and the rules of the hash. */
interface FirstCopy {
  readonly sent: JsonObject;
  readonly object: KubernetesObject;
  readonly listRules: ListRulesAt;
  readonly hash: string;
}

/** All clusters share a manifest that no override and no count changes. */
const firstCopies = new WeakMap<Manifest, FirstCopy>();
