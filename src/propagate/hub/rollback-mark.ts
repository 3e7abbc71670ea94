import { marks, type Propagation } from '../model/propagation.ts';
import type { AnnotationChange } from './resource-writes.ts';

/** The annotations to write with a new spec: they remove the mark of an earlier rollback. */
export const clearRollback: AnnotationChange = { [marks.rollback]: null, [marks.rollbackGeneration]: null };

/**
 * Returns the annotations to write together with the spec of an older revision: the mark of a rollback. The mark is valid only for the
 * generation that this write creates.
 */
export function printRollback(revision: number, { metadata }: Pick<Propagation, 'metadata'>): AnnotationChange {
  return { [marks.rollback]: String(revision), [marks.rollbackGeneration]: String(metadata.generation + 1) };
}

/**
 * Returns the revision to which the current generation rolls back. Undefined without a mark, or if the mark is for another generation: the
 * annotations stay when another client changes the spec. Gateways of older versions did not record the generation. Their marks count for
 * any generation.
 */
export function rollbackOf({ metadata: { annotations, generation } }: Pick<Propagation, 'metadata'>): number | undefined {
  const revision = Number(annotations[marks.rollback] ?? Number.NaN);
  const meant = annotations[marks.rollbackGeneration];
  return Number.isNaN(revision) || (meant !== undefined && meant !== String(generation)) ? undefined : revision;
}
