import type { SourceKnowledge, SourceSlice } from '../messages/message-drafts.ts';
import { type SourcePosition, voidPosition } from '../messages/stream-cursor.ts';
import type { ViewReader } from './view-reader.ts';

/** Readers in step to whom the same parts say the same. */
interface Audience<Message extends object> {
  readonly readers: readonly ViewReader<Message>[];
  /** What they know of the source of each part. */
  readonly before: (part: SourceSlice) => SourceKnowledge;
  /** What some of them know of sources that have nothing to say now, and nobody else does. */
  readonly beside: ReadonlyMap<string, SourcePosition>;
}

/**
 * Who is to be told these parts: those in step together, the others one by one.
 *
 * Who has resumed while a source was not whole still knows it from before, each from another time. That keeps nobody out of step: to all who are told
 * together such a source is `void`, which nothing is lost by, as it begins again for whoever knew it, and for whoever did not.
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
  /** Sources that they have waited for. */
  readonly returning: ReadonlySet<string>;
  readonly beside: Map<string, SourcePosition>;
}

function audienceOf<Message extends object>({ readers, returning, beside }: Gathered<Message>): Audience<Message> {
  const before = (part: SourceSlice): SourceKnowledge => {
    return returning.has(part.source.key) ? { position: voidPosition, fault: part.before.fault } : part.before;
  };
  return { readers, before, beside };
}
