import { hash } from 'node:crypto';
import { fieldManager } from '../../../changes/object-client.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../../core/json-at.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { withoutValueAt, withValueAt } from '../../../manifests/json-edits.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { InventoryEntry } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';

/** One entry of `managedFields`. */
interface FieldsEntry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource: string;
  readonly fields: JsonObject;
  readonly raw: JsonObject;
}

/**
 * Returns the paths in a `fieldsV1`, written like in the conflict messages of API servers: `.spec.replicas`,
 * `.spec.containers[name="web"].image`.
 *
 * Of nested paths it returns the deepest one, and each parent that the `fieldsV1` also lists as a field of its own (`.`).
 */
export function fieldPathsIn(fields: JsonObject, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([element, below]) => {
    const path = element === '.' ? prefix : prefix + printPathElement(element);
    return isJsonObject(below) && Object.keys(below).length > 0 ? fieldPathsIn(below, path) : [path];
  });
}

/** Returns the paths of Muster's fields, sorted and without duplicates. Empty for an object without `managedFields`. */
export function ownedPaths(object: KubernetesObject): readonly string[] {
  const ours = entriesOf(object).filter((entry) => isOurApply(entry) || isOurUpdate(entry));
  return [...new Set(ours.flatMap((entry) => fieldPathsIn(entry.fields)))].toSorted();
}

/**
 * Maximum length of the fingerprint of one copy, in characters (1,024 paths). Longer fingerprints are replaced by an empty one, because a
 * share holds up to 200 of them and must fit into one object of the hub.
 */
const maxFingerprintLength = 4_096;

/**
 * Returns a fingerprint of paths for `fingerprintHasPath`, with four characters per path. Two different paths collide once in 16 million
 * cases.
 *
 * For more than 1,024 paths the fingerprint is empty. Then every field that another manager takes is a conflict.
 */
export function fingerprintOfPaths(paths: readonly string[]): string {
  const printed = paths.map(fingerprintOfPath).join('');
  return printed.length > maxFingerprintLength ? '' : printed;
}

/** True if the fingerprint contains the path. */
export function fingerprintHasPath(printed: string, path: string): boolean {
  const wanted = fingerprintOfPath(path);
  for (let at = 0; at < printed.length; at += wanted.length) if (printed.startsWith(wanted, at)) return true;
  return false;
}

/** Returns the other field managers that own a field in the fingerprint, each once, in the order of `managedFields`. */
export function otherManagersOf(object: KubernetesObject, printed: string): readonly string[] {
  const others = entriesOf(object).filter(({ manager }) => manager !== fieldManager);
  return [
    ...new Set(
      others.filter(({ fields }) => fieldPathsIn(fields).some((path) => fingerprintHasPath(printed, path))).map(({ manager }) => manager),
    ),
  ];
}

/** True if Muster owns fields of the object by `Apply`. */
export function isAppliedByUs(object: KubernetesObject): boolean {
  return entriesOf(object).some(isOurApply);
}

/**
 * Returns the `managedFields` with Muster's `Update` entries merged into its `Apply` entry. Undefined if there is no such `Update` entry.
 *
 * A field that Muster has set by an update conflicts with its own apply. A forced apply would not remove such a field when it leaves the
 * field out. kubectl's `csaupgrade` merges the entries in the same way.
 */
export function updatesTurnedToApply(object: KubernetesObject): readonly Json[] | undefined {
  const entries = entriesOf(object);
  const updates = entries.filter(isOurUpdate);
  const [first] = updates;
  if (first === undefined) return undefined;
  const applied = entries.find(isOurApply);
  const fields = [...(applied === undefined ? [] : [applied]), ...updates].map((entry) => entry.fields).reduce(unionOfFields);
  const ours = { ...(applied ?? first).raw, operation: 'Apply', fieldsV1: fields };
  return [...entries.filter(isOthers).map(({ raw }) => raw), ours];
}

/** Maximum number of stored entries. API servers keep 10 entries for updates, and objects have few entries for applies. */
const maxStoredOwners = 100;

/** Returns the entries of `managedFields` of other managers, at most 100. */
export function foreignOwnersIn(object: KubernetesObject): readonly JsonObject[] {
  return entriesOf(object)
    .filter(isOthers)
    .slice(0, maxStoredOwners)
    .map(({ raw }) => raw);
}

/**
 * Returns the `managedFields` without Muster's fields. Fields that had another owner before Muster took the object over get that owner
 * back. Without an owner, any manager could change these fields without a conflict, Muster included.
 *
 * The result is never empty, because an API server ignores an empty list. If no entry is left, the list has one empty entry, which resets
 * the owners.
 *
 * @param before The result of `foreignOwnersIn` before Muster took the object over.
 */
export function withoutMusterFields(object: KubernetesObject, before: readonly JsonObject[] = []): readonly Json[] {
  const entries = entriesOf(object);
  const none: JsonObject = {};
  const ours = entries.filter((entry) => !isOthers(entry)).map(({ fields }) => fields);
  const taken = ours.reduce(unionOfFields, none);
  const back = before.map(entryOf).flatMap((entry) => {
    const fields = intersectionOfFields(entry.fields, taken);
    return Object.keys(fields).length === 0 ? [] : [{ ...entry, fields, raw: { ...entry.raw, fieldsV1: fields } }];
  });
  const kept = entries.filter(isOthers).map((entry) => {
    const more = back.find((one) => isSameOwner(one, entry));
    return more === undefined ? entry.raw : { ...entry.raw, fieldsV1: unionOfFields(entry.fields, more.fields) };
  });
  const returned = back.filter((one) => !entries.some((entry) => isSameOwner(one, entry))).map(({ raw }) => raw);
  const all = [...kept, ...returned];
  return all.length === 0 ? [{}] : all;
}

/** True if both entries belong to one owner. A manager has one entry per operation, subresource and version. */
function isSameOwner(one: FieldsEntry, other: FieldsEntry): boolean {
  return (
    one.manager === other.manager &&
    one.operation === other.operation &&
    one.subresource === other.subresource &&
    one.raw.apiVersion === other.raw.apiVersion
  );
}

/** Returns the fields that are in both sets. */
function intersectionOfFields(left: JsonObject, right: JsonObject): JsonObject {
  const members = Object.keys(left).flatMap((key): [string, JsonObject][] => {
    if (!Object.hasOwn(right, key)) return [];
    const [one, other] = [objectAt(left, key), objectAt(right, key)];
    const isField = Object.keys(one).length === 0 && Object.keys(other).length === 0;
    const both = intersectionOfFields(one, other);
    return isField || Object.keys(both).length > 0 ? [[key, both]] : [];
  });
  return Object.fromEntries(members);
}

/**
 * Returns the `managedFields` in which Muster no longer owns these paths by `Apply`. Undefined if it owns none of them.
 *
 * An apply without these fields then keeps their values. If Muster still owned the fields, that apply would remove them. The server would
 * then reset a replica count to its default, 1.
 */
export function withoutMusterPaths(object: JsonObject, paths: readonly (readonly string[])[]): readonly Json[] | undefined {
  const entries = entriesOf(object);
  const ours = entries.find(isOurApply);
  if (ours === undefined) return undefined;
  const fields = paths.reduce(
    (left, path) =>
      withoutValueAt(
        left,
        path.map((key) => `f:${key}`),
      ),
    ours.fields,
  );
  if (fields === ours.fields) return undefined;
  return entries.map(({ raw }) => (raw === ours.raw ? { ...raw, fieldsV1: fields } : raw));
}

/** Returns a path as text, in the form of `ownedPaths` and of the conflict messages of API servers: `.spec.replicas`. */
export function printFieldPath(path: readonly string[]): string {
  return path.map((key) => `.${key}`).join('');
}

function entriesOf(object: JsonObject): readonly FieldsEntry[] {
  return listAt(object, 'metadata', 'managedFields').filter(isJsonObject).map(entryOf);
}

function entryOf(raw: JsonObject): FieldsEntry {
  return {
    manager: textAt(raw, 'manager') ?? '',
    operation: textAt(raw, 'operation') ?? '',
    subresource: textAt(raw, 'subresource') ?? '',
    fields: objectAt(raw, 'fieldsV1'),
    raw,
  };
}

function isOthers(entry: FieldsEntry): boolean {
  return !isOurUpdate(entry) && !isOurApply(entry);
}

function isOurApply({ manager, operation, subresource }: FieldsEntry): boolean {
  return manager === fieldManager && operation === 'Apply' && subresource === '';
}

function isOurUpdate({ manager, operation, subresource }: FieldsEntry): boolean {
  return manager === fieldManager && operation === 'Update' && subresource === '';
}

function unionOfFields(left: JsonObject, right: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(keys.map((key) => [key, unionOfFields(objectAt(left, key), objectAt(right, key))]));
}

/**
 * Writes one element of a `fieldsV1` path. `f:name` is a field. `k:{…}` is a list item by its keys, `v:…` by its value, `i:0` by its index
 * (structured-merge-diff, PathElement).
 */
function printPathElement(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${rest}`;
    case 'k:':
      return `[${Object.entries(JSON.parse(rest) as JsonObject).map(([key, value]) => `${key}=${JSON.stringify(value)}`)}]`;
    case 'v:':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

function fingerprintOfPath(path: string): string {
  return hash('sha256', path, 'base64url').slice(0, 4);
}

/** Returns the manifest with the live values at the paths in `leftPaths`. A replacement without these values would remove them. */
export function withLeftValues(
  manifest: Manifest,
  { leftPaths = [] }: Pick<RenderedObject, 'leftPaths'>,
  live: KubernetesObject,
): Manifest {
  return leftPaths.reduce((object, path) => {
    const value = valueAt(live, ...path);
    return value === undefined ? object : withValueAt(object, path, value);
  }, manifest);
}

/**
 * True if, by the inventory, Muster may own a field that it must leave to others. Then the object must be read live, because a mirror does
 * not hold the owners.
 */
export function mayOwnLeftFields({ leftPaths = [] }: Pick<RenderedObject, 'leftPaths'>, { sent }: Pick<InventoryEntry, 'sent'>): boolean {
  return leftPaths.some((path) => sent === undefined || fingerprintHasPath(sent, printFieldPath(path)));
}
