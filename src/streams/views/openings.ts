import type { ModelKind } from '../../model/model.ts';
import { nothingKnown, type SourceKnowledge, type SourceSlice } from '../messages/message-drafts.ts';
import type { MessageRun } from '../messages/message-run.ts';
import type { ResumePoint, SourcePosition, StreamCursor } from '../messages/stream-cursor.ts';
import { SourceBacklog } from '../readers/source-backlog.ts';
import { type IncompleteSource, sliceForResume } from './resume.ts';
import type { ViewSource } from './view-source.ts';

/** What a reader is given first. */
interface Opening<Message extends object> extends MessageRun<Message> {
  /** What it knows of sources that are not whole now, each reader for itself. */
  awaited(): readonly SourceBacklog[];
}

interface OpeningsOptions<Message extends object> {
  /** `WatchScope.digest`. */
  readonly scope: string;
  readonly kinds: readonly ModelKind[];
  readonly sources: () => ReadonlyMap<string, ViewSource>;
  readonly run: (said: RunContents) => MessageRun<Message>;
}

/** What a run is made of. */
export interface RunContents {
  readonly parts: readonly SourceSlice[];
  readonly before: (part: SourceSlice) => SourceKnowledge;
  readonly beside?: ReadonlyMap<string, SourcePosition | undefined>;
  /** True for what readers are given first: others may be given the same later. */
  readonly isOpening?: boolean;
}

/** Beyond these, who comes back at the same place as another is told the same once more. */
const maxKnown = 256;

/**
 * What readers are given first: one for all who begin at the same place, whether that is the first state or a cursor that many were given, as after
 * a restart all come back at once. Asked right after a cut; nothing is kept that no reader holds, and little of what was.
 */
export class Openings<Message extends object> {
  readonly #options: OpeningsOptions<Message>;
  readonly #known = new Map<string, WeakRef<Opening<Message>>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key);
  });

  constructor(options: OpeningsOptions<Message>) {
    this.#options = options;
  }

  /** For one who begins there: at the beginning, if nothing is said. */
  openingAt(point: ResumePoint | undefined): Opening<Message> {
    // No digest is empty.
    const key = point?.digest ?? '';
    const known = this.#known.get(key)?.deref();
    if (known !== undefined) return known;
    const opening = point === undefined ? this.#first() : this.#resumed(point.cursor);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= maxKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, new WeakRef(opening));
    this.#collected.register(opening, key);
    return opening;
  }

  /** How many there are that somebody may come to share. */
  get size(): number {
    return this.#known.size;
  }

  /** Something has changed: who comes from now on is given something else. */
  forget(): void {
    this.#known.clear();
  }

  #first(): Opening<Message> {
    const { sources, run } = this.#options;
    const parts = [...sources().values()].flatMap((source) => source.wholeSlice() ?? []);
    return openingOf(run({ parts, before: () => nothingKnown, isOpening: true }), []);
  }

  #resumed(cursor: StreamCursor): Opening<Message> {
    const { scope, kinds, sources, run } = this.#options;
    const { parts, known, awaited } = sliceForResume({ scope, kinds, sources: sources() }, cursor);
    const beside = new Map(awaited.map(({ source, known: { position } }) => [source.key, position]));
    const missed = run({ parts, before: (part) => known.get(part) ?? nothingKnown, beside, isOpening: true });
    const summary = missed.length === 0 ? this.#summaryAlone(parts) : [];
    return openingOf(summary.length === 0 ? missed : run({ parts: summary, before: () => nothingKnown, beside, isOpening: true }), awaited);
  }

  /**
   * A BOOKMARK for a reader of summaries that has missed no change of a Job. A summary also depends on clusters and on the propagation: the reader may
   * know an older one. Empty if the view has no summaries.
   */
  #summaryAlone(parts: readonly SourceSlice[]): readonly SourceSlice[] {
    const sources = this.#options.sources();
    const part = parts.find(({ source }) => sources.get(source.key)?.jobCounter !== undefined);
    return part === undefined ? [] : [{ ...part, news: { type: 'confirmed' } }];
  }
}

/** One object, so that whoever walks through it keeps it for those who come after. */
function openingOf<Message extends object>(
  { length, messageAt }: MessageRun<Message>,
  awaited: readonly IncompleteSource[],
): Opening<Message> {
  return { length, messageAt, awaited: () => awaited.map(({ source, known, goal }) => new SourceBacklog(source, known, goal)) };
}
