import type { Json, JsonObject } from '../../core/json.ts';

// The readers of core/json-at.ts take a path and ask for own keys only, which costs too much where a filter computes a column of every object. These
// take a value that was read by a name which no object inherits.

const nothing: JsonObject = {};
const none: readonly Json[] = [];

/** The object, or an empty one. A raw number has no member that anybody asks for. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : nothing;
}

/** The list, or an empty one. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : none;
}

/** The text, if it is one. */
export function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
