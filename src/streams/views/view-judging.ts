import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { maxReads } from '../../store/query/count-reads.ts';
import type { ResumePoint } from '../messages/stream-cursor.ts';
import type { ViewSource } from './view-source.ts';

interface ViewJudgingOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /**
   * True if the filter has `where` or `search`, which take long to check. `proceed` then judges the objects in advance, in pieces. If false,
   * `proceed` does nothing, and each object is judged when a message needs it.
   */
  readonly isCostly: boolean;
  readonly sources: () => Iterable<ViewSource>;
}

/** A reader that waits for its first message. */
interface JoiningReader {
  readonly after: ResumePoint | undefined;
  end(reason: MusterError): void;
}

/** Maximum milliseconds that a view works in one event-loop turn, before other work continues. */
export const pieceMs = 2;

/**
 * Judging goes through all sources in rounds. A round that judges at most this many objects is the last one. Objects that change later are
 * judged when a message needs them.
 */
const fewObjects = 16;

/** Judges in pieces which objects a view selects, so that no cut and no first message takes long in one event-loop turn. */
export class ViewJudging {
  readonly #options: ViewJudgingOptions;
  #steps: Steps<void> | undefined;
  #points = new Set<ResumePoint>();
  #reads = 0;

  constructor(options: ViewJudgingOptions) {
    this.#options = options;
  }

  /**
   * Does the next piece of work. Returns false if more work is left. If judging reads more objects than an answer may, it ends waiting readers with
   * the error and starts again with the others. It ends the readers that begin with a first state, or, if there are none, those that resume.
   *
   * @throws {MusterError} `TOO_COSTLY` if judging reads too many objects and no reader waits for a first message, such as after a mirror has received
   * a new list.
   */
  proceed(joining: ReadonlySet<JoiningReader>): boolean {
    try {
      return this.#proceed(joining);
    } catch (error) {
      if (!(error instanceof MusterError) || joining.size === 0) throw error;
      // A reader that resumes may need far fewer objects than a reader that begins, so it is ended last.
      const beginning = [...joining].filter(({ after }) => after === undefined);
      for (const reader of beginning.length > 0 ? beginning : [...joining]) reader.end(error);
      this.forget();
      return false;
    }
  }

  #proceed(joining: ReadonlySet<JoiningReader>): boolean {
    const { clock, isCostly } = this.#options;
    if (!isCostly) return true;
    const endMs = clock.monotonic() + pieceMs;
    this.#steps ??= this.#judge(joining);
    do {
      if (this.#steps.next().done !== true) continue;
      this.#steps = undefined;
      return true;
    } while (clock.monotonic() < endMs);
    return false;
  }

  /**
   * Drops the stored verdicts: for each object, whether the view selects it. Call this method after a cut, when no reader waits for its
   * first message. Has no effect unless `isCostly`, because no verdicts are stored then.
   */
  forget(): void {
    if (!this.#options.isCostly) return;
    this.#reads = 0;
    this.#points = new Set();
    for (const source of this.#options.sources()) source.forgetJudged();
  }

  *#judge(joining: ReadonlySet<JoiningReader>): Steps<void> {
    for (let judged = Number.POSITIVE_INFINITY; judged > fewObjects; ) {
      judged = 0;
      const points = [...joining].flatMap(({ after }) => (after === undefined || this.#points.has(after) ? [] : [after]));
      for (const point of points) this.#points.add(point);
      for (const source of this.#options.sources()) {
        const positions = joining.size === 0 ? undefined : points.map(({ cursor }) => cursor.positions.get(source.key));
        judged += yield* source.judgeObjects(this.#countReads, positions);
      }
    }
  }

  readonly #countReads = (reads: number): void => {
    this.#reads += reads;
    if (this.#reads <= maxReads) return;
    this.#reads = 0;
    this.#steps = undefined;
    throw new MusterError(
      'TOO_COSTLY',
      `expected a first state that reads at most ${maxReads} objects, eight values that are compared counted as one: narrow it (clusters, ` +
        'namespaces, labels), or use fewer conditions',
    );
  };
}
