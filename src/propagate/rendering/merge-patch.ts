import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { type MergeList, mergePatch } from '../../core/merge-patch.ts';
import type { ListRules } from '../../model/model.ts';
import { isSameItem, keysOfMerge } from './list-keys.ts';

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
