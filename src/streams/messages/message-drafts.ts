import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { compareText } from '../../core/text.ts';
import type { ClusterView, Row } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ChangeType } from './changes-message.ts';
import { listPlaceOf, type ObjectChange } from './changes-queue.ts';
import { type SourcePosition, voidPosition } from './stream-cursor.ts';

/** The source that a message is about: one kind of one cluster. Implemented by `ViewSource`. */
export interface MessageSource {
  /** The key that `sourceKey` makes. */
  readonly key: string;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  /** Estimated bytes of one object. */
  readonly meanBytes: number;
  /**
   * Returns a function that makes the row of a change. All its rows have the state of the cluster and of the mirror at the moment of this
   * call.
   */
  rowMaker(): (change: ObjectChange) => Row;
  /** Reads the state of the cluster again, because its age grows even without events. */
  refreshCluster(): void;
}

/** The knowledge of a reader about one source: what it has received. */
export interface SourceKnowledge {
  /** The position of the reader. Undefined if the reader has received nothing about the objects of the source. */
  readonly position: SourcePosition | undefined;
  /** The fault that was sent last. Undefined if none was sent, or if the source was reported in sync since. */
  readonly fault: Fault | undefined;
}

/** The knowledge of a reader that has received nothing about a source. */
export const nothingKnown: SourceKnowledge = { position: undefined, fault: undefined };

/** The news of one source in one cut. `draftsOfSlice` turns it into messages. */
export interface SourceSlice {
  readonly source: MessageSource;
  /** The knowledge of readers in step before the cut. */
  readonly before: SourceKnowledge;
  /** The knowledge of readers in step after they have received the slice. */
  readonly after: SourceKnowledge;
  readonly news: SliceNews;
}

export type SliceNews =
  /** The changes, in batches of one message each. */
  | { readonly type: 'changed'; readonly batches: readonly (readonly ObjectChange[])[] }
  /** All objects, because the changes since the last cut are not known. */
  | { readonly type: 'whole'; readonly objects: readonly KubernetesObject[] }
  /**
   * For a reader that resumes at `from`, in the middle of a first state. `batches`: the changes of the objects that the reader knows.
   * `objects`: all other objects.
   */
  | {
      readonly type: 'rest';
      readonly batches: readonly (readonly ObjectChange[])[];
      readonly objects: readonly KubernetesObject[];
      readonly from: PartialPosition;
    }
  /** No changes. Only the position is newer. */
  | { readonly type: 'confirmed' }
  /**
   * The source has no mirror any more, for example because the cluster has left the fleet. Everything that readers know about the source is
   * void.
   */
  | { readonly type: 'gone'; readonly fault: Fault };

/** The content of a message, without the cursor. The cursor depends on what the reader knows about other sources. */
export interface MessageDraft {
  readonly source: MessageSource;
  readonly type: ChangeType;
  readonly changes: readonly ObjectChange[];
  readonly fault?: Fault;
  /** The reader's position in this source after the message. Undefined if the message voids all objects of the source. */
  readonly position: SourcePosition | undefined;
  /**
   * True if the changes are objects of a first state. They are in the order of `listPlaceOf`, which is by namespace and name. So a reader
   * can resume after such a message: it has received exactly the objects up to the last one.
   */
  readonly isFirstState?: true;
}

type PartialPosition = Extract<SourcePosition, { readonly type: 'partial' }>;

/**
 * Maximum number of objects in one message, in changes and in a first state. Executing such a message takes a few milliseconds. If a
 * document costs too much for that many objects, `splitDraft` makes smaller messages.
 */
export const maxMessageObjects = 250;

const none: readonly never[] = [];

/** Returns the messages of a slice for one reader. `known` is what the reader knows about the source before it gets them. */
export function draftsOfSlice({ source, after, news }: Omit<SourceSlice, 'before'>, known: SourceKnowledge): readonly MessageDraft[] {
  const { position } = after;
  const draft = (type: ChangeType, at: SourcePosition | undefined, changes: readonly ObjectChange[] = none): MessageDraft => ({
    source,
    type,
    changes,
    position: at,
  });
  switch (news.type) {
    case 'gone':
      return knowsNothing(known) ? [] : [goneDraft(source, news.fault)];
    case 'confirmed':
      return [draft('BOOKMARK', position)];
    case 'whole': {
      const forget = known.position === undefined ? [] : [draft('RESET', voidPosition)];
      return [...forget, ...firstStateOf(source, after, news.objects)];
    }
    case 'rest': {
      const { batches, objects, from } = news;
      const caughtUp = partialAt(position, from.through);
      const changed = batches.map((batch, index) => draft('INITIAL', index === batches.length - 1 ? caughtUp : voidPosition, batch));
      return [...changed, ...firstStateOf(source, after, objects)];
    }
    case 'changed': {
      const { batches } = news;
      const live = batches.map((batch, index) => draft('LIVE', index === batches.length - 1 ? position : voidPosition, batch));
      const recovered = live.length === 0 && known.fault !== undefined && after.fault === undefined ? [draft('LIVE', position)] : [];
      // After a LIVE message the client regards the cluster as in sync. So a fault that lasts is sent again.
      const sent = live.length > 0 || wasCleared(known, after) ? undefined : known.fault;
      return [...live, ...recovered, ...failureDrafts(source, after, sent)];
    }
    default:
      throw news satisfies never;
  }
}

/**
 * Returns the messages of a first state: the objects sorted by `listPlaceOf`, at most 250 in a message. Then `SYNCED`, and `FAILED` if the
 * source has a fault.
 */
function firstStateOf(source: MessageSource, after: SourceKnowledge, objects: readonly KubernetesObject[]): readonly MessageDraft[] {
  const { position } = after;
  const chunks = chunksOf(objects.toSorted(comparePlaces)).map(
    (changes): MessageDraft => ({ source, type: 'INITIAL', changes, position: afterLast(changes, position), isFirstState: true }),
  );
  return [...chunks, { source, type: 'SYNCED', changes: none, position }, ...failureDrafts(source, after, undefined)];
}

/**
 * True if the position covers the object: the reader has received the object, or knows that it did not exist. A void position covers no
 * object.
 */
export function isCoveredBy(position: SourcePosition, object: KubernetesObject): boolean {
  return position.type === 'exact' || (position.type === 'partial' && listPlaceOf(object) <= position.through);
}

/**
 * Compares objects like the texts of `listPlaceOf`. It makes no text if both have the same namespace, because a first state may have
 * 100,000 objects to sort.
 */
function comparePlaces({ metadata: one }: KubernetesObject, { metadata: other }: KubernetesObject): number {
  if (one.namespace === other.namespace) return compareText(one.name, other.name);
  // Namespaces are compared with the slash that follows them in `listPlaceOf`: `a/` comes after `a-b/`, although `a` comes before `a-b`.
  return compareText(`${one.namespace ?? ''}/`, `${other.namespace ?? ''}/`);
}

/**
 * Returns the position of a reader after these objects of a first state, which are sorted by `listPlaceOf`. Void if there are no objects.
 */
function afterLast(changes: readonly ObjectChange[], goal: SourcePosition | undefined): SourcePosition {
  const last = changes.at(-1);
  return last === undefined ? voidPosition : partialAt(goal, listPlaceOf(last.object));
}

/**
 * Returns a `partial` position: the version of `goal`, with the objects whose `listPlaceOf` is not after `through`. Void if `goal` has no
 * version.
 */
function partialAt(goal: SourcePosition | undefined, through: string): SourcePosition {
  return goal === undefined || goal.type === 'void' ? voidPosition : { ...goal, type: 'partial', through };
}

/** Returns the message `FAILED` that voids all objects of a source. */
export function goneDraft(source: MessageSource, fault: Fault): MessageDraft {
  return { source, type: 'FAILED', changes: none, fault, position: undefined };
}

/**
 * Returns the message `FAILED` with the fault of the source. Empty if the source has no fault, or if the fault that was sent last (`sent`)
 * has the same code.
 */
export function failureDrafts(
  source: MessageSource,
  { position, fault }: SourceKnowledge,
  sent: Fault | undefined,
): readonly MessageDraft[] {
  if (fault === undefined || fault.code === sent?.code) return [];
  return [{ source, type: 'FAILED', changes: none, fault, position }];
}

/** True if the mirror was cleared since the reader received its objects. The fault is then sent even if it was sent before. */
export function wasCleared(known: SourceKnowledge, goal: SourceKnowledge): boolean {
  return known.position?.type === 'exact' && goal.position?.type === 'void' && goal.fault !== undefined;
}

export function knowsNothing({ position, fault }: SourceKnowledge): boolean {
  return position === undefined && fault === undefined;
}

/**
 * Divides a draft into two. The first one has `max` changes.
 *
 * A reader may resume after only the first message. If the draft is of a first state, the reader then gets the objects that follow. If it
 * has changes, the position after the first message is void, and the reader starts again with `RESET`.
 */
export function splitDraft(draft: MessageDraft, max: number): readonly [MessageDraft, MessageDraft] {
  const isFirstState = draft.isFirstState === true;
  const head = draft.changes.slice(0, max);
  return [
    { ...draft, changes: head, position: isFirstState ? afterLast(head, draft.position) : voidPosition },
    { ...draft, changes: draft.changes.slice(max) },
  ];
}

function chunksOf(objects: readonly KubernetesObject[]): readonly (readonly ObjectChange[])[] {
  const chunks: (readonly ObjectChange[])[] = [];
  for (let start = 0; start < objects.length; start += maxMessageObjects) {
    // The key is empty, because it is needed only where changes are merged.
    chunks.push(objects.slice(start, start + maxMessageObjects).map((object) => ({ type: 'ADDED', key: '', object })));
  }
  return chunks;
}
