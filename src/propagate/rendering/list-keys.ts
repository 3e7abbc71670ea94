import type { Json } from '../../core/json.ts';
import { valueAt } from '../../core/json-at.ts';
import { equalJson } from '../../core/json-values.ts';
import type { ListRules } from '../../model/model.ts';

/** The keys that tell the items of a list apart to a merge patch. Undefined for a list that is replaced whole. */
export function keysOfMerge(rules: ListRules | undefined): readonly string[] | undefined {
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
