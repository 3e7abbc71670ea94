import type { SubjectKey } from './subjects.ts';

/** Maximum number of subjects whose last change is remembered one by one. */
const maxSubjects = 20_000;

/**
 * Counts the changes of rights in one cluster. A decision that was made at a version holds until a later change touches one of its subjects.
 *
 * If changes have touched more than 20,000 subjects, the next change counts as one for all subjects.
 */
export class SubjectEpochs {
  #version = 1;
  /** The version of the last change that touched all subjects. */
  #all = 1;
  readonly #changed = new Map<SubjectKey, number>();

  /** The version now. It grows with each change. */
  get version(): number {
    return this.#version;
  }

  /** Records a change of the rights of these subjects. */
  bump(subjects: Iterable<SubjectKey> | 'all'): void {
    this.#version += 1;
    if (subjects === 'all' || this.#changed.size > maxSubjects) {
      this.#all = this.#version;
      this.#changed.clear();
    } else for (const subject of subjects) this.#changed.set(subject, this.#version);
  }

  /** True if no change after this version has touched one of these subjects. */
  holdsSince(version: number, subjects: readonly SubjectKey[]): boolean {
    if (version === this.#version) return true;
    return this.#all <= version && subjects.every((subject) => (this.#changed.get(subject) ?? 0) <= version);
  }
}
