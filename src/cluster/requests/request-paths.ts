import type { ServedResource } from '../../core/kinds.ts';
import type { ListPage, ObjectForm, WatchStart } from '../cluster-api.ts';

/**
 * `/api/v1/namespaces/default/pods`: each segment encoded, so that no name can leave its place.
 *
 * Undefined if one is empty, `.` or `..`: no Kubernetes name is, and every URL parser on the way would take them for directions, encoded or not.
 */
export function pathOf(segments: readonly string[]): string | undefined {
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return undefined;
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/** The path of a kind's collection, in one namespace or in all. Undefined as above. */
export function collectionPath(
  { group, version, resource, namespaced }: ServedResource,
  namespace: string | undefined,
): string | undefined {
  const base = group === '' ? ['api', version] : ['apis', group, version];
  const within = namespaced && namespace !== undefined ? ['namespaces', namespace] : [];
  return pathOf([...base, ...within, resource]);
}

/** The query of one page. A page with `continue` carries token and limit only: with a version the server answers 400. */
export function listQuery({ version, limit, continue: token }: ListPage): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (token !== undefined) query.set('continue', token);
  else if (version !== undefined && version !== '') {
    query.set('resourceVersion', version);
    if (version !== '0') query.set('resourceVersionMatch', 'NotOlderThan');
  }
  return queryText(query);
}

/** The query of a watch. Bookmarks are always asked for: else an API server's restart costs quiet kinds a relist. */
export function watchQuery({ version, initialEvents, timeoutSeconds }: WatchStart): string {
  const query = new URLSearchParams({ watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: String(timeoutSeconds) });
  if (version !== '') query.set('resourceVersion', version);
  if (initialEvents) {
    query.set('sendInitialEvents', 'true');
    query.set('resourceVersionMatch', 'NotOlderThan');
  }
  return queryText(query);
}

export function queryText(query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** What to accept for objects of this form. Nothing beside metadata: where a server cannot give it, 406 is better than the whole objects. */
export function acceptOf(form: ObjectForm, verb: 'list' | 'watch'): string {
  if (form === 'object') return 'application/json';
  return `application/json;as=PartialObjectMetadata${verb === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`;
}
