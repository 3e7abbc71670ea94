import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { parsePointer } from '../../manifests/json-pointer.ts';
import type { LocatedPatchOperation } from '../api-versions/converted-patch.ts';
import { convertAction } from './convert-action.ts';

/** The actions for one cluster. `at` is the path in the input. */
export interface Customization {
  readonly cluster: string;
  readonly at: string;
  readonly operations: readonly LocatedPatchOperation[];
}

/** The customizations, or the first problem for which every API server would refuse the patch. `path` is the path in the input. */
export type CustomizationsRead =
  | { readonly result: 'read'; readonly customizations: readonly Customization[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

/** Reads `spec.customize` of a MultiClusterResource. `path` is the path of `customize` in the input. */
export function readCustomizations(customize: Json | undefined, path: string): CustomizationsRead {
  try {
    if (customize !== undefined && customize !== null && !isJsonObject(customize))
      throw new RefusedCustomization(path, 'expected an object');
    const customizations = itemsIn(valueAt(customize, 'clusters'), `${path}.clusters`).map(({ value, at }) => ({
      cluster: nameIn(value, at),
      at,
      operations: itemsIn(value.action, `${at}.action`).map((action) => ({ operation: operationOf(action), at: action.at })),
    }));
    return { result: 'read', customizations };
  } catch (error) {
    if (error instanceof RefusedCustomization) return { result: 'refused', path: error.path, message: error.message };
    throw error;
  }
}

class RefusedCustomization extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

interface Item {
  readonly value: JsonObject;
  readonly at: string;
}

function itemsIn(list: Json | undefined, path: string): readonly Item[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw new RefusedCustomization(path, 'expected a list');
  return list.map((value: Json, index) => {
    if (!isJsonObject(value)) throw new RefusedCustomization(`${path}[${index}]`, 'expected an object');
    return { value, at: `${path}[${index}]` };
  });
}

function nameIn({ name }: JsonObject, at: string): string {
  if (name === undefined || name === null) return '';
  if (typeof name !== 'string') throw new RefusedCustomization(`${at}.name`, 'expected a text');
  return name;
}

const operations: readonly string[] = ['add', 'remove', 'replace', 'test'];

function operationOf({ value: action, at }: Item): JsonPatchOperation {
  const [path, op, value = null] = [textAt(action, 'path') ?? '', textAt(action, 'op'), action.value];
  if (path === '' || parsePointer(path) === undefined) {
    throw new RefusedCustomization(`${at}.path`, `expected a JSON pointer such as /spec/replicas, got ${JSON.stringify(path)}`);
  }
  if (op === undefined || !operations.includes(op)) {
    const got = op === undefined ? 'none' : JSON.stringify(op);
    throw new RefusedCustomization(`${at}.op`, `expected one of ${operations.join(', ')}, got ${got}`);
  }
  if (value !== null && !Array.isArray(value)) throw new RefusedCustomization(`${at}.value`, 'expected a list of values');
  const { jsonPatchOperation: converted } = convertAction({ action: { path, op, value } });
  // The operation was checked above.
  return { op: op as JsonPatchOperation['op'], path, ...(converted.value === undefined ? {} : { value: converted.value }) };
}
