import { sha256Of } from '../../../core/json/canonical-json.ts';
import { equalJson } from '../../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { withoutMembers } from '../../../manifests/json-edits.ts';
import { isSameItem, keysOfApply, type ListRulesAt } from '../../../manifests/merge-patch.ts';

/**
 * The part of a live object that stands where `desired` sets something: what the server made of the fields we sent, whatever it filled in beside them. So
 * a copy has drifted if this part differs from that of the server's answer to our write; it is never compared with `desired` itself, as the server
 * writes quantities, defaults and times in its own way.
 *
 * A map is followed member by member; a list with keys by its items of equal keys, in the order of `desired`; a set by its elements; any other list is
 * one value, with all that is in it. What is not there any more is left out. apiVersion and kind are: items of lists have none. Both objects must be of
 * one version of the kind, else the shapes differ.
 *
 * Nothing is changed in place; parts of the live object are shared.
 */
export function projectOnto(desired: JsonObject, live: JsonObject, rulesAt: ListRulesAt): JsonObject {
  return projectMap(withoutMembers(desired, ['apiVersion', 'kind']), live, { rulesAt, path: [] });
}

/** SHA-256 of `projectOnto`: equal as long as nobody changed what we sent. */
export function sentHashOf(desired: JsonObject, live: JsonObject, rulesAt: ListRulesAt): string {
  return sha256Of(projectOnto(desired, live, rulesAt));
}

interface Projecting {
  readonly rulesAt: ListRulesAt;
  /** Keys from the root, steps through lists left out. */
  readonly path: readonly string[];
}

function project(desired: Json, live: Json, projecting: Projecting): Json {
  if (isJsonObject(desired) && isJsonObject(live)) return projectMap(desired, live, projecting);
  return Array.isArray(desired) && Array.isArray(live) ? projectList(desired, live, projecting) : live;
}

function projectMap(desired: JsonObject, live: JsonObject, { rulesAt, path }: Projecting): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, member] of Object.entries(desired)) {
    const found = Object.hasOwn(live, key) ? live[key] : undefined;
    if (member === undefined || found === undefined) continue;
    entries.push([key, project(member, found, { rulesAt, path: [...path, key] })]);
  }
  return Object.fromEntries(entries);
}

function projectList(desired: readonly Json[], live: readonly Json[], projecting: Projecting): Json {
  const rules = projecting.rulesAt(projecting.path);
  if (rules?.listType === 'set') return desired.filter((element) => live.some((other) => equalJson(element, other)));
  const keys = keysOfApply(rules);
  if (keys === undefined) return live;
  return desired.flatMap((item) => {
    const found = live.find((other) => isSameItem(item, other, keys));
    return found === undefined ? [] : [project(item, found, projecting)];
  });
}
