import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { compareText } from '../../core/text.ts';

/**
 * An immutable set of fields, as a tree of `fieldsV1` path elements (`f:spec`, `k:{"name":"web"}`, `v:"a"`). A field is in the set if its
 * node has `isMember`. A member does not make the fields below it members.
 */
export interface FieldSet {
  readonly isMember: boolean;
  readonly below: ReadonlyMap<string, FieldSet>;
}

/** The path elements that lead to a field. */
export type FieldPath = readonly string[];

export const emptyFieldSet: FieldSet = { isMember: false, below: new Map() };

/** Returns the path element of an object member. */
export function fieldElement(key: string): string {
  return `f:${key}`;
}

export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.below.size === 0;
}

/** Returns the set of exactly these fields. */
export function fieldSetFrom(paths: Iterable<FieldPath>): FieldSet {
  const root = newNode();
  for (const path of paths) {
    let node = root;
    for (const element of path) {
      const next = node.below.get(element) ?? newNode();
      node.below.set(element, next);
      node = next;
    }
    node.isMember = true;
  }
  return root;
}

/** Returns the fields that are in either set. */
export function unionOf(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(right)) return left;
  if (isEmptySet(left)) return right;
  const below = new Map(left.below);
  for (const [element, node] of right.below) {
    const other = below.get(element);
    below.set(element, other === undefined ? node : unionOf(other, node));
  }
  return { isMember: left.isMember || right.isMember, below };
}

/** Returns the fields that are in both sets. */
export function intersectionOf(left: FieldSet, right: FieldSet): FieldSet {
  const both = [...left.below].map(
    ([element, node]) => [element, intersectionOf(node, right.below.get(element) ?? emptyFieldSet)] as const,
  );
  return withBelow(left.isMember && right.isMember, both);
}

/** Returns the fields that are in the first set but not in the second. */
export function differenceOf(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(right)) return left;
  const kept = [...left.below].map(([element, node]) => [element, differenceOf(node, right.below.get(element) ?? emptyFieldSet)] as const);
  return withBelow(left.isMember && !right.isMember, kept);
}

/** Returns the fields of the first set that are neither in the second set nor below one of its fields. */
export function outsideOf(left: FieldSet, right: FieldSet): FieldSet {
  if (right.isMember) return emptyFieldSet;
  if (right.below.size === 0) return left;
  const kept = [...left.below].map(([element, node]) => [element, outsideOf(node, right.below.get(element) ?? emptyFieldSet)] as const);
  return withBelow(left.isMember, kept);
}

export function isSameSet(left: FieldSet, right: FieldSet): boolean {
  return isEmptySet(differenceOf(left, right)) && isEmptySet(differenceOf(right, left));
}

/** Returns the paths in the order in which an API server reports conflicts: fields of an object first, then deeper fields. */
export function pathsOf(set: FieldSet): readonly FieldPath[] {
  const elements = [...set.below].sort(([left], [right]) => compareText(left, right));
  const here = elements.filter(([, node]) => node.isMember).map(([element]) => [element]);
  return [...here, ...elements.flatMap(([element, node]) => pathsOf(node).map((path) => [element, ...path]))];
}

/** Returns a path as messages write it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(path: FieldPath): string {
  return path.map(spelledElement).join('');
}

/** Parses `fieldsV1`. Undefined if the value is invalid. */
export function parseFieldSet(value: Json | undefined): FieldSet | undefined {
  if (!isJsonObject(value)) return undefined;
  const below = new Map<string, FieldSet>();
  for (const [element, child] of Object.entries(value)) {
    if (element === '.') continue;
    const node = /^[fkvi]:/.test(element) ? parseFieldSet(child) : undefined;
    if (node === undefined) return undefined;
    below.set(element, node.below.size === 0 ? { ...node, isMember: true } : node);
  }
  return { isMember: value['.'] !== undefined, below };
}

/** Prints the set as `fieldsV1`. */
export function printFieldSet({ isMember, below }: FieldSet): JsonObject {
  const printed: Record<string, JsonObject> = isMember && below.size > 0 ? { '.': {} } : {};
  for (const element of [...below.keys()].sort()) {
    const node = below.get(element);
    if (node !== undefined) printed[element] = node.below.size === 0 ? {} : printFieldSet(node);
  }
  return printed;
}

interface GrowingNode {
  isMember: boolean;
  readonly below: Map<string, GrowingNode>;
}

function newNode(): GrowingNode {
  return { isMember: false, below: new Map() };
}

function withBelow(isMember: boolean, below: readonly (readonly [string, FieldSet])[]): FieldSet {
  return { isMember, below: new Map(below.filter(([, node]) => !isEmptySet(node))) };
}

function spelledElement(element: string): string {
  const [sort, rest] = [element.slice(0, 2), element.slice(2)];
  if (sort === 'f:') return `.${rest}`;
  if (sort === 'v:') return `[=${rest}]`;
  if (sort === 'i:') return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as JsonObject);
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}
