import { createHash } from 'node:crypto';
import type { Access, Caller, Visibility } from '../../access/access.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ModelKind } from '../../model/model.ts';
import { sourceKey } from '../messages/stream-cursor.ts';

/** What one caller may watch of what a stream asks for. Callers of equal scope are given the same messages. */
export interface WatchScope {
  /** Equal for equal scopes, and only for these. */
  readonly digest: string;
  /** Undefined for a cluster that is hidden, or was not there when the scope was asked for. */
  sightOf(cluster: ClusterName, kind: ModelKind): Visibility | undefined;
  /** Nothing may be watched anywhere. */
  readonly isEmpty: boolean;
}

interface AskedScope {
  readonly caller: Caller;
  /** Those asked for that the caller may see. */
  readonly clusters: readonly ClusterName[];
  readonly kinds: readonly ModelKind[];
  /** Others were asked for too, but are hidden. */
  readonly hidden: boolean;
}

/**
 * What the caller may both list and watch, of each kind in each cluster: the first state takes the one, what follows the other. At once where
 * `access` answers at once.
 */
export function watchScopeOf(access: Access, asked: AskedScope, signal: AbortSignal): WatchScope | Promise<WatchScope> {
  const { caller, clusters, kinds } = asked;
  const answers = clusters.flatMap((cluster) => kinds.map((kind) => watchVisibility(access, { caller, cluster, kind }, signal)));
  if (answers.some((answer) => answer instanceof Promise)) return Promise.all(answers).then((sights) => createScope(asked, sights));
  return createScope(asked, answers as readonly Visibility[]);
}

/** What may be both listed and watched: the one question of `watchScopeOf`, of one kind in one cluster. */
export function watchVisibility(
  access: Access,
  asked: { readonly caller: Caller; readonly cluster: ClusterName; readonly kind: ModelKind },
  signal: AbortSignal,
): Visibility | Promise<Visibility> {
  const listed = access.visibilityOf({ ...asked, verb: 'list' }, signal);
  const watched = access.visibilityOf({ ...asked, verb: 'watch' }, signal);
  if (listed instanceof Promise || watched instanceof Promise) return Promise.all([listed, watched]).then(([a, b]) => intersect(a, b));
  return intersect(listed, watched);
}

/** What became of a right: `less` if anything that was in sight no longer is. */
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

function createScope({ hidden, clusters, kinds }: AskedScope, sights: readonly Visibility[]): WatchScope {
  // Says the same of clusters that are still to come, so that where all may see all, nobody's scope changes with the fleet.
  if (!hidden && sights.every(({ type }) => type === 'all')) return { digest: 'all', isEmpty: false, sightOf: () => everything };
  const keys = clusters.flatMap((cluster) => kinds.map((kind) => sourceKey(cluster, kind)));
  const byKey = new Map(keys.map((key, index) => [key, sights[index]]));
  return {
    digest: digestOf(byKey),
    isEmpty: sights.every(({ type }) => type === 'none'),
    sightOf: (cluster, kind) => byKey.get(sourceKey(cluster, kind)),
  };
}

function digestOf(sights: ReadonlyMap<string, Visibility | undefined>): string {
  const hash = createHash('sha256');
  for (const key of [...sights.keys()].sort()) hash.update(JSON.stringify([key, ...printSight(sights.get(key))]));
  return hash.digest('base64url').slice(0, 16);
}

function printSight(sight: Visibility | undefined): readonly (string | readonly string[])[] {
  if (sight?.type === 'namespaces') return ['namespaces', [...sight.namespaces].sort()];
  return sight?.type === 'none' ? ['none', sight.fault.code, sight.fault.message] : ['all'];
}

function intersect(a: Visibility, b: Visibility): Visibility {
  if (a.type === 'none' || b.type === 'all') return a;
  if (b.type === 'none' || a.type === 'all') return b;
  return { type: 'namespaces', namespaces: a.namespaces.intersection(b.namespaces) };
}
