import { hash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import { fieldManager } from '../object-client.ts';
import type { RenderedObject } from '../plan.ts';
import { withoutValueAt, withValueAt } from '../rendering/json-edits.ts';
import type { Manifest } from '../spec.ts';

/** One entry of `managedFields`. */
interface FieldsEntry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource: string;
  readonly fields: JsonObject;
  readonly raw: JsonObject;
}

/**
 * The paths that a `fieldsV1` names, spelt as API servers spell them in conflicts: `.spec.replicas`, `.spec.containers[name="web"].image`.
 *
 * Of nested paths the deepest, and those that are named themselves.
 */
export function pathsIn(fields: JsonObject, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([element, below]) => {
    const path = element === '.' ? prefix : prefix + spelt(element);
    return isJsonObject(below) && Object.keys(below).length > 0 ? pathsIn(below, path) : [path];
  });
}

/** The paths of what we own, in order and without repetition. Empty for an object without `managedFields`. */
export function ownedPaths(object: KubernetesObject): readonly string[] {
  const ours = entriesOf(object).filter((entry) => isOurApply(entry) || isOurUpdate(entry));
  return [...new Set(ours.flatMap((entry) => pathsIn(entry.fields)))].toSorted();
}

/** A share has room for so much from each of its 200 entries: the paths of a large object are not kept. */
const mostPrinted = 4_096;

/**
 * Paths as a short text, four characters for each, to be asked by `hasPath`. That two paths look the same happens once in 16 million. Of more than
 * 1,024 paths nothing is kept: then every field that others take is a conflict.
 */
export function printPaths(paths: readonly string[]): string {
  const printed = paths.map(printPath).join('');
  return printed.length > mostPrinted ? '' : printed;
}

/** True if the path is among them. */
export function hasPath(printed: string, path: string): boolean {
  const wanted = printPath(path);
  for (let at = 0; at < printed.length; at += wanted.length) if (printed.startsWith(wanted, at)) return true;
  return false;
}

/** The other managers of fields at these paths, each once, in the order of `managedFields`. */
export function managersOf(object: KubernetesObject, printed: string): readonly string[] {
  const others = entriesOf(object).filter(({ manager }) => manager !== fieldManager);
  return [...new Set(others.filter(({ fields }) => pathsIn(fields).some((path) => hasPath(printed, path))).map(({ manager }) => manager))];
}

/** True if we own fields by apply. */
export function isAppliedByUs(object: KubernetesObject): boolean {
  return entriesOf(object).some(isOurApply);
}

/**
 * The `managedFields` in which what is ours by `Update` is ours by `Apply`; undefined if there is nothing to turn. Else our own update would conflict with
 * our apply, and forcing it would not drop what we leave out (as kubectl's `csaupgrade`).
 */
export function turnedToApply(object: KubernetesObject): readonly Json[] | undefined {
  const entries = entriesOf(object);
  const updates = entries.filter(isOurUpdate);
  const [first] = updates;
  if (first === undefined) return undefined;
  const applied = entries.find(isOurApply);
  const fields = [...(applied === undefined ? [] : [applied]), ...updates].map((entry) => entry.fields).reduce(united);
  const ours = { ...(applied ?? first).raw, operation: 'Apply', fieldsV1: fields };
  return [...entries.filter(isOthers).map(({ raw }) => raw), ours];
}

/** A bound of what is kept of them; API servers keep 10 that update, and those that apply are few. */
const mostOwners = 100;

/** The entries of `managedFields` that are not ours, at most 100. */
export function othersIn(object: KubernetesObject): readonly JsonObject[] {
  return entriesOf(object)
    .filter(isOthers)
    .slice(0, mostOwners)
    .map(({ raw }) => raw);
}

/**
 * The `managedFields` in which nothing is ours, and what is ours now is again whose it was: else somebody could take it, or we, as if it were nobody's. Never
 * empty, as an empty list changes nothing: one empty entry resets them.
 *
 * @param before What `othersIn` gave before we took it.
 */
export function withoutOurs(object: KubernetesObject, before: readonly JsonObject[] = []): readonly Json[] {
  const entries = entriesOf(object);
  const none: JsonObject = {};
  const ours = entries.filter((entry) => !isOthers(entry)).map(({ fields }) => fields);
  const taken = ours.reduce(united, none);
  const back = before.map(entryOf).flatMap((entry) => {
    const fields = shared(entry.fields, taken);
    return Object.keys(fields).length === 0 ? [] : [{ ...entry, fields, raw: { ...entry.raw, fieldsV1: fields } }];
  });
  const kept = entries.filter(isOthers).map((entry) => {
    const more = back.find((one) => isSameOwner(one, entry));
    return more === undefined ? entry.raw : { ...entry.raw, fieldsV1: united(entry.fields, more.fields) };
  });
  const returned = back.filter((one) => !entries.some((entry) => isSameOwner(one, entry))).map(({ raw }) => raw);
  const all = [...kept, ...returned];
  return all.length === 0 ? [{}] : all;
}

/** A manager has one entry for each operation, subresource and version. */
function isSameOwner(one: FieldsEntry, other: FieldsEntry): boolean {
  return (
    one.manager === other.manager &&
    one.operation === other.operation &&
    one.subresource === other.subresource &&
    one.raw.apiVersion === other.raw.apiVersion
  );
}

/** The fields that both name. */
function shared(left: JsonObject, right: JsonObject): JsonObject {
  const members = Object.keys(left).flatMap((key): [string, JsonObject][] => {
    if (!Object.hasOwn(right, key)) return [];
    const [one, other] = [objectAt(left, key), objectAt(right, key)];
    const isField = Object.keys(one).length === 0 && Object.keys(other).length === 0;
    const both = shared(one, other);
    return isField || Object.keys(both).length > 0 ? [[key, both]] : [];
  });
  return Object.fromEntries(members);
}

/**
 * The `managedFields` in which the fields at these paths are not ours by `Apply` any more; undefined if none of them is. So an apply without them leaves what
 * they hold, where it would drop it else (the server gives a count back its default, 1).
 */
export function withoutOurPaths(object: JsonObject, paths: readonly (readonly string[])[]): readonly Json[] | undefined {
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

/** A path of a field as API servers spell it in conflicts, and as `ownedPaths` gives it: `.spec.replicas`. */
export function spellPath(path: readonly string[]): string {
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

function united(left: JsonObject, right: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(keys.map((key) => [key, united(objectAt(left, key), objectAt(right, key))]));
}

/** `f:name` is a field, `k:{…}` an item by its keys, `v:…` one by its value, `i:0` one by its place (structured-merge-diff, PathElement). */
function spelt(element: string): string {
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

function printPath(path: string): string {
  return hash('sha256', path, 'base64url').slice(0, 4);
}

/** The manifest with what stands at the paths that it leaves to others: what is sent as a whole must not take that away. */
export function withLeft(manifest: Manifest, { leaves = [] }: Pick<RenderedObject, 'leaves'>, live: KubernetesObject): Manifest {
  return leaves.reduce((object, path) => {
    const value = valueAt(live, ...path);
    return value === undefined ? object : withValueAt(object, path, value);
  }, manifest);
}

/** True if by what the inventory keeps something is ours that is to be left: mirrors do not say who owns a field, so the object must be read. */
export function mayOwnLeft({ leaves = [] }: Pick<RenderedObject, 'leaves'>, { sent }: Pick<InventoryEntry, 'sent'>): boolean {
  return leaves.some((path) => sent === undefined || hasPath(sent, spellPath(path)));
}
