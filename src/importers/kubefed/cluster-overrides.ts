import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { valueAt } from '../../core/json-at.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { parsePointer, standardPatchPath } from '../../manifests/json-pointer.ts';

/** One override as a federated object has it. KubeFed reads no other fields. */
export interface WrittenOverride {
  /** Default: `replace`. */
  readonly op?: string | undefined;
  readonly path: string;
  /** Null and absent have the same meaning. */
  readonly value?: Json | undefined;
}

/** The overrides of one cluster. Each `at` is the path of the item in the object, below `spec`. */
export interface ClusterOverrides {
  readonly cluster: string;
  readonly at: string;
  readonly overrides: readonly (WrittenOverride & { readonly at: string })[];
}

/** The result of reading overrides. KubeFed refuses the whole object for one problem. `path` is below `spec`. */
export type OverridesRead =
  | { readonly result: 'read'; readonly clusters: readonly ClusterOverrides[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

/** The path of the replica count, which a ReplicaSchedulingPreference owns. */
export const replicasPath = '/spec/replicas';

/** The paths that no override may have. */
export const protectedPaths: readonly string[] = ['/metadata/namespace', '/metadata/name', '/metadata/generateName', '/kind'];

/**
 * Reads `spec.overrides` of a federated object as KubeFed's GetOverrides does. Refuses wrong types, a cluster or a path that appears twice,
 * and paths of the name, the namespace and the kind.
 */
export function readClusterOverrides(spec: JsonObject): OverridesRead {
  const clusters: ClusterOverrides[] = [];
  const names = new Set<string>();
  try {
    for (const { value, at } of itemsAt(spec, 'overrides', '')) {
      const cluster = textIn(value, 'clusterName', at) ?? '';
      if (names.has(cluster)) {
        throw new RefusedOverride(`${at}.clusterName`, `expected each cluster once, got ${JSON.stringify(cluster)} again`);
      }
      names.add(cluster);
      clusters.push({ cluster, at, overrides: overridesIn(value, at) });
    }
  } catch (error) {
    if (error instanceof RefusedOverride) return { result: 'refused', path: error.path, message: error.message };
    throw error;
  }
  return { result: 'read', clusters };
}

/** An override as an operation of a JSON patch, or the field for which KubeFed cannot apply it. */
type OverrideOperation =
  | { readonly result: 'read'; readonly operation: JsonPatchOperation }
  | { readonly result: 'refused'; readonly field: 'op' | 'path'; readonly message: string };

const patchOperations: readonly string[] = ['add', 'remove', 'replace', 'test'];

/**
 * Returns an override as an operation with a JSON pointer (RFC 6901), whose path is read as by KubeFed (`standardPatchPath`). Refuses the
 * empty path, because no override can replace the whole object.
 */
export function overrideOperationOf({ op, path, value = null }: WrittenOverride): OverrideOperation {
  const kind = (op ?? '') === '' ? 'replace' : op;
  if (kind === undefined || !patchOperations.includes(kind)) {
    return { result: 'refused', field: 'op', message: `expected one of ${patchOperations.join(', ')}, got ${JSON.stringify(kind)}` };
  }
  const pointer = standardPatchPath(path);
  if (pointer === '' || parsePointer(pointer) === undefined) {
    return { result: 'refused', field: 'path', message: `expected a JSON pointer such as ${replicasPath}, got ${JSON.stringify(path)}` };
  }
  const operation = { op: kind as JsonPatchOperation['op'], path: pointer, ...(kind === 'remove' ? {} : { value }) };
  return { result: 'read', operation };
}

class RefusedOverride extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

function overridesIn(cluster: JsonObject, clusterAt: string): ClusterOverrides['overrides'] {
  const paths = new Set<string>();
  return itemsAt(cluster, 'clusterOverrides', clusterAt).map(({ value, at }) => {
    const path = textIn(value, 'path', at) ?? '';
    if (protectedPaths.includes(path)) {
      throw new RefusedOverride(`${at}.path`, `expected none of the paths ${protectedPaths.join(', ')}, got ${JSON.stringify(path)}`);
    }
    if (paths.has(path))
      throw new RefusedOverride(`${at}.path`, `expected each path once for a cluster, got ${JSON.stringify(path)} again`);
    paths.add(path);
    return { op: textIn(value, 'op', at), path, value: value.value, at };
  });
}

interface Item {
  readonly value: JsonObject;
  readonly at: string;
}

function itemsAt(object: JsonObject, field: string, parent: string): readonly Item[] {
  const at = parent === '' ? field : `${parent}.${field}`;
  const list = object[field] ?? [];
  if (!Array.isArray(list)) throw new RefusedOverride(at, 'expected a list');
  return list.map((value: Json, index) => {
    if (!isJsonObject(value)) throw new RefusedOverride(`${at}[${index}]`, 'expected an object');
    return { value, at: `${at}[${index}]` };
  });
}

/** Returns the text of a member. Undefined if the member is absent or null. Throws if it is no text. */
function textIn(object: JsonObject, field: string, at: string): string | undefined {
  const value = valueAt(object, field) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new RefusedOverride(`${at}.${field}`, 'expected a text');
}
