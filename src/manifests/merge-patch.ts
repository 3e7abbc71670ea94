import { equalJson } from '../core/json/json-values.ts';
import { type MergeList, mergePatch } from '../core/json/merge-patch.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { valueAt } from '../core/json-at.ts';
import type { ListRules } from '../model/model.ts';

/**
 * The rules of the list at these keys in an object of one kind; steps through lists are left out (`['spec', 'containers', 'ports']`). Undefined if none
 * are known.
 */
export type ListRulesAt = (path: readonly string[]) => ListRules | undefined;

/** A lookup that knows no list. */
export const noListRules: ListRulesAt = () => undefined;

/**
 * The document after a merge patch (RFC 7396), with one exception. A list whose items are told apart by keys merges by them: an item of the patch merges
 * into the one of equal keys, or is appended; no item is ever removed. Such a list with an item without its keys replaces, as any other does. Nothing is
 * changed in place.
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

/** The keys that tell the items of a list apart to a merge patch. Undefined for a list that is replaced whole. */
function keysOfMerge(rules: ListRules | undefined): readonly string[] | undefined {
  if (rules?.listType === 'map') return rules.listMapKeys;
  return rules?.listType === undefined && rules?.patchMergeKey !== undefined ? [rules.patchMergeKey] : undefined;
}

/** The keys that tell the items of a list apart to server-side apply: to it, a list is atomic unless its type says otherwise. */
export function keysOfApply(rules: ListRules | undefined): readonly string[] | undefined {
  return rules?.listType === 'map' ? rules.listMapKeys : undefined;
}

/** True if both items have equal values of these keys. A protocol that is absent is TCP, as the API server defaults it: the one key it has a default for. */
export function isSameItem(a: Json, b: Json, keys: readonly string[]): boolean {
  return keys.every((key) => equalJson(keyValueOf(a, key), keyValueOf(b, key)));
}

function keyValueOf(item: Json, key: string): Json | undefined {
  return valueAt(item, key) ?? (key === 'protocol' ? 'TCP' : undefined);
}
