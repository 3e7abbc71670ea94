import type { ChangesOf } from './held-objects.ts';
import { jsonText } from './json-text.ts';

/** Prints the messages of a stream for programs: one JSON per line. What begins anew is told by messages `RESET`, as a gateway tells it. */
export class MessageLines {
  readonly #write: (text: string) => Promise<void>;
  /** What each cluster and kind is, as its messages say it. */
  readonly #scopes = new Map<string, Pick<ChangesOf<unknown>, 'cluster' | 'kind'>>();

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  async take(message: ChangesOf<unknown>): Promise<void> {
    const { cluster, kind } = message;
    const scope = { cluster, ...(kind === undefined ? {} : { kind }) };
    this.#scopes.set(JSON.stringify(scope), scope);
    await this.#write(`${jsonText(message)}\n`);
  }

  /** Says of all that was told that it is void. */
  async restart(): Promise<void> {
    const nothing = { fault: null, added: [], modified: [], deleted: [] };
    for (const scope of this.#scopes.values()) await this.#write(`${JSON.stringify({ type: 'RESET', ...scope, ...nothing })}\n`);
  }
}
