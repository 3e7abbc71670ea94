import type { Visibility } from '../../access/access.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { readFault } from '../../load/reads/read-sources.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import { type MessageSource, nothingKnown, type SourceKnowledge, type SourceSlice } from '../messages/message-drafts.ts';
import { parseSourceKey, type SourcePosition, type StreamCursor, voidPosition } from '../messages/stream-cursor.ts';
import type { ViewSource } from './view-source.ts';
import { unknownCluster } from './view-sources.ts';
import { compareVisibility } from './watch-scope.ts';

/** The messages for a reader that resumes. */
interface Resumption {
  readonly slices: readonly SourceSlice[];
  /** The knowledge of the reader about the source of each slice. */
  readonly known: ReadonlyMap<SourceSlice, SourceKnowledge>;
  /** Sources that the reader knows and that are incomplete now. */
  readonly incomplete: readonly IncompleteSource[];
}

/** A source whose mirror has no complete list now. The changes that the reader has missed are not known yet. */
export interface IncompleteSource {
  readonly source: ViewSource;
  readonly known: SourceKnowledge;
  /** The knowledge of readers in step. */
  readonly goal: SourceKnowledge;
}

interface ResumedView {
  /** The `WatchScope.digest` of the view. */
  readonly scope: string;
  readonly kinds: readonly ModelKind[];
  readonly sources: ReadonlyMap<string, ViewSource>;
}

/**
 * Returns what the view has to send to a reader with this cursor. Call it right after a cut.
 *
 * If the cursor was made with other rights (another `WatchScope`), the reader may have other objects, so its positions count as void. Its
 * positions in sources that are not in this view are then ignored, because their clusters may be hidden from the reader. With the same rights,
 * a source that is not in this view has left, and the reader receives `GONE` for it.
 */
export function sliceForResume({ scope, kinds, sources }: ResumedView, cursor: StreamCursor): Resumption {
  const known = new Map<SourceSlice, SourceKnowledge>();
  const incomplete: IncompleteSource[] = [];
  const add = (slice: SourceSlice | undefined, position: SourcePosition | undefined): void => {
    if (slice !== undefined) known.set(slice, position === undefined ? nothingKnown : { position, fault: undefined });
  };
  for (const [key, source] of sources) {
    const sent = cursor.isUnreadable === true ? voidPosition : cursor.positions.get(key);
    const position = sent === undefined || cursor.scope === scope ? sent : voidPosition;
    if (position === undefined) add(source.wholeSlice(), undefined);
    else {
      const slice = missedOf(source, position);
      add(slice, position);
      if (slice === undefined) incomplete.push({ source, known: { position, fault: undefined }, goal: source.known });
    }
  }
  if (cursor.scope === scope || cursor.isUnreadable === true)
    for (const [key, position] of cursor.positions) if (!sources.has(key)) add(voidOf(key, kinds), position);
  return { slices: [...known.keys()], known, incomplete };
}

/**
 * Returns what a reader that is up to date with the old view has to receive from the new view. A source with the same visibility in both
 * views has no changes. Call it right after a cut of both views.
 */
export function slicesBetweenViews(from: ReadonlyMap<string, ViewSource>, to: ReadonlyMap<string, ViewSource>): readonly SourceSlice[] {
  return [...to.values()].map((source) => {
    const old = from.get(source.key);
    const isSame = old !== undefined && compareVisibility(visibilityOf(old), visibilityOf(source)) === 'same';
    const { after = source.known, news = { type: 'changed', batches: [] } } = (isSame ? undefined : source.wholeSlice()) ?? {};
    return { source, before: old?.known ?? nothingKnown, after, news };
  });
}

function visibilityOf({ visibility }: ViewSource): Visibility {
  return 'code' in visibility ? { type: 'none', fault: visibility } : visibility;
}

/**
 * Returns what a reader at this position has missed in a source. Undefined if the source is incomplete, so that the missed changes are not
 * known yet.
 */
function missedOf(source: ViewSource, position: SourcePosition): SourceSlice | undefined {
  const fault = source.voidFault;
  if (fault === undefined) return source.sliceSince(position);
  return { source, before: nothingKnown, after: source.known, news: { type: 'gone', fault } };
}

function voidOf(key: string, kinds: readonly ModelKind[]): SourceSlice | undefined {
  const name = parseSourceKey(key);
  const kind = kinds.find((one) => keyOfKind(one) === name?.kind);
  if (name === undefined || kind === undefined) return undefined;
  const cluster = unknownCluster(name.cluster);
  return {
    source: strangerOf(key, cluster, kind),
    before: nothingKnown,
    after: nothingKnown,
    news: { type: 'gone', fault: readFault({ cluster, kind }, 'GONE') },
  };
}

/** Returns a source that the cursor has and the view does not have. */
function strangerOf(key: string, cluster: ClusterView, kind: ModelKind): MessageSource {
  return {
    key,
    cluster,
    kind,
    meanBytes: 0,
    rowMaker: () => () => {
      throw new Error('a cluster that has left has no rows');
    },
    refreshCluster: () => undefined,
  };
}
