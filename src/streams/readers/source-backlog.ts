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

/** What one reader has still to be told of one source, merged by object. */
export class SourceBacklog {
  source: MessageSource;
  readonly #changes = createChangesQueue();
  /** What the reader knows. */
  #known: SourceKnowledge;
  /** What it will know. */
  #goal: SourceKnowledge;
  #gone: Fault | undefined;
  #whole: Whole | undefined;

  /** @param goal What those in step know. */
  constructor(source: MessageSource, known: SourceKnowledge, goal: SourceKnowledge = known) {
    this.source = source;
    this.#known = known;
    this.#goal = goal;
  }

  /** Changes that wait. */
  get size(): number {
    return this.#changes.size;
  }

  /** Up to where the reader knows the source now. */
  get position(): SourcePosition | undefined {
    return this.#known.position;
  }

  /** There is something to tell. */
  get isDue(): boolean {
    if (this.#gone !== undefined || this.#whole !== undefined || this.#changes.size > 0) return true;
    return this.#known.fault?.code !== this.#goal.fault?.code || wasCleared(this.#known, this.#goal);
  }

  /** Nothing is left of it: the reader knows what those in step do. False while it knows more, of a source that is not whole. */
  get isSettled(): boolean {
    return !this.isDue && (this.#goal.position !== undefined || this.#known.position === undefined);
  }

  add({ source, after, news }: SourceSlice): void {
    this.source = source;
    this.#goal = after;
    switch (news.type) {
      case 'gone':
        // Of what was never begun with there is nothing to forget.
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
        throw new InvariantError('only a reader that begins is told the rest of a first state');
      default:
        news satisfies never;
    }
  }

  /** The part is told otherwise, to a reader of whom nothing was due. */
  markSent({ source, after, news }: SourceSlice): void {
    this.source = source;
    this.#goal = after;
    const position = news.type === 'gone' ? undefined : (after.position ?? this.#known.position);
    this.#known = { position, fault: after.fault };
  }

  /** The next messages, which belong together: at least one, if something is due. */
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

  #takeWhole({ objects, position }: Whole): readonly MessageDraft[] {
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
    const told = changes.length > 0 || recovered;
    this.#known = { position, fault: told ? undefined : this.#known.fault };
    return told ? [{ source: this.source, type: 'LIVE', changes, position }] : [];
  }
}

/** Its state as of a moment, to be told before what changed later. */
interface Whole {
  readonly objects: readonly KubernetesObject[];
  readonly position: SourcePosition | undefined;
}
