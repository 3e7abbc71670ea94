import type { StartProgress } from './start-view.ts';
import { printable } from './table.ts';

/** How far a start is, in one line: `starting: 2 of 3 clusters, waiting for south (connecting)`. */
export class StartLine {
  readonly #steps = new Map<string, StartProgress['step']>();

  /** The line after this. */
  progressed({ cluster, step }: StartProgress): string {
    if (step === 'duplicate') this.#steps.delete(cluster);
    else this.#steps.set(cluster, step);
    const waiting = [...this.#steps]
      .filter(([, its]) => its === 'connecting' || its === 'listing')
      .map(([name, its]) => `${name} (${its})`);
    const rest = waiting.length === 0 ? '' : `, waiting for ${waiting.join(', ')}`;
    return printable(`starting: ${this.#steps.size - waiting.length} of ${this.#steps.size} clusters${rest}`);
  }
}
