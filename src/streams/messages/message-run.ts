import { draftsOfSlice, type MessageDraft, type SourceKnowledge, type SourceSlice } from './message-drafts.ts';

/** What a reader knows of all sources but that of the message, as it goes into cursors and summaries: the positions of `base`, overridden by `over`. */
export interface KnownPositions<Standing> {
  readonly base: Standing;
  readonly over: () => ReadonlyMap<string, SourceKnowledge['position']>;
}

/**
 * Messages that one or many readers get one after the other, the same objects for all. Immutable for those who read it; a message is made when it
 * is first asked for, and again if nobody has held it meanwhile: a reader that stands still keeps the run alive, but not what was rendered.
 */
export interface MessageRun<Message extends object> {
  readonly length: number;
  messageAt(index: number): Message | undefined;
}

/** What makes the messages of a run: drafts, and what is known after each. */
interface RunOptions<Message extends object, Standing> {
  readonly parts: readonly SourceSlice[];
  /** What its readers know of each of the sources before it. */
  readonly before: (part: SourceSlice) => SourceKnowledge;
  /** What they know when all of it was told. */
  readonly standing: Standing;
  /** What they know beside these parts, of sources that have nothing to say now. */
  readonly beside?: ReadonlyMap<string, SourceKnowledge['position']>;
  readonly make: (draft: MessageDraft, known: KnownPositions<Standing>) => Message;
}

/** Messages of a run that are held although nobody else does. */
const recentMessages = 4;

/** The messages of these parts, source by source. */
export function createMessageRun<Message extends object, Standing>({
  parts,
  before,
  standing,
  beside,
  make,
}: RunOptions<Message, Standing>): MessageRun<Message> {
  const steps = parts.flatMap((part, index) => draftsOfSlice(part, before(part)).map((draft) => ({ draft, index })));
  const made: WeakRef<Message>[] = [];
  // Those that most readers are at: they take turns, one message each, so they are never far apart. Held weakly alone, one would be collected
  // between two turns of a thousand readers, and be made and rendered again.
  const recent: Message[] = [];
  /** The newest of them: asking a weak reference a thousand times costs more than writing the message does. */
  let latest: { readonly number: number; readonly message: Message } | undefined;

  /** Sources that come later are known as they were before. */
  const overAt = (index: number) =>
    new Map([...(beside ?? []), ...parts.slice(index + 1).map((part) => [part.source.key, before(part).position] as const)]);

  return {
    length: steps.length,
    messageAt(number) {
      if (latest?.number === number) return latest.message;
      const known = made[number]?.deref();
      if (known !== undefined) return known;
      const step = steps[number];
      if (step === undefined) return undefined;
      const message = make(step.draft, { base: standing, over: () => overAt(step.index) });
      made[number] = new WeakRef(message);
      latest = { number, message };
      recent.push(message);
      if (recent.length > recentMessages) recent.shift();
      return message;
    },
  };
}
