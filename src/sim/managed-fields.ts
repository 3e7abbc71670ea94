import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** Who wrote an object, in which version of its kind, and when. */
export interface FieldManager {
  readonly manager: string;
  readonly apiVersion: string;
  readonly time: string;
}

/** Beyond it a field is told as one, as Kubernetes does with what no schema describes. */
const maxDepth = 24;
const ownedMetadata = ['annotations', 'finalizers', 'labels', 'ownerReferences'];

/**
 * `metadata.managedFields` as an API server would track them: one entry for the object, one for its status. Their size is a real one, their
 * content is not exact: lists are merged by the keys that are usual in Kubernetes, whatever the schema says.
 */
export function managedFieldsOf(object: JsonObject, { manager, apiVersion, time }: FieldManager): JsonObject[] {
  const { status, metadata, kind: _kind, apiVersion: _apiVersion, ...body } = object;
  const owned = isJsonObject(metadata)
    ? Object.fromEntries(ownedMetadata.filter((key) => key in metadata).map((key) => [key, metadata[key]]))
    : {};
  const fields = { ...(Object.keys(owned).length > 0 ? { 'f:metadata': fieldsOf(owned, 0) } : {}), ...fieldsOf(body, 0) };
  const entry = { manager, operation: 'Update', apiVersion, time, fieldsType: 'FieldsV1', fieldsV1: fields };
  if (status === undefined) return [entry];
  return [
    entry,
    { ...entry, manager: `${manager}-status`, fieldsV1: { 'f:status': { '.': {}, ...fieldsOf(status, 0) } }, subresource: 'status' },
  ];
}

function fieldsOf(value: Json, depth: number): JsonObject {
  if (!isJsonObject(value) || depth > maxDepth) return {};
  const entries = Object.keys(value).sort();
  return Object.fromEntries(entries.map((key) => [`f:${key}`, fieldOf(value[key], depth + 1)]));
}

function fieldOf(value: Json | undefined, depth: number): JsonObject {
  if (isJsonObject(value)) return Object.keys(value).length === 0 ? {} : { '.': {}, ...fieldsOf(value, depth) };
  if (!Array.isArray(value) || value.length === 0) return {};
  const keyed = value.map((item: Json) => [keyOfItem(item), item] as const);
  if (keyed.some(([key]) => key === undefined)) return {};
  return { '.': {}, ...Object.fromEntries(keyed.map(([key, item]) => [`k:${key}`, { '.': {}, ...fieldsOf(item, depth) }])) };
}

function keyOfItem(item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  for (const key of ['uid', 'containerPort', 'port', 'mountPath', 'name', 'type', 'ip']) {
    if (item[key] !== undefined) return JSON.stringify({ [key]: item[key] });
  }
  return undefined;
}
