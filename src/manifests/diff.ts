import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { withKeysInOrder } from '../core/json/canonical-json.ts';
import { equalJson } from '../core/json/json-values.ts';
import { printYaml } from '../core/json/print-yaml.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { redact } from '../core/redaction.ts';
import { portableOf, withoutServerFields } from './portable-object.ts';

/** An object before and after a change. Undefined: the object does not exist at that time. */
interface ComparedObjects {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  /** True for a Secret, or a kind that is protected like one. Then the diff has keys and whether they change, but no values. */
  readonly isSensitive: boolean;
}

/** The number of unchanged lines around a change. */
const context = 3;

/**
 * The maximum number of edits of a minimal diff, which takes quadratic time. Beyond it, the diff removes all lines and adds all new ones.
 */
const maxEditLength = 2_000;

/**
 * Returns the changes as a unified diff of YAML, without the fields that a server fills in. Undefined if nothing changes.
 */
export function diffOf({ before, after, isSensitive }: ComparedObjects): string | undefined {
  // For a change of an existing object, both sides have the fields that a server sets for this kind, so the diff does not show them. It is
  // then enough to remove the server fields that all kinds have.
  const clean = before === undefined || after === undefined ? (object: JsonObject) => portableOf(object) : withoutServerFields;
  const [old, next] = [before, after].map((object) => (object === undefined ? undefined : clean(object)));
  if (equalJson(old, next)) return undefined;
  const [oldText, nextText] = isSensitive
    ? [textOf(withoutValues(old, next, 'before')), textOf(withoutValues(next, old, 'after'))]
    : [textOf(old), textOf(next)];
  return unified(oldText, nextText);
}

function unified(oldText: string, nextText: string): string {
  const header = ['live', 'planned', oldText, nextText, undefined, undefined] as const;
  return createTwoFilesPatch(...header, { context, headerOptions: FILE_HEADERS_ONLY, maxEditLength }) ?? wholeDiff(oldText, nextText);
}

function wholeDiff(oldText: string, nextText: string): string {
  const lines = (text: string, sign: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => `${sign}${line}\n`);
  const [gone, come] = [lines(oldText, '-'), lines(nextText, '+')];
  return `--- live\n+++ planned\n@@ -1,${gone.length} +1,${come.length} @@\n${gone.join('')}${come.join('')}`;
}

function textOf(object: JsonObject | undefined): string {
  return object === undefined ? '' : printYaml(inOrder(object));
}

/** Sorts the keys of all maps, because servers and manifests order them differently. apiVersion, kind and metadata come first. */
function inOrder(object: JsonObject): JsonObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return Object.fromEntries(
    [...Object.entries({ apiVersion, kind, metadata }), ...Object.entries(rest)].map(([key, value]) => [
      key,
      value === undefined ? undefined : withKeysInOrder(value),
    ]),
  );
}

const named = new Set(['apiVersion', 'kind', 'metadata', 'type', 'immutable']);

/**
 * Replaces each value by a text that shows whether the other object has an equal value. Values of the keys in `named` stay. Returns
 * undefined if there is no object.
 */
function withoutValues(object: JsonObject | undefined, other: JsonObject | undefined, side: 'before' | 'after'): JsonObject | undefined {
  if (object === undefined) return undefined;
  const shown = redact(object as KubernetesObject, { sensitive: true, live: true });
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, named.has(key) ? value : placeholderOf(value, { other: other?.[key], side })]),
  );
}

function placeholderOf(
  value: Json | undefined,
  { other, side }: { readonly other: Json | undefined; readonly side: 'before' | 'after' },
): Json {
  if (isJsonObject(value)) {
    const others = isJsonObject(other) ? other : {};
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, placeholderOf(member, { other: others[key], side })]));
  }
  return equalJson(value, other) ? '(not shown)' : side === 'before' ? '(not shown, changes)' : '(not shown, changed)';
}
