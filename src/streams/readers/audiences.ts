import type { SourceKnowledge, SourceSlice } from '../messages/message-drafts.ts';
import { type SourcePosition, voidPosition } from '../messages/stream-cursor.ts';
import type { ViewReader } from './view-reader.ts';

/** Readers in step that get the same messages for these slices. */
interface Audience<Message extends object> {
  readonly readers: readonly ViewReader<Message>[];
  /** What these readers know about the source of each slice. */
  readonly before: (part: SourceSlice) => SourceKnowledge;
  /** Sources that are incomplete for at least one of these readers and have no slice now. Their position is `void`. */
  readonly beside: ReadonlyMap<string, SourcePosition>;
}

/**
 * Divides the readers of a view. Those in step form groups that get the same messages. The others (`behind`) collect the slices in their
 * backlogs.
 *
 * A reader that resumed while a source was incomplete still knows older objects of that source. It stays in step all the same: for its
 * whole group the position in that source is `void`. So all of the group receive the source from its beginning once it is complete.
 */
export function audiencesOf<Message extends object>(
  readers: Iterable<ViewReader<Message>>,
  parts: readonly SourceSlice[],
): { readonly inStep: readonly Audience<Message>[]; readonly behind: readonly ViewReader<Message>[] } {
  const told = new Set(parts.map(({ source }) => source.key));
  const inStep = new Map<string, Gathered<Message>>();
  const behind: ViewReader<Message>[] = [];
  for (const reader of readers) {
    if (!reader.isInStep) {
      behind.push(reader);
      continue;
    }
    const awaited = [...reader.waitingSources];
    const returning = awaited.filter((key) => told.has(key)).sort();
    const key = JSON.stringify(returning);
    const gathered = inStep.get(key) ?? { readers: [], returning: new Set(returning), beside: new Map<string, SourcePosition>() };
    gathered.readers.push(reader);
    for (const other of awaited) if (!told.has(other)) gathered.beside.set(other, voidPosition);
    inStep.set(key, gathered);
  }
  return { inStep: [...inStep.values()].map(audienceOf), behind };
}

interface Gathered<Message extends object> {
  readonly readers: ViewReader<Message>[];
  /** Incomplete sources that these readers have waited for, and that are complete now. */
  readonly returning: ReadonlySet<string>;
  readonly beside: Map<string, SourcePosition>;
}

function audienceOf<Message extends object>({ readers, returning, beside }: Gathered<Message>): Audience<Message> {
  const before = (part: SourceSlice): SourceKnowledge => {
    return returning.has(part.source.key) ? { position: voidPosition, fault: part.before.fault } : part.before;
  };
  return { readers, before, beside };
}
