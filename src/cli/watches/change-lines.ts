import { type ClusterFault, lineOfFault } from '../client/cluster-faults.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { createTableColumns, type TableColumns, textOfLines } from '../output/table.ts';
import { type ChangeMessage, type StreamedChange, type StreamedItem, StreamedObjects } from './streamed-objects.ts';

export interface ChangeLinesOptions<Item extends StreamedItem> {
  readonly header: readonly string[];
  /** The cells of a change. */
  readonly row: (change: StreamedChange<Item>) => readonly string[];
  /** Opaque; equal for the same state of an object. */
  readonly versionOf: (item: Item) => string;
}

/** As wide as the widest of the changes, so that lines that come later line up. */
export const eventHeader = 'EVENT'.padEnd('MODIFIED'.length);

/** The first states of clusters come one after the other, but soon: they are printed together, so that their columns are of one width. */
const gatherMs = 200;

/** Prints the messages of a stream for people: a line per change in columns, faults on standard error. */
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

  /** Takes a message. Those of the first moment are written a moment later. */
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

  /** Writes what was taken. */
  async flush(): Promise<void> {
    const lines = this.#columns.lines(this.#waiting);
    this.#waiting = [];
    if (lines.length > 0) await this.#session.terminal.out(textOfLines(lines));
  }

  /** The stream begins anew. */
  restart(): void {
    this.#held.restart();
  }
}

/** Prints the messages of a stream for programs: one JSON per line. What begins anew is told by messages `RESET`, as a gateway tells it. */
export class MessageLines {
  readonly #write: (text: string) => Promise<void>;
  /** What each cluster and kind is, as its messages say it. */
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

  /** Says of all that was told that it is void. */
  async restart(): Promise<void> {
    const nothing = { fault: null, added: [], modified: [], deleted: [] };
    for (const scope of this.#scopes.values()) await this.#write(`${JSON.stringify({ type: 'RESET', ...scope, ...nothing })}\n`);
  }
}
