import { invariant } from '../core/errors.ts';
import { compareText } from '../core/text.ts';
import { type ListRules, type ScalarName, scalarNames } from './model.ts';
import { isJson, json, listOf, type ObjectShape, type Shape, type ShapeField } from './shapes.ts';

/**
 * The scalars directly above each scalar in the partial order of joins. `JSON` is above all of them. The joins are computed from this
 * order, because a written table of pairs might not be associative: the join of DateTime, String and Int could depend on their order.
 */
const directlyAbove: Readonly<Partial<Record<ScalarName, readonly ScalarName[]>>> = {
  DateTime: ['String'],
  Bytes: ['String'],
  Quantity: ['IntOrString'],
  Duration: ['String'],
  String: ['IntOrString'],
  Int: ['Int64'],
  Int64: ['IntOrString', 'Float'],
};

const joinedScalars = tableOfJoins();

/**
 * Returns the most exact shape that describes every value of both shapes. Commutative, associative and idempotent, so the order of clusters
 * does not matter.
 *
 * Objects keep the fields of both. Shapes that have nothing in common, such as two different named types, become `JSON`. `conflict` is
 * called with the path from the root to each place where the join is `JSON` although one side was not. It is not called for places below
 * another such place.
 */
export function joinShapes(a: Shape, b: Shape, at: JoinPlace): Shape {
  if (a === b) return a;
  if ('fields' in a && 'fields' in b) return joinObjects(a, b, at);
  if ('list' in a && 'list' in b) return joinLists(a, b, at);
  const joined = joinNamed(a, b);
  if (isJson(joined) && !(isJson(a) && isJson(b))) at.conflict(at.path);
  return joined;
}

/** The place in the tree at which two shapes are joined, and the callback for conflicts. */
export interface JoinPlace {
  /** The keys from the root to this place. The array grows and shrinks while deeper places are joined. */
  readonly path: string[];
  /** Called with `path`. The callee must copy it, because it changes later. */
  conflict(path: readonly string[]): void;
}

/** Returns the fields of both objects, joined where both have one. Returns `a` itself if `b` adds nothing. */
export function joinObjects(a: ObjectShape, b: ObjectShape, at: JoinPlace): ObjectShape {
  if (a === b) return a;
  const fields: ShapeField[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [left, right] = [a.fields[i], b.fields[j]];
    if (left === undefined && right === undefined) break;
    const order = left === undefined ? 1 : right === undefined ? -1 : compareText(left.key, right.key);
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (order < 0 && left !== undefined) fields.push(left);
    else if (order > 0 && right !== undefined) fields.push(right);
    else if (left !== undefined && right !== undefined) fields.push(joinFields(left, right, at));
  }
  return fields.length === a.fields.length && fields.every((field, index) => field === a.fields[index]) ? a : { fields };
}

/** Returns the longer text, or the first by code units if both are equally long. If one is undefined, returns the other. */
export function joinTexts(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.length !== b.length) return a.length > b.length ? a : b;
  return a <= b ? a : b;
}

function joinFields(a: ShapeField, b: ShapeField, at: JoinPlace): ShapeField {
  at.path.push(a.key);
  const shape = joinShapes(a.shape, b.shape, at);
  at.path.pop();
  const rules = joinRules(a, b);
  const description = joinTexts(a.description, b.description);
  const deprecated = joinTexts(a.deprecated, b.deprecated);
  const same = rules.listType === a.listType && rules.listMapKeys === a.listMapKeys && rules.patchMergeKey === a.patchMergeKey;
  if (shape === a.shape && same && description === a.description && deprecated === a.deprecated) return a;
  return {
    key: a.key,
    shape,
    ...rules,
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

/**
 * Joins the rules for merging a list. If only one side has a rule, that rule counts. Two different rules become `atomic`, because replacing
 * the whole list is correct in all clusters.
 */
function joinRules(a: ListRules, b: ListRules): ListRules {
  const mergeKey = joinTexts(a.patchMergeKey, b.patchMergeKey);
  return { ...joinListTypes(a, b), ...(mergeKey === undefined ? {} : { patchMergeKey: mergeKey }) };
}

function joinListTypes(a: ListRules, b: ListRules): ListRules {
  const typed = [a, b].filter(({ listType }) => listType !== undefined);
  const [first, second = first] = typed;
  if (first?.listType === undefined || second === undefined) return {};
  if (first.listType !== second.listType || !sameTexts(first.listMapKeys, second.listMapKeys)) return { listType: 'atomic' };
  return { listType: first.listType, ...(first.listMapKeys === undefined ? {} : { listMapKeys: first.listMapKeys }) };
}

function sameTexts(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function joinLists(a: { readonly list: Shape }, b: { readonly list: Shape }, at: JoinPlace): Shape {
  const item = joinShapes(a.list, b.list, at);
  return item === a.list ? a : listOf(item);
}

function joinNamed(a: Shape, b: Shape): Shape {
  if ('type' in a && 'type' in b) return a.type === b.type ? a : json;
  if (!('scalar' in a && 'scalar' in b)) return json;
  const joined = joinedScalars.get(a.scalar)?.get(b.scalar);
  invariant(joined !== undefined, `no join of ${a.scalar} and ${b.scalar}`);
  return joined === a.scalar ? a : { scalar: joined };
}

function tableOfJoins(): ReadonlyMap<ScalarName, ReadonlyMap<ScalarName, ScalarName>> {
  const above = new Map(scalarNames.map((name) => [name, selfAndAbove(name)]));
  return new Map(scalarNames.map((a) => [a, new Map(scalarNames.map((b) => [b, leastCommon(above, a, b)]))]));
}

function selfAndAbove(name: ScalarName): ReadonlySet<ScalarName> {
  const above = (directlyAbove[name] ?? []).flatMap((upper) => [...selfAndAbove(upper)]);
  return new Set<ScalarName>([name, ...above, 'JSON']);
}

/** Returns the least scalar that is above both: every other scalar above both is also above this one. */
function leastCommon(above: ReadonlyMap<ScalarName, ReadonlySet<ScalarName>>, a: ScalarName, b: ScalarName): ScalarName {
  const common = scalarNames.filter((name) => above.get(a)?.has(name) && above.get(b)?.has(name));
  const least = common.find((name) => common.every((other) => above.get(name)?.has(other)));
  invariant(least !== undefined, `the scalars ${a} and ${b} have no least upper bound`);
  return least;
}
