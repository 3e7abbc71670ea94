import { invariant } from '../core/errors.ts';
import { keyOfKind } from '../core/kinds.ts';
import { compareText } from '../core/text.ts';
import { joinObjects, joinTexts } from './join-shapes.ts';
import type { KindSource } from './model.ts';
import { printPath } from './path-text.ts';
import type { KindSchema } from './shapes.ts';

/** The sources of kinds, in the order of their precedence. */
const sources: readonly KindSource[] = ['BUILT_IN', 'CUSTOM', 'AGGREGATED'];

/**
 * Joins one kind as two clusters or two versions define it: see `joinShapes`. Commutative, associative and idempotent. A place whose types have
 * nothing in common is listed in `conflicts`. If one such place contains another, only the outer one is listed.
 */
export function joinKindSchemas(a: KindSchema, b: KindSchema): KindSchema {
  if (a === b) return a;
  invariant(keyOfKind(a) === keyOfKind(b), `${keyOfKind(a)} cannot be joined with ${keyOfKind(b)}`);
  const found: string[] = [];
  const shape = joinObjects(a.shape, b.shape, { path: [], conflict: (path) => found.push(printPath(path)) });
  const description = joinTexts(a.description, b.description);
  const plural = joinTexts(a.plural, b.plural) ?? a.plural;
  const singular = joinTexts(a.singular, b.singular) ?? a.singular;
  // The plural and singular that were not chosen become short names, so that they still find the kind.
  const otherNames = [a.plural, b.plural]
    .filter((name) => name !== plural)
    .concat([a.singular, b.singular].filter((name) => name !== singular));
  return {
    group: a.group,
    kind: a.kind,
    versions: union(a.versions, b.versions),
    plural,
    singular,
    shortNames: union([...a.shortNames, ...otherNames], b.shortNames),
    categories: union(a.categories, b.categories),
    namespaced: a.namespaced || b.namespaced,
    source: sources.find((source) => source === a.source || source === b.source) ?? a.source,
    ...(description === undefined ? {} : { description }),
    shape,
    conflicts: uppermost([...a.conflicts, ...b.conflicts, ...found]),
  };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort(compareText);
}

function uppermost(paths: readonly string[]): readonly string[] {
  const all = union(paths, []);
  return all.filter((path) => !all.some((other) => path.startsWith(`${other}.`) || path.startsWith(`${other}[`)));
}
