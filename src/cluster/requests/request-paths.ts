import type { ServedResource } from '../../core/kinds.ts';
import type { ListPageRequest, ObjectForm, WatchRequest } from '../cluster-api.ts';

/**
 * Builds a request path such as `/api/v1/namespaces/default/pods`. Each segment is encoded, so no name can leave its segment.
 *
 * Undefined if a segment is empty, `.` or `..`. No Kubernetes name is one of these, and URL parsers would resolve `.` and `..` even if
 * they are encoded.
 */
export function requestPath(segments: readonly string[]): string | undefined {
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return undefined;
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/** Builds the path of a kind's collection, in one namespace or in all. Undefined if a segment is not allowed. */
export function collectionPath(
  { group, version, resource, namespaced }: ServedResource,
  namespace: string | undefined,
): string | undefined {
  const base = group === '' ? ['api', version] : ['apis', group, version];
  const within = namespaced && namespace !== undefined ? ['namespaces', namespace] : [];
  return requestPath([...base, ...within, resource]);
}

/** Builds the query of one page. A page with `continue` has only the token and the limit: with a version, the server answers 400. */
export function listQuery({ version, limit, continue: token }: ListPageRequest): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (token !== undefined) query.set('continue', token);
  else if (version !== undefined && version !== '') {
    query.set('resourceVersion', version);
    if (version !== '0') query.set('resourceVersionMatch', 'NotOlderThan');
  }
  return queryText(query);
}

/**
 * Builds the query of a watch. It always requests bookmarks: without them, a restart of the API server makes a kind with few changes
 * relist.
 */
export function watchQuery({ version, initialEvents, timeoutSeconds }: WatchRequest): string {
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

/**
 * Returns the `Accept` header for objects of this form. For metadata it allows nothing else: an answer of 406 is better than whole
 * objects.
 */
export function acceptHeader(form: ObjectForm, verb: 'list' | 'watch'): string {
  if (form === 'object') return 'application/json';
  return `application/json;as=PartialObjectMetadata${verb === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`;
}
