import type { ModelKind } from '../../model/model.ts';
import { nothingKnown, type SourceKnowledge, type SourceSlice } from '../messages/message-drafts.ts';
import type { MessageRun } from '../messages/message-run.ts';
import type { ResumePoint, SourcePosition, StreamCursor } from '../messages/stream-cursor.ts';
import { SourceBacklog } from '../readers/source-backlog.ts';
import { type IncompleteSource, sliceForResume } from './resume.ts';
import type { ViewSource } from './view-source.ts';

/** The first messages of a reader: its first state, or what it has missed. */
interface Opening<Message extends object> extends MessageRun<Message> {
  /**
   * Creates the backlogs of one reader for incomplete sources that the reader knows. Call it once per reader, because a reader changes its
   * backlogs.
   */
  incomplete(): readonly SourceBacklog[];
}

interface OpeningsOptions<Message extends object> {
  /** The `WatchScope.digest` of the view. */
  readonly scope: string;
  readonly kinds: readonly ModelKind[];
  readonly sources: () => ReadonlyMap<string, ViewSource>;
  readonly run: (contents: RunContents) => MessageRun<Message>;
}

/** The content of a run, before it becomes messages. */
export interface RunContents {
  readonly slices: readonly SourceSlice[];
  /** Returns the knowledge of the readers about the source of a slice, before they receive it. */
  readonly before: (slice: SourceSlice) => SourceKnowledge;
  /** The positions of the readers in incomplete sources, by source key. The run has no slices of these sources. Default: none. */
  readonly incompletePositions?: ReadonlyMap<string, SourcePosition | undefined>;
  /** True for the first messages of readers. Readers that begin later may get the same messages. Default: false. */
  readonly isOpening?: boolean;
}

/** Maximum number of openings that are shared. Beyond it, readers at the same point get messages of their own. */
const maxKnown = 256;

/**
 * The first messages of readers, shared by all readers that begin at the same point. After a restart, many clients come back with the same
 * cursor.
 *
 * Call `openingAt` right after a cut, so that the next cut begins where the opening ends. Openings are held weakly, so an opening that no
 * reader uses is dropped.
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

  /**
   * Returns the first messages of a reader that resumes at this point, and makes them if no other reader holds them. Without a point: those
   * with the first state.
   */
  openingAt(point: ResumePoint | undefined): Opening<Message> {
    // A digest is never empty.
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

  /** Number of openings that later readers can share. */
  get size(): number {
    return this.#known.size;
  }

  /** Forgets all openings. Call this method after a cut, because readers that begin later need other messages. */
  forget(): void {
    this.#known.clear();
  }

  #first(): Opening<Message> {
    const { sources, run } = this.#options;
    const slices = [...sources().values()].flatMap((source) => source.wholeSlice() ?? []);
    return openingOf(run({ slices, before: () => nothingKnown, isOpening: true }), []);
  }

  #resumed(cursor: StreamCursor): Opening<Message> {
    const { scope, kinds, sources, run } = this.#options;
    const { slices, known, incomplete } = sliceForResume({ scope, kinds, sources: sources() }, cursor);
    const incompletePositions = new Map(incomplete.map(({ source, known: { position } }) => [source.key, position]));
    const missed = run({ slices, before: (slice) => known.get(slice) ?? nothingKnown, incompletePositions, isOpening: true });
    const summary = missed.length === 0 ? this.#summaryAlone(slices) : [];
    return openingOf(
      summary.length === 0 ? missed : run({ slices: summary, before: () => nothingKnown, incompletePositions, isOpening: true }),
      incomplete,
    );
  }

  /**
   * Returns one slice without changes, which becomes a BOOKMARK. Only `jobStatus` streams need it, because their messages have a summary of
   * all Jobs: the client may have an old summary although it missed no change of a Job, because the summary also depends on clusters and
   * the Propagation. Empty for other streams.
   */
  #summaryAlone(slices: readonly SourceSlice[]): readonly SourceSlice[] {
    const sources = this.#options.sources();
    const slice = slices.find(({ source }) => sources.get(source.key)?.jobCounter !== undefined);
    return slice === undefined ? [] : [{ ...slice, news: { type: 'confirmed' } }];
  }
}

/**
 * Adds `incomplete` to the run. Readers hold the returned object as their run. `Openings` has only a weak reference to it, so later readers
 * can share it while one reader still holds it.
 */
function openingOf<Message extends object>(
  { length, messageAt }: MessageRun<Message>,
  incomplete: readonly IncompleteSource[],
): Opening<Message> {
  return { length, messageAt, incomplete: () => incomplete.map(({ source, known, goal }) => new SourceBacklog(source, known, goal)) };
}
