import type { RenderedObject } from '../plan.ts';
import type { CopiesOutcome, CopyWork } from './copies.ts';
import { writeCopies } from './write-copies.ts';

/**
 * Writes what is wanted in one cluster, in the order of kinds: creates, updates, adopts, as `spec.conflict` says. What goes (`DELETE`, `RELEASE`) is passed
 * over. One that fails stops no other; at most one call for a copy that is new, none for one that is as it was written. Drift is not looked for.
 *
 * A copy whose inventory entry has its uid and that is gone is made again, but for a Job that was seen finished.
 */
export function applyCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const wanted = objects.filter(({ action }) => action !== 'DELETE' && action !== 'RELEASE');
  return writeCopies(work, { objects: wanted, purpose: 'apply' }, signal);
}
