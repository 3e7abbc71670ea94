import type { Fault } from '../../core/faults.ts';
import type { OldValues } from '../copies/copies.ts';
import type { SpecDocument } from '../plan.ts';
import type { Propagation, PropagationRevision } from '../propagation.ts';

/** So many revisions are kept (propagation.md 5.5). */
export const keptRevisions = 10;

/** What a generation was, for going back to it. */
export interface NewRevision {
  /** Grows with each generation that was planned; equal for the same one. */
  readonly revision: number;
  readonly digest: string;
  readonly document: SpecDocument;
  readonly requester?: string;
}

export type RevisionWrite = { readonly result: 'written' } | { readonly result: 'failed'; readonly fault: Fault };

/**
 * The ControllerRevisions of Propagations on the hub, owned by them. All is read from the hub itself and written under names that follow from what is
 * written: recording the same twice is once.
 */
export interface RevisionStore {
  /** Keeps it, and drops what is older than the last ten. */
  record(owner: Propagation, revision: NewRevision, signal: AbortSignal): Promise<RevisionWrite>;
  /** The newest first. */
  list(owner: Propagation, signal: AbortSignal): Promise<readonly PropagationRevision[] | { readonly fault: Fault }>;
  /** Keeps beside a revision what adopted and overwritten objects held before. What was kept first of an object stays what is found. */
  recordOldValues(
    owner: Propagation,
    kept: { readonly revision: number; readonly values: readonly OldValues[] },
    signal: AbortSignal,
  ): Promise<RevisionWrite>;
  /** What was kept beside that revision: one for each object. */
  oldValues(owner: Propagation, revision: number, signal: AbortSignal): Promise<readonly OldValues[] | { readonly fault: Fault }>;
}
