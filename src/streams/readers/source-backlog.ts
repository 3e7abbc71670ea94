import { InvariantError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { createChangesQueue } from '../messages/changes-queue.ts';
import {
  draftsOfSlice,
  failureDrafts,
  goneDraft,
  knowsNothing,
  type MessageDraft,
  type MessageSource,
  maxMessageObjects,
  nothingKnown,
  type SourceKnowledge,
  type SourceSlice,
  wasCleared,
} from '../messages/message-drafts.ts';
import { type SourcePosition, voidPosition } from '../messages/stream-cursor.ts';

/** The backlog of one reader for one source: the changes that the reader has not received, merged by object. */
export class SourceBacklog {
  source: MessageSource;
  readonly #changes = createChangesQueue();
  /** The knowledge of the reader now. */
  #known: SourceKnowledge;
  /** The knowledge of the reader when it has taken all of the backlog. */
  #goal: SourceKnowledge;
  #gone: Fault | undefined;
  #whole: WholeState | undefined;

  /**
   * Creates an empty backlog.
   *
   * @param known The knowledge of this reader about the source.
   * @param goal The knowledge of readers in step, which this reader reaches with the backlog. Default: `known`.
   */
  constructor(source: MessageSource, known: SourceKnowledge, goal: SourceKnowledge = known) {
    this.source = source;
    this.#known = known;
    this.#goal = goal;
  }

  /** Number of changes that wait. */
  get size(): number {
    return this.#changes.size;
  }

  /** The position of the reader in this source now. Undefined: the reader knows nothing about the source. */
  get position(): SourcePosition | undefined {
    return this.#known.position;
  }

  /** True if the backlog has a message. */
  get isDue(): boolean {
    if (this.#gone !== undefined || this.#whole !== undefined || this.#changes.size > 0) return true;
    return this.#known.fault?.code !== this.#goal.fault?.code || wasCleared(this.#known, this.#goal);
  }

  /**
   * True if the backlog can be dropped: nothing is due, and the reader knows no more than readers in step. A reader that waits for an
   * incomplete source knows more, because it still has older objects of that source.
   */
  get isSettled(): boolean {
    return !this.isDue && (this.#goal.position !== undefined || this.#known.position === undefined);
  }

  add({ source, after, news }: SourceSlice): void {
    this.source = source;
    this.#goal = after;
    switch (news.type) {
      case 'gone':
        // A reader that knows nothing about the source has nothing to drop.
        if (!knowsNothing(this.#known)) this.#gone ??= news.fault;
        this.#whole = undefined;
        this.#changes.clear();
        return;
      case 'whole':
        this.#whole = { objects: news.objects, position: after.position };
        this.#changes.clear();
        return;
      case 'changed':
        for (const batch of news.batches) for (const change of batch) this.#changes.put(change);
        return;
      case 'confirmed':
        return;
      case 'rest':
        throw new InvariantError('only a reader that begins is sent the rest of a first state');
      default:
        news satisfies never;
    }
  }

  /**
   * Records that the reader gets this slice with the shared messages, so the backlog does not send it. Call this method only if `isDue` is
   * false.
   */
  markSent({ source, after, news }: SourceSlice): void {
    this.source = source;
    this.#goal = after;
    const position = news.type === 'gone' ? undefined : (after.position ?? this.#known.position);
    this.#known = { position, fault: after.fault };
  }

  /** Removes the next messages from the backlog and returns them: at least one if `isDue`. The reader then knows what they contain. */
  take(): readonly MessageDraft[] {
    if (this.#gone !== undefined) return this.#takeGone(this.#gone);
    const isNews = wasCleared(this.#known, this.#goal);
    const drafts = this.#whole === undefined ? this.#takeChanges() : this.#takeWhole(this.#whole);
    if (this.#changes.size > 0) return drafts;
    const { position, fault } = this.#known;
    this.#known = { position, fault: this.#goal.fault };
    return [...drafts, ...failureDrafts(this.source, this.#known, isNews ? undefined : fault)];
  }

  #takeGone(fault: Fault): readonly MessageDraft[] {
    this.#gone = undefined;
    this.#known = nothingKnown;
    return [goneDraft(this.source, fault)];
  }

  #takeWhole({ objects, position }: WholeState): readonly MessageDraft[] {
    this.#whole = undefined;
    const after = { position, fault: undefined };
    const drafts = draftsOfSlice({ source: this.source, after, news: { type: 'whole', objects } }, this.#known);
    this.#known = after;
    return drafts;
  }

  #takeChanges(): readonly MessageDraft[] {
    const changes = this.#changes.take(maxMessageObjects);
    const position = this.#changes.size > 0 ? voidPosition : (this.#goal.position ?? this.#known.position);
    const recovered = this.#known.fault !== undefined && this.#goal.fault === undefined;
    const sent = changes.length > 0 || recovered;
    this.#known = { position, fault: sent ? undefined : this.#known.fault };
    return sent ? [{ source: this.source, type: 'LIVE', changes, position }] : [];
  }
}

/** All objects at one moment. They are sent before later changes. */
interface WholeState {
  readonly objects: readonly KubernetesObject[];
  readonly position: SourcePosition | undefined;
}
