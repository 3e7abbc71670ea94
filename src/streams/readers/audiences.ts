import type { SourceKnowledge, SourceSlice } from '../messages/message-drafts.ts';
import { type SourcePosition, voidPosition } from '../messages/stream-cursor.ts';
import type { ViewReader } from './view-reader.ts';

/** Readers in step that get the same messages for these slices. */
interface Audience<Message extends object> {
  readonly readers: readonly ViewReader<Message>[];
  /** Returns the knowledge of these readers about the source of a slice. */
  readonly before: (slice: SourceSlice) => SourceKnowledge;
  /** Sources that are incomplete for at least one of these readers and have no slice now. Their position is `void`. */
  readonly incompletePositions: ReadonlyMap<string, SourcePosition>;
}

/**
 * Divides the readers of a view into audiences. The readers of one audience are in step and get the same messages. Readers that are not in
 * step (`behind`) collect the slices in their backlogs.
 *
 * A reader that resumed while a source was incomplete still knows older objects of that source. The reader stays in step, but the position
 * of its whole audience in that source is `void`. So all readers of the audience receive the source from its beginning once it is complete.
 */
export function audiencesOf<Message extends object>(
  readers: Iterable<ViewReader<Message>>,
  slices: readonly SourceSlice[],
): { readonly inStep: readonly Audience<Message>[]; readonly behind: readonly ViewReader<Message>[] } {
  const sent = new Set(slices.map(({ source }) => source.key));
  const inStep = new Map<string, GatheredReaders<Message>>();
  const behind: ViewReader<Message>[] = [];
  for (const reader of readers) {
    if (!reader.isInStep) {
      behind.push(reader);
      continue;
    }
    const incomplete = [...reader.waitingSources];
    const returning = incomplete.filter((key) => sent.has(key)).sort();
    const key = JSON.stringify(returning);
    const gathered = inStep.get(key) ?? {
      readers: [],
      returning: new Set(returning),
      incompletePositions: new Map<string, SourcePosition>(),
    };
    gathered.readers.push(reader);
    for (const other of incomplete) if (!sent.has(other)) gathered.incompletePositions.set(other, voidPosition);
    inStep.set(key, gathered);
  }
  return { inStep: [...inStep.values()].map(audienceOf), behind };
}

interface GatheredReaders<Message extends object> {
  readonly readers: ViewReader<Message>[];
  /** The keys of sources that were incomplete when these readers resumed, and that have a slice now. */
  readonly returning: ReadonlySet<string>;
  readonly incompletePositions: Map<string, SourcePosition>;
}

function audienceOf<Message extends object>({ readers, returning, incompletePositions }: GatheredReaders<Message>): Audience<Message> {
  const before = (slice: SourceSlice): SourceKnowledge => {
    return returning.has(slice.source.key) ? { position: voidPosition, fault: slice.before.fault } : slice.before;
  };
  return { readers, before, incompletePositions };
}
