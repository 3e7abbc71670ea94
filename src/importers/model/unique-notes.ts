import type { ImportNote } from './import-result.ts';

/** Collects the notes of one Propagation. A note that is already there is not added again. */
export class UniqueNotes {
  readonly #notes = new Map<string, ImportNote>();

  /** The notes in the order in which they came. */
  get all(): readonly ImportNote[] {
    return [...this.#notes.values()];
  }

  readonly tell = (note: ImportNote): void => {
    const key = `${note.code} ${note.path ?? ''} ${note.message}`;
    if (!this.#notes.has(key)) this.#notes.set(key, note);
  };

  add(notes: readonly ImportNote[]): void {
    notes.forEach(this.tell);
  }
}
