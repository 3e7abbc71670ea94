import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';
import type { ImportNote } from './import-result.ts';
import type { Proposal, ProposedDocument, Translation } from './importer.ts';

/** The Propagation for one resource, or why its system would refuse the resource. */
export type ProposalOutcome =
  | { readonly result: 'proposed'; readonly proposal: Proposal }
  | { readonly result: 'refused'; readonly note: ImportNote };

/** The translation of one resource. */
export interface ProposalTask {
  readonly document: ObjectDocument;
  /** Makes the Propagation. Yields after each cluster whose overrides patch the whole object, because such a patch takes long. */
  propose(): Steps<ProposalOutcome>;
}

/** Translates resources one by one. A refused resource goes to `unread`, with its note. Yields after each. */
export function* translateEach(tasks: readonly ProposalTask[]): Steps<Translation> {
  const proposals: Proposal[] = [];
  const unread: ProposedDocument[] = [];
  const notes: ImportNote[] = [];
  for (const { document, propose } of tasks) {
    const outcome = yield* propose();
    if (outcome.result === 'proposed') {
      proposals.push(outcome.proposal);
    } else {
      unread.push({ document, role: 'TEMPLATE' });
      notes.push(outcome.note);
    }
    yield;
  }
  return { proposals, unread, notes };
}
