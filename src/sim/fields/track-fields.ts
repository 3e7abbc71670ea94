import { isJsonObject, type JsonObject } from '../../core/json.ts';
import {
  differenceOf,
  type FieldPath,
  type FieldSet,
  fieldElement,
  fieldSetFrom,
  intersectionOf,
  isEmptySet,
  isSameSet,
  outsideOf,
  pathsOf,
  unionOf,
} from './field-set.ts';
import type { FieldType } from './field-types.ts';
import { isSameManager, type Manager, type Ownership } from './managers.ts';
import { mergedFields, withNamedFields, withoutFields } from './merge-fields.ts';
import { changedIn, comparisonOf, type FieldComparison, fieldSetOf } from './owned-fields.ts';

/** A write by one manager, with its time in the format of Kubernetes. */
export interface Tracking {
  readonly type: FieldType;
  readonly by: Manager;
  readonly time: string | undefined;
  /** Top-level fields that the write cannot change and so does not own: `status`, `spec`. Default: none. */
  readonly except?: readonly string[];
}

/** A field that the apply would change, and another manager that owns it. */
export interface OwnershipConflict {
  readonly manager: Manager;
  readonly path: FieldPath;
}

export type AppliedFields =
  | { readonly result: 'applied'; readonly object: JsonObject; readonly managers: readonly Ownership[] }
  | { readonly result: 'conflicts'; readonly conflicts: readonly OwnershipConflict[] };

/** Fields that identify an object or belong to the server. They have no owner. */
const serversOwn: FieldSet = fieldSetFrom([
  ...['apiVersion', 'kind'].map((key) => [fieldElement(key)]),
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'generation', 'managedFields', 'resourceVersion'].map((key) => [
    fieldElement('metadata'),
    fieldElement(key),
  ]),
]);

/** The field `metadata` itself has no owner either. */
const metadataItself: FieldSet = fieldSetFrom([[fieldElement('metadata')]]);

/** Returns the owners after a write of a whole object. The writer becomes the only owner of the changed fields. */
export function trackUpdate(
  managers: readonly Ownership[],
  change: { readonly before: JsonObject; readonly after: JsonObject },
  tracking: Tracking,
): readonly Ownership[] {
  const { type, by, time } = tracking;
  const comparison = reduced(comparisonOf(type, change.before, change.after), tracking);
  if (isUnchanged(comparison)) return managers;
  const changed = changedIn(comparison);
  const own = managers.find((other) => isSameManager(other, by));
  const fields = unionOf(differenceOf(own?.fields ?? fieldSetFrom([]), comparison.removed), changed);
  const others = managers.filter((other) => other !== own).map((other) => lessened(other, unionOf(changed, comparison.removed)));
  return [...others, ownershipOf(tracking, fields, own !== undefined && isSameSet(own.fields, fields) ? own.time : time)];
}

/**
 * Applies fields to the live object and returns the new object with its owners. Removes fields that this manager applied before and that
 * have no owner now. Without `force`, a change to a field of another manager is a conflict.
 */
export function applyFields(
  managers: readonly Ownership[],
  { live, applied, force }: { readonly live: JsonObject; readonly applied: JsonObject; readonly force: boolean },
  tracking: Tracking,
): AppliedFields {
  const { type, by, time } = tracking;
  const own = managers.find((other) => isSameManager(other, by));
  const others = managers.filter((other) => other !== own);
  const fields = differenceOf(outsideOf(fieldSetOf(type, applied), exceptionsOf(tracking)), metadataItself);
  const merged = mergedFields(type, live, applied);
  const object = pruned(type, isJsonObject(merged) ? merged : {}, {
    last: own?.fields ?? fieldSetFrom([]),
    owned: [fields, ...others.map((other) => other.fields)].reduce(unionOf),
  });
  const comparison = reduced(comparisonOf(type, live, object), tracking);
  const changed = changedIn(comparison);
  const conflicts = others.flatMap((manager) => pathsOf(intersectionOf(manager.fields, changed)).map((path) => ({ manager, path })));
  if (conflicts.length > 0 && !force) return { result: 'conflicts', conflicts };
  const isSame = own !== undefined && isSameSet(own.fields, fields) && isUnchanged(comparison);
  const left = others.map((other) => lessened(other, unionOf(changed, comparison.removed)));
  return { result: 'applied', object, managers: [...left, ownershipOf(tracking, fields, isSame ? own.time : time)] };
}

/** Removes the fields that this manager applied last time and that no manager owns now. */
function pruned(type: FieldType, merged: JsonObject, { last, owned }: { readonly last: FieldSet; readonly owned: FieldSet }): JsonObject {
  const left = withoutFields(type, merged, differenceOf(withNamedFields(type, last), withNamedFields(type, owned)));
  return isJsonObject(left) ? left : {};
}

function ownershipOf({ by }: Tracking, fields: FieldSet, time: string | undefined): Ownership {
  return { ...by, fields, ...(time === undefined ? {} : { time }) };
}

function lessened(ownership: Ownership, taken: FieldSet): Ownership {
  return { ...ownership, fields: differenceOf(ownership.fields, taken) };
}

function reduced({ added, removed, modified }: FieldComparison, tracking: Tracking): FieldComparison {
  const except = exceptionsOf(tracking);
  return { added: outsideOf(added, except), removed: outsideOf(removed, except), modified: outsideOf(modified, except) };
}

function isUnchanged({ added, removed, modified }: FieldComparison): boolean {
  return isEmptySet(added) && isEmptySet(removed) && isEmptySet(modified);
}

function exceptionsOf({ except = [] }: Tracking): FieldSet {
  return except.length === 0 ? serversOwn : unionOf(serversOwn, fieldSetFrom(except.map((key) => [fieldElement(key)])));
}
