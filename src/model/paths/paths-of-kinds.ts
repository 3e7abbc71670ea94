import { MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { Model, ModelKind } from '../model.ts';
import { findPath, isMisfit, type MeantPath, type ModelPath, type PathMisfit } from './paths.ts';

/** Paths in one kind, each walked once however often it is asked for. Made for one request: what it holds is bounded by that alone. */
export function createPathFinder(model: Model, kind: ModelKind): (text: string) => ModelPath | PathMisfit {
  const known = new Map<string, ModelPath | PathMisfit>();
  return (text) => {
    const found = known.get(text) ?? findPath(model, kind, text);
    known.set(text, found);
    return found;
  };
}

/** That a kind has no such path. */
export interface KindMisfit {
  readonly kind: ModelKind;
  readonly misfit: PathMisfit;
}

/** Kinds that a path is asked of together. */
export interface PathKinds {
  readonly model: Model;
  readonly kinds: readonly ModelKind[];
}

/**
 * What is made of a path in each of the kinds that has it, by `keyOfKind`: one at least, unless no kind is asked.
 *
 * @param use What is made of it, or why it cannot be used so.
 * @throws {MusterError} `BAD_INPUT` if it fits none of them. A kind that has the path knows best what is wrong.
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
 * `BAD_INPUT` for a path that none of the kinds asked has. Of what was probably meant in each, the one counts that goes along with what was
 * written for longest, then the nearest; its kinds are named unless all have it.
 */
export function noKindHasPath(text: string, misfits: readonly KindMisfit[]): MusterError {
  const [only] = misfits;
  if (only !== undefined && misfits.length === 1) return only.misfit.error();
  const deepestFirst = misfits.toSorted((a, b) => b.misfit.depth - a.misfit.depth);
  const meant = nearestOf(deepestFirst);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new MusterError('BAD_INPUT', `no field ${text.slice(0, 200)} in any of the ${misfits.length} kinds asked${hint}`);
}

/** Of misfits in this order; what the deepest ones mean is enough, if they mean anything. */
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
