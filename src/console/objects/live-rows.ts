import { type ChangeMessage, StreamedObjects } from '../../core/streams/streamed-objects.ts';

/** The most objects that are kept. Of further objects only the number is known. */
export const maxRows = 20_000;

/** An object of a stream, or only its id if there are too many. */
type HeldRow<Item> = { readonly id: string; readonly item: Item | undefined };

/**
 * The objects of a live table. Keeps the first 20,000 objects, and the number of all. After a lost stream it keeps its objects until the
 * stream has sent its whole state again.
 */
export class LiveRows<Item extends { readonly id: string }> {
  readonly #held = new StreamedObjects<HeldRow<Item>>(() => '');
  readonly #complete = new Set<string>();
  #cursor: string | undefined;

  /** Adds a message of the stream. */
  apply(message: ChangeMessage<Item> & { readonly cursor: string }): void {
    let room = message.added.length === 0 ? 0 : maxRows - this.items().length;
    const rows = (items: readonly Item[]) =>
      items.map((item) => {
        room -= 1;
        return { id: item.id, item: room >= 0 ? item : undefined };
      });
    this.#held.apply({
      ...message,
      deleted: message.deleted.map(({ id }) => ({ id, item: undefined })),
      added: rows(message.added),
      modified: message.modified.map((item) => ({ id: item.id, item })),
    });
    this.#cursor = message.cursor;
    const { name } = message.cluster;
    if (message.type === 'SYNCED' || message.type === 'LIVE') this.#complete.add(name);
    if (message.type === 'RESET') this.#complete.delete(name);
  }

  /** Call this before the first message of a stream that sends its whole state again. */
  restart(): void {
    this.#held.restart();
    this.#complete.clear();
  }

  /** The cursor of the last message. Undefined before the first one. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** The clusters that have sent all their objects. */
  get complete(): ReadonlySet<string> {
    return this.#complete;
  }

  /** The objects that are kept, in any order. */
  items(): Item[] {
    const items: Item[] = [];
    for (const { item } of this.#held.values()) if (item !== undefined) items.push(item);
    return items;
  }

  /** The number of all objects. */
  get count(): number {
    let count = 0;
    for (const _ of this.#held.values()) count += 1;
    return count;
  }
}
