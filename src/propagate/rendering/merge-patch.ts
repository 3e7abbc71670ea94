import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { equalJson } from '../../core/json-values.ts';
import type { ListRules } from '../../model/model.ts';
import { withoutMembers } from './json-edits.ts';
import { isSameItem, keysOfMerge } from './list-keys.ts';

/**
 * The rules of the list at these keys in an object of one kind; steps through lists are left out (`['spec', 'containers', 'ports']`). Undefined if none
 * are known.
 */
export type ListRulesAt = (path: readonly string[]) => ListRules | undefined;

/** A lookup that knows no list. */
export const noListRules: ListRulesAt = () => undefined;

/**
 * The document after a merge patch (RFC 7396): a null removes, a map merges, anything else replaces. But a list whose items are told apart by keys
 * merges by them: an item of the patch merges into the one of equal keys, or is appended; no item is ever removed. Such a list with an item without its
 * keys replaces, as any other does. Nothing is changed in place.
 */
export function mergePatch(document: Json | undefined, patch: JsonObject, rulesAt: ListRulesAt): JsonObject {
  return mergeMaps(document, patch, { rulesAt, path: [] });
}

interface Merging {
  readonly rulesAt: ListRulesAt;
  readonly path: readonly string[];
}

function merge(document: Json | undefined, patch: Json, merging: Merging): Json {
  if (isJsonObject(patch)) return mergeMaps(document, patch, merging);
  return Array.isArray(patch) ? mergeLists(document, patch, merging) : patch;
}

function mergeMaps(document: Json | undefined, patch: JsonObject, { rulesAt, path }: Merging): JsonObject {
  const map = isJsonObject(document) ? document : {};
  const entries = Object.entries(patch);
  const removed = entries.filter(([, member]) => member === null).map(([key]) => key);
  const merged = entries.flatMap(([key, member]): readonly (readonly [string, Json])[] =>
    member === null || member === undefined
      ? []
      : [[key, merge(Object.hasOwn(map, key) ? map[key] : undefined, member, { rulesAt, path: [...path, key] })]],
  );
  return Object.fromEntries([...Object.entries(withoutMembers(map, removed)), ...merged]);
}

function mergeLists(document: Json | undefined, patch: readonly Json[], merging: Merging): Json {
  const keys = keysOfMerge(merging.rulesAt(merging.path));
  const mergeable = keys !== undefined && patch.every((item) => isJsonObject(item) && keys.some((key) => Object.hasOwn(item, key)));
  if (!mergeable) return patch;
  return patch.reduce<readonly Json[]>(
    (list, item) => mergeItem(list, item, { ...merging, keys }),
    Array.isArray(document) ? document : [],
  );
}

function mergeItem(
  list: readonly Json[],
  item: Json,
  { keys, ...merging }: Merging & { readonly keys: readonly string[] },
): readonly Json[] {
  const at = list.findIndex((present) => isSameItem(present, item, keys));
  const merged = merge(list[at], item, merging);
  if (at === -1) return [...list, merged];
  return equalJson(list[at], merged) ? list : list.with(at, merged);
}
