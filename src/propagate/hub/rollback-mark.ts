import { marks, type Propagation } from '../model/propagation.ts';
import type { AnnotationChange } from './propagation-store.ts';

/** What is written with a spec that is no older revision's. */
export const clearRollback: AnnotationChange = { [marks.rollback]: null, [marks.rollbackGeneration]: null };

/** What is written with the spec of that revision, over `before`: the mark is of the generation this makes, and of no other. */
export function printRollback(revision: number, { metadata }: Pick<Propagation, 'metadata'>): AnnotationChange {
  return { [marks.rollback]: String(revision), [marks.rollbackGeneration]: String(metadata.generation + 1) };
}

/**
 * The revision that this generation was said to go back to. Undefined where nobody said so of this one: the annotations stay where the spec is changed by
 * others. Older gateways did not tell which generation they meant: then it may be any.
 */
export function rollbackOf({ metadata: { annotations, generation } }: Pick<Propagation, 'metadata'>): number | undefined {
  const revision = Number(annotations[marks.rollback] ?? Number.NaN);
  const meant = annotations[marks.rollbackGeneration];
  return Number.isNaN(revision) || (meant !== undefined && meant !== String(generation)) ? undefined : revision;
}
