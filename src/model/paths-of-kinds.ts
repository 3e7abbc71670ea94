import { MusterError } from '../core/errors.ts';
import type { Model, ModelKind } from './model.ts';
import { findPath, type MeantPath, type ModelPath, type PathMisfit } from './paths.ts';

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
