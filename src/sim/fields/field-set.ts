import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { compareText } from '../../core/text.ts';

/**
 * A set of fields: a tree whose branches are path elements as `fieldsV1` spells them (`f:spec`, `k:{"name":"web"}`, `v:"a"`). A field is in
 * the set if its node is a member; that one below it is, says nothing of it. Nobody changes one.
 */
export interface FieldSet {
  readonly isMember: boolean;
  readonly below: ReadonlyMap<string, FieldSet>;
}

/** A field by the elements that lead to it. */
export type FieldPath = readonly string[];

export const emptyFieldSet: FieldSet = { isMember: false, below: new Map() };

/** How a member of an object is spelled. */
export function fieldElement(key: string): string {
  return `f:${key}`;
}

export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.below.size === 0;
}

/** The set with exactly these fields. */
export function fieldSetFrom(paths: Iterable<FieldPath>): FieldSet {
  const root = growing();
  for (const path of paths) {
    let node = root;
    for (const element of path) {
      const next = node.below.get(element) ?? growing();
      node.below.set(element, next);
      node = next;
    }
    node.isMember = true;
  }
  return root;
}

/** What is in either. */
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

/** What is in both. */
export function intersectionOf(left: FieldSet, right: FieldSet): FieldSet {
  const both = [...left.below].map(
    ([element, node]) => [element, intersectionOf(node, right.below.get(element) ?? emptyFieldSet)] as const,
  );
  return withBelow(left.isMember && right.isMember, both);
}

/** What is in the first and not in the second. */
export function differenceOf(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(right)) return left;
  const kept = [...left.below].map(([element, node]) => [element, differenceOf(node, right.below.get(element) ?? emptyFieldSet)] as const);
  return withBelow(left.isMember && !right.isMember, kept);
}

/** What is in the first, and neither in the second nor below a field of it. */
export function outsideOf(left: FieldSet, right: FieldSet): FieldSet {
  if (right.isMember) return emptyFieldSet;
  if (right.below.size === 0) return left;
  const kept = [...left.below].map(([element, node]) => [element, outsideOf(node, right.below.get(element) ?? emptyFieldSet)] as const);
  return withBelow(left.isMember, kept);
}

export function isSameSet(left: FieldSet, right: FieldSet): boolean {
  return isEmptySet(differenceOf(left, right)) && isEmptySet(differenceOf(right, left));
}

/** The paths in the order in which an API server tells conflicts: of each object first its own fields, then those deeper down. */
export function pathsOf(set: FieldSet): readonly FieldPath[] {
  const elements = [...set.below].sort(([left], [right]) => compareText(left, right));
  const here = elements.filter(([, node]) => node.isMember).map(([element]) => [element]);
  return [...here, ...elements.flatMap(([element, node]) => pathsOf(node).map((path) => [element, ...path]))];
}

/** As messages spell a path: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(path: FieldPath): string {
  return path.map(spelledElement).join('');
}

/** The set that `fieldsV1` says, or undefined if it is none. */
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

/** The set as `fieldsV1` says it. */
export function printFieldSet({ isMember, below }: FieldSet): JsonObject {
  const printed: Record<string, JsonObject> = isMember && below.size > 0 ? { '.': {} } : {};
  for (const element of [...below.keys()].sort()) {
    const node = below.get(element);
    if (node !== undefined) printed[element] = node.below.size === 0 ? {} : printFieldSet(node);
  }
  return printed;
}

interface Growing {
  isMember: boolean;
  readonly below: Map<string, Growing>;
}

function growing(): Growing {
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
