import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { compareText } from '../../core/text.ts';
import type { ClusterView, Row } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ChangeType } from './changes-message.ts';
import { listPlaceOf, type ObjectChange } from './changes-queue.ts';
import { type SourcePosition, voidPosition } from './stream-cursor.ts';

/** What messages are about: one kind of one cluster. */
export interface MessageSource {
  /** `sourceKey`. */
  readonly key: string;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  /** What an object of it takes, estimated. */
  readonly meanBytes: number;
  /** Makes rows of changes, all with the cluster and the mirror's state of this moment. */
  rowMaker(): (change: ObjectChange) => Row;
  /** Reads the state of the cluster again: its age grows without an event. */
  refreshCluster(): void;
}

/** What somebody has been told of one source. */
export interface SourceKnowledge {
  /** Absent: nothing of its objects. */
  readonly position: SourcePosition | undefined;
  /** What it was said to have failed with, unless it was said to be true again since. */
  readonly fault: Fault | undefined;
}

/** Who has been told nothing. */
export const nothingKnown: SourceKnowledge = { position: undefined, fault: undefined };

/** What is new of one source, and to whom. Made at a cut. */
export interface SourceSlice {
  readonly source: MessageSource;
  /** What those in step were told before. */
  readonly before: SourceKnowledge;
  /** What they know when they have been told. */
  readonly after: SourceKnowledge;
  readonly news: SliceNews;
}

export type SliceNews =
  /** What changed, a message each. */
  | { readonly type: 'changed'; readonly batches: readonly (readonly ObjectChange[])[] }
  /** All there is, as what was known is not enough. */
  | { readonly type: 'whole'; readonly objects: readonly KubernetesObject[] }
  /** For a reader that resumes in the middle of a first state: the changes of the objects that it knows, and all other objects. */
  | {
      readonly type: 'rest';
      readonly batches: readonly (readonly ObjectChange[])[];
      readonly objects: readonly KubernetesObject[];
      readonly from: PartialPosition;
    }
  /** Nothing but its position. */
  | { readonly type: 'confirmed' }
  /** It has left: what was known of it is void. */
  | { readonly type: 'gone'; readonly fault: Fault };

/** A message before it is known who else gets it. */
export interface MessageDraft {
  readonly source: MessageSource;
  readonly type: ChangeType;
  readonly changes: readonly ObjectChange[];
  readonly fault?: Fault;
  /** What its reader knows of the source after it. */
  readonly position: SourcePosition | undefined;
  /** The changes are objects of a first state: no other message of it has objects between their places, so a reader can resume after it. */
  readonly isFirstState?: true;
}

type PartialPosition = Extract<SourcePosition, { readonly type: 'partial' }>;

/**
 * Maximum number of objects in one message, of changes as of a first state: executing it takes a few milliseconds. Where a document cannot afford so
 * many, `splitDraft` makes smaller ones.
 */
export const maxMessageObjects = 250;

const none: readonly never[] = [];

/** What a part says to someone who knows this much of its source. */
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
      // After a LIVE the cluster counts as true, so what is not so is said again.
      const told = live.length > 0 || wasCleared(known, after) ? undefined : known.fault;
      return [...live, ...recovered, ...failureDrafts(source, after, told)];
    }
    default:
      throw news satisfies never;
  }
}

/** Objects, message by message in the order of their places, then the end of the first state. */
function firstStateOf(source: MessageSource, after: SourceKnowledge, objects: readonly KubernetesObject[]): readonly MessageDraft[] {
  const { position } = after;
  const chunks = chunksOf(objects.toSorted(comparePlaces)).map(
    (changes): MessageDraft => ({ source, type: 'INITIAL', changes, position: afterLast(changes, position), isFirstState: true }),
  );
  return [...chunks, { source, type: 'SYNCED', changes: none, position }, ...failureDrafts(source, after, undefined)];
}

/** True if a reader at this position has got the object, or would have got it if it had existed then. */
export function isCoveredBy(position: SourcePosition, object: KubernetesObject): boolean {
  return position.type === 'exact' || (position.type === 'partial' && listPlaceOf(object) <= position.through);
}

/** Compares as the texts of `listPlaceOf` do. It makes no text for objects of one namespace, because a first state may have 100,000 objects to sort. */
function comparePlaces({ metadata: one }: KubernetesObject, { metadata: other }: KubernetesObject): number {
  if (one.namespace === other.namespace) return compareText(one.name, other.name);
  // Together with the slash: `a/` comes after `a-b/`, although `a` comes before `a-b`.
  return compareText(`${one.namespace ?? ''}/`, `${other.namespace ?? ''}/`);
}

/** The position after these changes, which are in the order of their places. */
function afterLast(changes: readonly ObjectChange[], goal: SourcePosition | undefined): SourcePosition {
  const last = changes.at(-1);
  return last === undefined ? voidPosition : partialAt(goal, listPlaceOf(last.object));
}

/** The position of the same version, but only up to the place `through`. `void` if no version is known. */
function partialAt(goal: SourcePosition | undefined, through: string): SourcePosition {
  return goal === undefined || goal.type === 'void' ? voidPosition : { ...goal, type: 'partial', through };
}

/** That what was known of a source is void. */
export function goneDraft(source: MessageSource, fault: Fault): MessageDraft {
  return { source, type: 'FAILED', changes: none, fault, position: undefined };
}

/** That a source is behind, if that is news. */
export function failureDrafts(
  source: MessageSource,
  { position, fault }: SourceKnowledge,
  told: Fault | undefined,
): readonly MessageDraft[] {
  if (fault === undefined || fault.code === told?.code) return [];
  return [{ source, type: 'FAILED', changes: none, fault, position }];
}

/** True if what was known is no longer held: that is told even if the fault is the one it had failed with. */
export function wasCleared(known: SourceKnowledge, goal: SourceKnowledge): boolean {
  return known.position?.type === 'exact' && goal.position?.type === 'void' && goal.fault !== undefined;
}

export function knowsNothing({ position, fault }: SourceKnowledge): boolean {
  return position === undefined && fault === undefined;
}

/**
 * Divides a draft into two, the first with `most` changes. In a first state a reader can resume after the first draft. Otherwise it has to begin again.
 */
export function splitDraft(draft: MessageDraft, most: number): readonly [MessageDraft, MessageDraft] {
  const isFirstState = draft.isFirstState === true;
  const head = draft.changes.slice(0, most);
  return [
    { ...draft, changes: head, position: isFirstState ? afterLast(head, draft.position) : voidPosition },
    { ...draft, changes: draft.changes.slice(most) },
  ];
}

function chunksOf(objects: readonly KubernetesObject[]): readonly (readonly ObjectChange[])[] {
  const chunks: (readonly ObjectChange[])[] = [];
  for (let start = 0; start < objects.length; start += maxMessageObjects) {
    // The key is only needed where changes are merged.
    chunks.push(objects.slice(start, start + maxMessageObjects).map((object) => ({ type: 'ADDED', key: '', object })));
  }
  return chunks;
}
