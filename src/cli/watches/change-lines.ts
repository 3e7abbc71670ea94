import { type ClusterFault, lineOfFault } from '../client/cluster-faults.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { createTableColumns, type TableColumns, textOfLines } from '../output/table.ts';
import { type ChangeMessage, type StreamedChange, type StreamedItem, StreamedObjects } from './streamed-objects.ts';

export interface ChangeLinesOptions<Item extends StreamedItem> {
  readonly header: readonly string[];
  /** Returns the cells of a change. */
  readonly row: (change: StreamedChange<Item>) => readonly string[];
  /** Returns a text that is equal for equal states of an object. */
  readonly versionOf: (item: Item) => string;
}

/** The header EVENT, as wide as the longest event, so that later lines align. */
export const eventHeader = 'EVENT'.padEnd('MODIFIED'.length);

/** Milliseconds for which the first messages are collected. The states of all clusters are then printed in columns of equal widths. */
const gatherMs = 200;

/** Prints the messages of a stream for people: a line per change, and faults on standard error. */
export class ChangeLines<Item extends StreamedItem> {
  readonly #session: Session;
  readonly #row: ChangeLinesOptions<Item>['row'];
  readonly #columns: TableColumns;
  readonly #held: StreamedObjects<Item>;
  #waiting: (readonly string[])[] = [];
  #gathering: Promise<void> | undefined;
  #isGathered = false;

  constructor(session: Session, { header, row, versionOf }: ChangeLinesOptions<Item>) {
    this.#session = session;
    this.#row = row;
    this.#held = new StreamedObjects(versionOf);
    this.#columns = createTableColumns(header);
  }

  /** Prints a message. Messages of the first 200 ms are printed together. */
  async add(message: ChangeMessage<Item> & { readonly fault: ClusterFault | null }): Promise<void> {
    const { terminal, clock, signal } = this.#session;
    if (message.fault !== null) terminal.err(lineOfFault(message.fault));
    this.#waiting.push(...this.#held.apply(message).map(this.#row));
    if (this.#isGathered) return this.flush();
    this.#gathering ??= clock.sleep(gatherMs, signal).then(() => {
      this.#isGathered = true;
      return this.flush();
    });
  }

  /** Prints all waiting lines. */
  async flush(): Promise<void> {
    const lines = this.#columns.lines(this.#waiting);
    this.#waiting = [];
    if (lines.length > 0) await this.#session.terminal.out(textOfLines(lines));
  }

  /**
   * Keeps the known objects for comparison, because the stream sends its whole state again. Only differences are then printed. Call this
   * when the stream starts from the beginning.
   */
  restart(): void {
    this.#held.restart();
  }
}

/** Prints the messages of a stream as JSON, one per line. A restart is printed as `RESET` messages, as the gateway sends them. */
export class MessageLines {
  readonly #write: (text: string) => Promise<void>;
  /** The clusters and kinds of the printed messages, by their JSON text. */
  readonly #scopes = new Map<string, Pick<ChangeMessage<unknown>, 'cluster' | 'kind'>>();

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  async print(message: ChangeMessage<unknown>): Promise<void> {
    const { cluster, kind } = message;
    const scope = { cluster, ...(kind === undefined ? {} : { kind }) };
    this.#scopes.set(JSON.stringify(scope), scope);
    await this.#write(`${jsonText(message)}\n`);
  }

  /** Prints a `RESET` for each cluster and kind. */
  async restart(): Promise<void> {
    const nothing = { fault: null, added: [], modified: [], deleted: [] };
    for (const scope of this.#scopes.values()) await this.#write(`${JSON.stringify({ type: 'RESET', ...scope, ...nothing })}\n`);
  }
}
