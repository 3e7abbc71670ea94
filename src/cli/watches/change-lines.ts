import { type ChangeMessage, type StreamedChange, type StreamedItem, StreamedObjects } from '../../core/streams/streamed-objects.ts';
import { type ClusterFault, lineOfFault } from '../client/cluster-faults.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { createTableColumns, type TableColumns, type TableColumnsOptions, textOfLines } from '../output/table.ts';

/** The objects of a stream, which turn its messages into changes. */
export type ChangeSource<Item extends StreamedItem> = Pick<StreamedObjects<Item>, 'apply' | 'restart'>;

export interface ChangeLinesOptions<Item extends StreamedItem> extends TableColumnsOptions {
  readonly header: readonly string[];
  /** Returns the cells of a change. */
  readonly row: (change: StreamedChange<Item>) => readonly string[];
  /** Decides which changes are printed. */
  readonly changes: ChangeSource<Item>;
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
  readonly #changes: ChangeSource<Item>;
  #waiting: (readonly string[])[] = [];
  #gathering: Promise<void> | undefined;
  #isGathered = false;

  constructor(session: Session, { header, row, changes, ...options }: ChangeLinesOptions<Item>) {
    this.#session = session;
    this.#row = row;
    this.#changes = changes;
    this.#columns = createTableColumns(header, options);
  }

  /** Prints a message. Messages of the first 200 ms are printed together. */
  async add(message: ChangeMessage<Item> & { readonly fault: ClusterFault | null }): Promise<void> {
    const { terminal, clock, signal } = this.#session;
    if (message.fault !== null) terminal.err(lineOfFault(message.fault));
    this.#waiting.push(...this.#changes.apply(message).map(this.#row));
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
   * Prepares for a stream that starts from the beginning and sends its whole state again. The known objects stay for comparison, so only differences
   * are printed.
   */
  restart(): void {
    this.#changes.restart();
  }
}

interface ChangesToPrintOptions<Item> {
  /** Returns a text that is equal for equal states of an object. */
  readonly versionOf: (item: Item) => string;
  /** True: the objects of the first state are printed. False: only later changes are printed. */
  readonly showsExisting: boolean;
}

/** The objects of a stream that is printed, with or without its first state. */
export class ChangesToPrint<Item extends StreamedItem> implements ChangeSource<Item> {
  readonly #objects: StreamedObjects<Item>;
  readonly #showsExisting: boolean;
  /** The clusters and kinds whose first state was sent. A later INITIAL of them follows a reset, and its additions are changes. */
  readonly #known = new Set<string>();

  constructor({ versionOf, showsExisting }: ChangesToPrintOptions<Item>) {
    this.#objects = new StreamedObjects(versionOf);
    this.#showsExisting = showsExisting;
  }

  apply(message: ChangeMessage<Item>): readonly StreamedChange<Item>[] {
    const { type, cluster, kind } = message;
    const changes = this.#objects.apply(message);
    if (this.#showsExisting) return changes;
    const scope = JSON.stringify([cluster.name, kind?.group, kind?.kind]);
    const isFirstState = type === 'INITIAL' && !this.#known.has(scope);
    if (type === 'SYNCED' || type === 'LIVE') this.#known.add(scope);
    return isFirstState ? changes.filter((change) => change.type !== 'ADDED') : changes;
  }

  restart(): void {
    this.#objects.restart();
  }
}

/**
 * Prints the messages of a stream as JSON, one per line. If the stream starts again from the beginning, prints `RESET` messages, as the gateway sends
 * them.
 */
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

  /** Prints a `RESET` message for each cluster and kind that was printed. Called when the stream starts again from the beginning. */
  async restart(): Promise<void> {
    const nothing = { fault: null, added: [], modified: [], deleted: [] };
    for (const scope of this.#scopes.values()) await this.#write(`${JSON.stringify({ type: 'RESET', ...scope, ...nothing })}\n`);
  }
}
