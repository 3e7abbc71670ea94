import { equalJson } from '../core/json/json-values.ts';
import { type MergeList, mergePatch } from '../core/json/merge-patch.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { valueAt } from '../core/json-at.ts';
import type { ListRules } from '../model/model.ts';

/**
 * Returns the merge rules of the list at a path in an object of one kind. The path has no indices: `['spec', 'containers', 'ports']`.
 * Undefined if no rules are known.
 */
export type ListRulesAt = (path: readonly string[]) => ListRules | undefined;

/** A lookup without rules: it returns undefined for every list. */
export const noListRules: ListRulesAt = () => undefined;

/**
 * Applies a merge patch (RFC 7396), with one exception for lists whose items have identifying keys. Does not change its arguments.
 *
 * In such a list, each item of the patch merges into the existing item with equal keys, or is appended. Existing items that the patch omits
 * stay. But if an item of the patch has none of the keys, the list of the patch replaces the whole list, as in RFC 7396.
 */
export function mergePatchByKeys(document: Json | undefined, patch: JsonObject, rulesAt: ListRulesAt): JsonObject {
  const mergeList: MergeList = (present, items, path) => {
    const keys = keysOfMerge(rulesAt(path));
    const mergeable = keys !== undefined && items.every((item) => isJsonObject(item) && keys.some((key) => Object.hasOwn(item, key)));
    if (!mergeable) return items;
    const list = Array.isArray(present) ? [...present] : [];
    for (const item of items) {
      const at = list.findIndex((other) => isSameItem(other, item, keys));
      list[at === -1 ? list.length : at] = mergePatch(list[at], item, { mergeList, path });
    }
    return list;
  };
  return mergePatch(document, patch, { mergeList });
}

/** Returns the keys that identify the items of a list for a merge patch. Undefined for a list that is replaced as a whole. */
function keysOfMerge(rules: ListRules | undefined): readonly string[] | undefined {
  if (rules?.listType === 'map') return rules.listMapKeys;
  return rules?.listType === undefined && rules?.patchMergeKey !== undefined ? [rules.patchMergeKey] : undefined;
}

/** Returns the keys that identify the items of a list for server-side apply. Undefined for other lists, which are atomic or sets there. */
export function keysOfApply(rules: ListRules | undefined): readonly string[] | undefined {
  return rules?.listType === 'map' ? rules.listMapKeys : undefined;
}

/**
 * True if both items have equal values of these keys. An absent `protocol` counts as TCP: it is the only such key for which the API server
 * has a default.
 */
export function isSameItem(a: Json, b: Json, keys: readonly string[]): boolean {
  return keys.every((key) => equalJson(keyValueOf(a, key), keyValueOf(b, key)));
}

function keyValueOf(item: Json, key: string): Json | undefined {
  return valueAt(item, key) ?? (key === 'protocol' ? 'TCP' : undefined);
}
