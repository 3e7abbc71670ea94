import type { Json } from '../../core/json.ts';
import { parsePath } from '../../model/path-text.ts';
import { request } from '../gateway/graphql.ts';
import { valueAtPath } from './path-values.ts';

/** A path that was found in the schema. */
export interface SelectedPath {
  readonly path: string;
  /** The GraphQL selection on the type of the kind. */
  readonly fields: string;
  /** Returns the value at the path in an object. A path through a list gives the values of all elements. Undefined if the value is absent. */
  read(item: object): Json | undefined;
}

interface TypeReference {
  readonly name: string | null;
  readonly kind: string;
  readonly ofType?: TypeReference | null;
}

interface TypeFields {
  readonly __type: { readonly fields: readonly { readonly name: string; readonly type: TypeReference }[] | null } | null;
}

const typeQuery = `query ($name: String!) {
  __type(name: $name) { fields { name type { name kind ofType { name kind ofType { name kind ofType { name kind } } } } } }
}`;

/** The fields of types, by name. Kept until the page is reloaded. A reload reads the types of a changed schema. */
const known = new Map<string, Promise<TypeFields>>();

/**
 * Finds a path such as `spec.nodeName` in the fields of a type. Behind a field of JSON or a map, any names may follow.
 *
 * @returns The selection, or the reason why there is none.
 */
export async function selectPath(type: string, path: string): Promise<SelectedPath | { readonly problem: string }> {
  const segments = parsePath(path);
  if (segments === undefined) return { problem: `expected a path such as spec.nodeName, got ${path}` };
  const chosen: string[] = [];
  let inside: string | undefined = type;
  for (const segment of segments) {
    if (inside === undefined) break;
    const field = await fieldOf(inside, segment);
    if (field === undefined) return { problem: `${inside} has no field ${segment}, in the path ${path}` };
    chosen.push(segment);
    inside = field.isLeaf ? undefined : field.type;
  }
  if (inside !== undefined) return { problem: `${path} is an object: choose one of its fields` };
  const fields = chosen.reduceRight((inner, name) => (inner === '' ? name : `${name} { ${inner} }`), '');
  return { path, fields, read: (item) => valueAtPath(item as unknown as Json, segments) };
}

async function fieldOf(type: string, name: string) {
  const fields = known.get(type) ?? request<TypeFields>(typeQuery, { name: type });
  known.set(type, fields);
  fields.catch(() => known.delete(type));
  const found = (await fields).__type?.fields?.find((field) => field.name === name);
  if (found === undefined) return undefined;
  let named: TypeReference = found.type;
  while (named.ofType !== undefined && named.ofType !== null) named = named.ofType;
  return { type: named.name ?? '', isLeaf: named.kind === 'SCALAR' || named.kind === 'ENUM' };
}
