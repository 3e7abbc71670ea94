import type { ImportNote } from './import-result.ts';

/** Maximum number of notes of one Propagation, besides the note `MORE_NOTES` that counts all others. */
const maxNotes = 100;

const severities = ['INFO', 'WARNING', 'ERROR'] as const satisfies readonly ImportNote['severity'][];

/**
 * Collects the notes of one Propagation. A note that is already there is not added again. After 100 notes, the others are only counted, and
 * a last note has their number and their highest severity.
 */
export class UniqueNotes {
  readonly #notes = new Map<string, ImportNote>();
  #leftOut = 0;
  #highestLeftOut = 0;

  /** The notes in the order in which they came. */
  get all(): readonly ImportNote[] {
    const notes = [...this.#notes.values()];
    if (this.#leftOut === 0) return notes;
    const message = `${this.#leftOut} more notes are left out: a Propagation has at most ${maxNotes}`;
    return [...notes, { severity: severities[this.#highestLeftOut] ?? 'INFO', code: 'MORE_NOTES', message }];
  }

  readonly add = (note: ImportNote): void => {
    if (this.#notes.size >= maxNotes) {
      // Notes beyond the maximum are not compared: a policy may have thousands of notes for each of its resources.
      this.#leftOut += 1;
      this.#highestLeftOut = Math.max(this.#highestLeftOut, severities.indexOf(note.severity));
      return;
    }
    const key = `${note.code} ${note.path ?? ''} ${note.message}`;
    if (!this.#notes.has(key)) this.#notes.set(key, note);
  };

  addAll(notes: readonly ImportNote[]): void {
    notes.forEach(this.add);
  }
}

/**
 * Returns the notes of one Propagation as `UniqueNotes` collects them. A list of at most 101 notes is returned unchanged, because it may be
 * such a result.
 */
export function boundedNotes(notes: readonly ImportNote[]): readonly ImportNote[] {
  if (notes.length <= maxNotes + 1) return notes;
  const bounded = new UniqueNotes();
  bounded.addAll(notes);
  return bounded.all;
}
