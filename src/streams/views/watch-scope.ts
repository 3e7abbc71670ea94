import { createHash } from 'node:crypto';
import type { Access, AccessRequest, Caller, Visibility } from '../../access/access.ts';
import { fault } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { allPromiseOrValues, mapPromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { ModelKind } from '../../model/model.ts';
import { sourceKey } from '../messages/stream-cursor.ts';

/** The rights of one caller to watch the requested clusters and kinds. Callers with equal scopes get the same messages. */
export interface WatchScope {
  /** A text that is equal for equal scopes only. */
  readonly digest: string;
  /**
   * Returns what the caller may watch of the kind in the cluster. Undefined for a cluster that is hidden from the caller, or that was no
   * member when the scope was made.
   */
  visibilityOf(cluster: ClusterName, kind: ModelKind): Visibility | undefined;
  /** True if the caller may watch nothing in any cluster. */
  readonly isEmpty: boolean;
}

interface RequestedScope {
  readonly caller: Caller;
  /** Requested clusters that are visible to the caller. */
  readonly clusters: readonly ClusterName[];
  readonly kinds: readonly ModelKind[];
  /** The namespaces that the query names. Default: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** True if other requested clusters are hidden from the caller. */
  readonly hidden: boolean;
}

/**
 * Returns what the caller may both list and watch, for each kind in each cluster. The first state needs `list`, later changes need `watch`.
 * No promise if `access` answers at once.
 */
export function watchScopeOf(access: Access, requested: RequestedScope, signal: AbortSignal): WatchScope | Promise<WatchScope> {
  const { caller, clusters, kinds, namespaces } = requested;
  const answers = clusters.flatMap((cluster) =>
    kinds.map((kind) => watchVisibility(access, { caller, cluster, kind, namespaces }, signal)),
  );
  if (answers.some((answer) => answer instanceof Promise))
    return Promise.all(answers).then((visibilities) => createScope(requested, visibilities));
  return createScope(requested, answers as readonly Visibility[]);
}

/** Returns what the caller may both list and watch of one kind in one cluster. */
export function watchVisibility(
  access: Access,
  requested: Pick<AccessRequest, 'caller' | 'cluster' | 'kind' | 'namespaces'>,
  signal: AbortSignal,
): Visibility | Promise<Visibility> {
  const listed = access.visibilityOf({ ...requested, verb: 'list' }, signal);
  const watched = access.visibilityOf({ ...requested, verb: 'watch' }, signal);
  return mapPromiseOrValue(allPromiseOrValues([listed, watched]), ([a = everything, b = everything]) => {
    const both = intersect(a, b);
    // Without named namespaces, an empty set means that the caller may nowhere both list and watch.
    return both.type === 'namespaces' && both.namespaces.size === 0 && requested.namespaces === undefined ? nowhere(requested) : both;
  });
}

function nowhere({ cluster, kind: { group, kind } }: Pick<AccessRequest, 'cluster' | 'kind'>): Visibility {
  const message = `${keyOfKind({ group, kind })}: the caller may not both list and watch this kind in any namespace of the cluster`;
  return { type: 'none', fault: fault('FORBIDDEN', message, { cluster, kind: { group, kind }, retry: 'NEVER' }) };
}

/** Compares two visibilities. `less` if anything that was visible no longer is. */
export function compareVisibility(before: Visibility | undefined, now: Visibility | undefined): 'same' | 'more' | 'less' {
  const had = before?.type ?? 'none';
  const has = now?.type ?? 'none';
  if (had === 'none') return has === 'none' ? 'same' : 'more';
  if (has === 'all') return had === 'all' ? 'same' : 'more';
  if (before?.type !== 'namespaces' || now?.type !== 'namespaces') return 'less';
  if (!before.namespaces.isSubsetOf(now.namespaces)) return 'less';
  return before.namespaces.size === now.namespaces.size ? 'same' : 'more';
}

const everything: Visibility = { type: 'all' };

function createScope({ hidden, clusters, kinds }: RequestedScope, visibilities: readonly Visibility[]): WatchScope {
  // A caller that may see everything has one scope for all clusters, also for those that join later. So the scope of such a caller does not
  // change with the fleet.
  if (!hidden && visibilities.every(({ type }) => type === 'all')) return { digest: 'all', isEmpty: false, visibilityOf: () => everything };
  const keys = clusters.flatMap((cluster) => kinds.map((kind) => sourceKey(cluster, kind)));
  const byKey = new Map(keys.map((key, index) => [key, visibilities[index]]));
  return {
    digest: digestOf(byKey),
    isEmpty: visibilities.every(({ type }) => type === 'none'),
    visibilityOf: (cluster, kind) => byKey.get(sourceKey(cluster, kind)),
  };
}

function digestOf(visibilities: ReadonlyMap<string, Visibility | undefined>): string {
  const hash = createHash('sha256');
  for (const key of [...visibilities.keys()].sort()) hash.update(JSON.stringify([key, ...visibilityParts(visibilities.get(key))]));
  return hash.digest('base64url').slice(0, 16);
}

function visibilityParts(visibility: Visibility | undefined): readonly (string | readonly string[])[] {
  if (visibility?.type === 'namespaces') return ['namespaces', [...visibility.namespaces].sort()];
  return visibility?.type === 'none' ? ['none', visibility.fault.code, visibility.fault.message] : ['all'];
}

function intersect(a: Visibility, b: Visibility): Visibility {
  if (a.type === 'none' || b.type === 'all') return a;
  if (b.type === 'none' || a.type === 'all') return b;
  return { type: 'namespaces', namespaces: a.namespaces.intersection(b.namespaces), fault: a.fault ?? b.fault };
}
