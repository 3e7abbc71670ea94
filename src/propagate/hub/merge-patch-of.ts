import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { equalJson } from '../../core/json-values.ts';

/**
 * The smallest merge patch (RFC 7396) that makes `after` of `before`, member by member; undefined if they are equal. Lists are sent whole. What is null
 * in `after` is as good as absent: a merge patch cannot say it.
 */
export function mergePatchOf(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: [string, Json][] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const change = changeOf(before[name] ?? null, after[name] ?? null);
    if (change !== undefined) patch.push([name, change]);
  }
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
}

function changeOf(before: Json, after: Json): Json | undefined {
  if (isJsonObject(before) && isJsonObject(after)) return mergePatchOf(before, after);
  return equalJson(before, after) ? undefined : after;
}
