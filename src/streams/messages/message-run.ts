import { draftsOfSlice, type MessageDraft, type SourceKnowledge, type SourceSlice } from './message-drafts.ts';

/** The positions of a reader in all sources except the source of the message. The positions in `over` replace those in `base`. */
export interface KnownPositions<Positions> {
  readonly base: Positions;
  readonly over: () => ReadonlyMap<string, SourceKnowledge['position']>;
}

/**
 * Messages that one or many readers take one after the other. All readers get the same message objects.
 *
 * The run holds each message weakly. If no reader uses a message any more, the run makes the message again for the next reader. So a paused
 * reader keeps the run alive, but not the rendered bytes.
 */
export interface MessageRun<Message extends object> {
  readonly length: number;
  messageAt(index: number): Message | undefined;
}

/** The content of a run, and what its readers know. */
interface RunOptions<Message extends object, Positions> {
  readonly slices: readonly SourceSlice[];
  /** Returns the knowledge of the readers about the source of a slice, before they receive it. */
  readonly before: (slice: SourceSlice) => SourceKnowledge;
  /** The positions of the readers after the whole run. */
  readonly positions: Positions;
  /** Positions of the readers in incomplete sources that have no slice in this run. Default: none. */
  readonly incompletePositions?: ReadonlyMap<string, SourceKnowledge['position']>;
  readonly make: (draft: MessageDraft, known: KnownPositions<Positions>) => Message;
}

/** Number of messages that the run holds strongly. */
const recentMessages = 4;

/** Creates a run of the messages of these slices, source by source. Each message is made when a reader first takes it. */
export function createMessageRun<Message extends object, Positions>({
  slices,
  before,
  positions,
  incompletePositions,
  make,
}: RunOptions<Message, Positions>): MessageRun<Message> {
  const steps = slices.flatMap((slice, index) => draftsOfSlice(slice, before(slice)).map((draft) => ({ draft, index })));
  const made: WeakRef<Message>[] = [];
  // Holds the messages that readers take now. Each reader takes one message before any reader takes the next, so readers are never far
  // apart. Without this list, a message could be garbage-collected before the last of a thousand readers has taken it, and would be made
  // and rendered again.
  const recent: Message[] = [];
  /** The newest message. Reading a weak reference a thousand times costs more than sending the message. */
  let latest: { readonly number: number; readonly message: Message } | undefined;

  /**
   * Returns the positions that replace `positions` in a cursor made while slice `index` is sent. The sources of later slices still have their
   * positions from before the run, because readers have not received these slices yet. Also contains `incompletePositions`.
   */
  const overAt = (index: number) =>
    new Map([
      ...(incompletePositions ?? []),
      ...slices.slice(index + 1).map((slice) => [slice.source.key, before(slice).position] as const),
    ]);

  return {
    length: steps.length,
    messageAt(number) {
      if (latest?.number === number) return latest.message;
      const known = made[number]?.deref();
      if (known !== undefined) return known;
      const step = steps[number];
      if (step === undefined) return undefined;
      const message = make(step.draft, { base: positions, over: () => overAt(step.index) });
      made[number] = new WeakRef(message);
      latest = { number, message };
      recent.push(message);
      if (recent.length > recentMessages) recent.shift();
      return message;
    },
  };
}
