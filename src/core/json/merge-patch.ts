import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { equalJson } from './json-values.ts';

/** Merges a list of a patch into the value at `path`. The path has only keys; indexes of lists are left out. */
export type MergeList = (document: Json | undefined, patch: readonly Json[], path: readonly string[]) => Json;

export interface MergeOptions {
  /** Default: the list of the patch replaces the value of the document. */
  readonly mergeList?: MergeList | undefined;
  /** The keys that lead to the document. Default: none. */
  readonly path?: readonly string[];
}

/** Applies a merge patch (RFC 7396). A null removes a member, a map merges, any other value replaces. Returns a new document. */
export function mergePatch(document: Json | undefined, patch: JsonObject, options?: MergeOptions): JsonObject;
export function mergePatch(document: Json | undefined, patch: Json, options?: MergeOptions): Json;
export function mergePatch(document: Json | undefined, patch: Json, { mergeList, path = [] }: MergeOptions = {}): Json {
  if (Array.isArray(patch)) return mergeList?.(document, patch, path) ?? patch;
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(Object.entries(isJsonObject(document) ? document : {}));
  for (const [key, member] of Object.entries(patch)) {
    if (member === null) merged.delete(key);
    else if (member !== undefined) merged.set(key, mergePatch(merged.get(key), member, { mergeList, path: [...path, key] }));
  }
  return Object.fromEntries(merged);
}

/**
 * Returns the smallest merge patch (RFC 7396) from `before` to `after`, member by member. Undefined if they are equal. Lists are sent
 * whole. A null in `after` counts as absent, because a merge patch cannot set null.
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
