import { MusterError } from '../../core/errors.ts';
import type { ImportContext, Proposal } from '../model/importer.ts';

/** Maximum number of characters of all Propagations of one import, with their notes. */
const maxCharacters = 64 * 1024 * 1024;

/**
 * Measures the Propagations of one import while they are made. A text of 3 MiB may become gigabytes, because each resource repeats what the
 * policies add to it.
 */
export class ImportSize {
  readonly #remedy: string;
  #characters = 0;

  constructor({ living }: Pick<ImportContext, 'living'>) {
    this.#remedy = living === undefined ? 'import fewer resources at a time' : 'name fewer kinds or namespaces to import';
  }

  /**
   * Adds a Propagation before it is made.
   *
   * @throws {MusterError} `TOO_COSTLY` if all together are larger than an import may be.
   */
  add({ spec, notes }: Proposal): void {
    this.#characters += JSON.stringify([spec, notes]).length;
    if (this.#characters <= maxCharacters) return;
    const expected = `expected Propagations of at most ${maxCharacters / 1024 / 1024} MiB in one import, got more`;
    throw new MusterError(
      'TOO_COSTLY',
      `${expected}: each one has its own copy of what its policies add, such as overrides. Make these smaller, or ${this.#remedy}`,
    );
  }
}
