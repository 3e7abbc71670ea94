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

/** What somebody who resumes has to be told. */
interface Resumption {
  readonly parts: readonly SourceSlice[];
  /** What they know of the source of each. */
  readonly known: ReadonlyMap<SourceSlice, SourceKnowledge>;
  /** Of sources that they know, but that are not whole now. */
  readonly awaited: readonly IncompleteSource[];
}

/** A source of which nobody can tell now what was missed. */
export interface IncompleteSource {
  readonly source: ViewSource;
  readonly known: SourceKnowledge;
  /** What those in step know. */
  readonly goal: SourceKnowledge;
}

interface ResumedView {
  /** `WatchScope.digest`. */
  readonly scope: string;
  readonly kinds: readonly ModelKind[];
  readonly sources: ReadonlyMap<string, ViewSource>;
}

/**
 * What the view has to say to whoever knows what the cursor says. Right after a cut.
 *
 * What was known in another scope is void: it may have shown more, or less. So is what belongs to the fleet no more.
 */
export function sliceForResume({ scope, kinds, sources }: ResumedView, cursor: StreamCursor): Resumption {
  const known = new Map<SourceSlice, SourceKnowledge>();
  const awaited: IncompleteSource[] = [];
  const add = (part: SourceSlice | undefined, position: SourcePosition | undefined): void => {
    if (part !== undefined) known.set(part, position === undefined ? nothingKnown : { position, fault: undefined });
  };
  for (const [key, source] of sources) {
    const said = cursor.isUnreadable === true ? voidPosition : cursor.positions.get(key);
    const position = said === undefined || cursor.scope === scope ? said : voidPosition;
    if (position === undefined) add(source.wholeSlice(), undefined);
    else {
      const part = missedOf(source, position);
      add(part, position);
      if (part === undefined) awaited.push({ source, known: { position, fault: undefined }, goal: source.known });
    }
  }
  for (const [key, position] of cursor.positions) if (!sources.has(key)) add(voidOf(key, kinds), position);
  return { parts: [...known.keys()], known, awaited };
}

/**
 * Returns what a reader that is up to date with these sources still has to be told about the sources of another view. It is nothing for a source of
 * which both views see the same. Called right after a cut of both views.
 */
export function slicesBetweenViews(from: ReadonlyMap<string, ViewSource>, to: ReadonlyMap<string, ViewSource>): readonly SourceSlice[] {
  return [...to.values()].map((source) => {
    const old = from.get(source.key);
    const isSame = old !== undefined && compareVisibility(sightOf(old), sightOf(source)) === 'same';
    const { after = source.known, news = { type: 'changed', batches: [] } } = (isSame ? undefined : source.wholeSlice()) ?? {};
    return { source, before: old?.known ?? nothingKnown, after, news };
  });
}

function sightOf({ sight }: ViewSource): Visibility {
  return 'code' in sight ? { type: 'none', fault: sight } : sight;
}

/** Undefined where nobody can tell now. */
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

/** What a cursor knows and the view does not. */
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
