import { keptRevisions } from '../hub/revision-store.ts';
import type { PropagationRevision } from '../model/propagation.ts';
import { type PropagationSpec, parseSpec } from '../model/spec.ts';

/** What a breach goes back to. */
export type Before =
  | { readonly result: 'spec'; readonly revision: number; readonly spec: PropagationSpec }
  /** Nothing of ours stood anywhere: all that stands is of the revision itself. */
  | { readonly result: 'nothing' }
  /** `why` holds no values of specs. */
  | { readonly result: 'unknown'; readonly why: string };

/**
 * What stood before that revision, by what is kept of them, the newest first: the newest that was not gone back from. That none is kept says nothing of what
 * stood; neither does an older one where those between are lost. Pure.
 */
export function beforeOf(kept: readonly PropagationRevision[], revision: number): Before {
  const own = kept.find((one) => one.revision === revision);
  const before = kept.find((one) => one.revision < revision && !one.isTakenBack);
  if (before === undefined && own?.isFromNothing === true) return { result: 'nothing' };
  if (before === undefined) return { result: 'unknown', why: `no revision before ${revision} is kept that was not gone back from` };
  const between = kept.filter((one) => one.revision > before.revision && one.revision < revision);
  // What is older than the last ten was dropped, and was gone back from.
  if (between.length < Math.min(revision - before.revision - 1, keptRevisions - 1))
    return { result: 'unknown', why: `not all revisions from ${before.revision} to ${revision} are kept` };
  const spec = parseSpec(before.document);
  if (!('problems' in spec)) return { result: 'spec', revision: before.revision, spec };
  const paths = spec.problems.map(({ path }) => path).join(', ');
  return { result: 'unknown', why: `revision ${before.revision} is no spec that can be read: ${paths}` };
}
