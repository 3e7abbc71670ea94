import type { RenderedObject } from '../plan.ts';
import type { CopiesOutcome, CopyWork } from './copies.ts';
import { writeCopies } from './write-copies.ts';

/**
 * Takes back what was ours in copies that drifted (`observedHashOf` is not the entry's): by force, whoever changed it. One that was corrected 5 times in 10 minutes is left
 * until the first of these is past that, as `Contended`, with the manager named. A copy that turns out to be as it was written is left and not counted.
 */
export function correctDrift(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  return writeCopies(work, { objects, purpose: 'correct' }, signal);
}
