import { MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { Model, ModelKind } from '../model.ts';
import { findPath, isMisfit, type MeantPath, type ModelPath, type PathMisfit } from './paths.ts';

/** Returns a lookup of paths in one kind, which walks each path once. It is made for one request, which bounds its cache. */
export function createPathFinder(model: Model, kind: ModelKind): (text: string) => ModelPath | PathMisfit {
  const known = new Map<string, ModelPath | PathMisfit>();
  return (text) => {
    const found = known.get(text) ?? findPath(model, kind, text);
    known.set(text, found);
    return found;
  };
}

/** A kind that does not have the requested path, and the reason. */
export interface KindMisfit {
  readonly kind: ModelKind;
  readonly misfit: PathMisfit;
}

/** The kinds in which a path is looked up. */
export interface PathKinds {
  readonly model: Model;
  readonly kinds: readonly ModelKind[];
}

/**
 * Looks up a path in each kind and converts it with `use`. Returns the results by `keyOfKind`, with at least one entry unless there are no kinds.
 *
 * @param use Converts the path, or returns the reason why it cannot be used.
 * @throws {MusterError} `BAD_INPUT` if no kind has a usable path. The message of a kind that has the path is preferred.
 */
export function findInKinds<T extends object>(
  { model, kinds }: PathKinds,
  text: string,
  use: (path: ModelPath) => T | MusterError,
): ReadonlyMap<string, T> {
  const made = new Map<string, T>();
  const misfits: KindMisfit[] = [];
  let unusable: MusterError | undefined;
  for (const kind of kinds) {
    const found = findPath(model, kind, text);
    const used = isMisfit(found) ? undefined : use(found);
    if (isMisfit(found)) misfits.push({ kind, misfit: found });
    else if (used instanceof MusterError) unusable ??= used;
    else if (used !== undefined) made.set(keyOfKind(kind), used);
  }
  if (kinds.length > 0 && made.size === 0) throw unusable ?? noKindHasPath(text, misfits);
  return made;
}

const maxNamedKinds = 3;

/**
 * Creates the `BAD_INPUT` for a path that no kind has. It suggests the path that shares most segments with the text, then the most similar one.
 * The message names the kinds of the suggestion unless all kinds have it.
 */
export function noKindHasPath(text: string, misfits: readonly KindMisfit[]): MusterError {
  const [only] = misfits;
  if (only !== undefined && misfits.length === 1) return only.misfit.error();
  const deepestFirst = misfits.toSorted((a, b) => b.misfit.depth - a.misfit.depth);
  const meant = nearestOf(deepestFirst);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new MusterError('BAD_INPUT', `no field ${text.slice(0, 200)} in any of the ${misfits.length} requested kinds${hint}`);
}

/**
 * Returns a suggestion for the path, or undefined if there is none. The misfits come deepest first. Of the first depth with suggestions,
 * returns the one with the fewest edits.
 */
function nearestOf(misfits: readonly KindMisfit[]): string | undefined {
  for (const [, alike] of Map.groupBy(misfits, ({ misfit }) => misfit.depth)) {
    const meant = alike.flatMap(({ kind, misfit }) => {
      const path = misfit.meant();
      return path === undefined ? [] : [{ kind, path }];
    });
    const best = meant.reduce<MeantPath | undefined>((least, { path }) => (least && least.edits <= path.edits ? least : path), undefined);
    if (best === undefined) continue;
    const kinds = meant.filter(({ path }) => path.path === best.path).map(({ kind }) => kind.kind);
    return kinds.length === misfits.length ? best.path : `${best.path} (${named(kinds)})`;
  }
  return undefined;
}

function named(kinds: readonly string[]): string {
  return [...kinds.slice(0, maxNamedKinds), ...(kinds.length > maxNamedKinds ? ['…'] : [])].join(', ');
}
