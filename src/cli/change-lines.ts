import { type ClusterFault, lineOfFault } from './cluster-faults.ts';
import { type Change, type ChangesOf, type Foldable, HeldObjects } from './held-objects.ts';
import type { Session } from './session.ts';
import { type Columns, createColumns } from './table.ts';

export interface ChangeLinesOptions<Item extends Foldable> {
  readonly header: readonly string[];
  /** The cells of a change. */
  readonly row: (change: Change<Item>) => readonly string[];
}

/** As wide as the widest of the changes, so that lines that come later line up. */
export const eventHeader = 'EVENT'.padEnd('MODIFIED'.length);

/** The first states of clusters come one after the other, but soon: they are printed together, so that their columns are of one width. */
const gatherMs = 200;

/** Prints the messages of a stream for people: a line per change in columns, faults on standard error. */
export class ChangeLines<Item extends Foldable> {
  readonly #session: Session;
  readonly #row: ChangeLinesOptions<Item>['row'];
  readonly #columns: Columns;
  readonly #held = new HeldObjects<Item>();
  #waiting: (readonly string[])[] = [];
  #gathering: Promise<void> | undefined;
  #isGathered = false;

  constructor(session: Session, { header, row }: ChangeLinesOptions<Item>) {
    this.#session = session;
    this.#row = row;
    this.#columns = createColumns(header);
  }

  /** Takes a message. Those of the first moment are written a moment later. */
  async take(message: ChangesOf<Item> & { readonly fault: ClusterFault | null }): Promise<void> {
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
    if (lines.length > 0) await this.#session.terminal.out(lines.map((line) => `${line}\n`).join(''));
  }

  /** The stream begins anew. */
  restart(): void {
    this.#held.restart();
  }
}
