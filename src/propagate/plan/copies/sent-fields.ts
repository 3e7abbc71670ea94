import { sha256Of } from '../../../core/json/canonical-json.ts';
import { equalJson } from '../../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { withoutMembers } from '../../../manifests/json-edits.ts';
import { isSameItem, keysOfApply, type ListRulesAt } from '../../../manifests/merge-patch.ts';

/**
 * Returns the part of a live object that has the fields of `desired`, with the values that the server made of them. Defaults that the
 * server added to other fields are left out.
 *
 * A copy has drifted if this part differs from the same part of the server's answer to the write. It is never compared with `desired`
 * itself, because a server writes quantities, defaults and times in its own form.
 *
 * - Maps are compared member by member.
 * - Lists with keys are compared by items with equal keys, in the order of `desired`. Sets are compared by their elements. Any other list
 *   is one value.
 * - Fields that the live object does not have are omitted. apiVersion and kind are omitted too, because items of lists have none.
 *
 * Both objects must have the same version of the kind, because shapes differ between versions. The arguments are not changed. Parts of the
 * live object are shared with the result.
 */
export function sentPartOf(desired: JsonObject, live: JsonObject, rulesAt: ListRulesAt): JsonObject {
  return partOfMap(withoutMembers(desired, ['apiVersion', 'kind']), live, { rulesAt, path: [] });
}

/** Returns SHA-256 of `sentPartOf`. It is equal as long as no manager changes a sent field. */
export function sentHashOf(desired: JsonObject, live: JsonObject, rulesAt: ListRulesAt): string {
  return sha256Of(sentPartOf(desired, live, rulesAt));
}

/**
 * True if both live objects surely have the same `sentPartOf`, so that one hash serves for both. Comparing takes a tenth of the time of
 * hashing.
 *
 * False does not mean that the parts differ: lists are compared as a whole, with the items that were not sent.
 */
export function haveEqualSentParts(desired: JsonObject, one: JsonObject, other: JsonObject): boolean {
  // `for … in` makes no list of keys. Maps parsed from JSON have no inherited members.
  for (const key in desired) {
    const member = desired[key];
    const left = Object.hasOwn(one, key) ? one[key] : undefined;
    const right = Object.hasOwn(other, key) ? other[key] : undefined;
    if (member === undefined || left === right) continue;
    const areMaps = isJsonObject(member) && isJsonObject(left) && isJsonObject(right);
    if (!(areMaps ? haveEqualSentParts(member, left, right) : equalJson(left, right))) return false;
  }
  return true;
}

interface ProjectionPosition {
  readonly rulesAt: ListRulesAt;
  /** The path from the root as keys, without list indexes. */
  readonly path: readonly string[];
}

function partOf(desired: Json, live: Json, position: ProjectionPosition): Json {
  if (isJsonObject(desired) && isJsonObject(live)) return partOfMap(desired, live, position);
  return Array.isArray(desired) && Array.isArray(live) ? partOfList(desired, live, position) : live;
}

function partOfMap(desired: JsonObject, live: JsonObject, { rulesAt, path }: ProjectionPosition): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, member] of Object.entries(desired)) {
    const found = Object.hasOwn(live, key) ? live[key] : undefined;
    if (member === undefined || found === undefined) continue;
    entries.push([key, partOf(member, found, { rulesAt, path: [...path, key] })]);
  }
  return Object.fromEntries(entries);
}

function partOfList(desired: readonly Json[], live: readonly Json[], position: ProjectionPosition): Json {
  const rules = position.rulesAt(position.path);
  if (rules?.listType === 'set') return desired.filter((element) => live.some((other) => equalJson(element, other)));
  const keys = keysOfApply(rules);
  if (keys === undefined) return live;
  return desired.flatMap((item) => {
    const found = live.find((other) => isSameItem(item, other, keys));
    return found === undefined ? [] : [partOf(item, found, position)];
  });
}
