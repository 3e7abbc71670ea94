import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { RequestedResource, SimVerb } from '../kinds/embedded-cluster.ts';
import type { KindStorage } from '../state/kind-storage.ts';
import type { SimState } from '../state/sim-state.ts';

/** The target of a request, as its method and path name it. */
export type RequestTarget =
  | ResourceTarget
  | { readonly type: 'version' | 'health' }
  /** `/api`, `/apis`, `/apis/GROUP`, `/api/v1` and `/apis/GROUP/VERSION`. */
  | { readonly type: 'discovery'; readonly group?: string; readonly version?: string; readonly root: 'api' | 'apis' }
  /** An API path that is not served. The answer is a Status. */
  | { readonly type: 'notServed'; readonly group: string }
  | { readonly type: 'methodNotAllowed' }
  /** A path outside the API, or of an unknown group. The answer is text. */
  | { readonly type: 'unknown'; readonly group?: string };

export interface ResourceTarget {
  readonly type: 'resource';
  readonly storage: KindStorage;
  readonly resource: RequestedResource;
}

/** Parses the method and path of a request. */
export function parseRequestTarget(state: SimState, method: string, path: string, query: URLSearchParams): RequestTarget {
  if (path === '/version' || path === '/version/') return method === 'GET' ? { type: 'version' } : { type: 'methodNotAllowed' };
  if (/^\/(livez|readyz|healthz)(\/|$)/.test(path)) return { type: 'health' };
  const segments = segmentsOf(path);
  const [root, ...rest] = segments;
  if (root === 'api') return readGroup(state, { method, query, root, group: '', rest });
  if (root !== 'apis') return { type: 'unknown' };
  const [group, ...below] = rest;
  if (group === undefined) return { type: 'discovery', root };
  return readGroup(state, { method, query, root, group, rest: below });
}

interface GroupRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly root: 'api' | 'apis';
  readonly group: string;
  readonly rest: readonly string[];
}

function readGroup(state: SimState, request: GroupRequest): RequestTarget {
  const { root, group, rest } = request;
  const storages = state.storages().filter(({ kind }) => kind.group === group);
  if (storages.length === 0) return { type: 'unknown', group };
  const [version, ...below] = rest;
  if (version === undefined) return root === 'api' ? { type: 'discovery', root } : { type: 'discovery', root, group };
  const served = storages.filter(({ kind }) => kind.versions.includes(version));
  const absent: RequestTarget = storages.every(({ kind }) => kind.source === 'custom')
    ? { type: 'unknown', group }
    : { type: 'notServed', group };
  if (served.length === 0) return absent;
  if (below.length === 0) return { type: 'discovery', root, group, version };
  return readResource(served, { ...request, version, below }) ?? absent;
}

function readResource(
  storages: readonly KindStorage[],
  { method, query, group, version, below }: GroupRequest & { readonly version: string; readonly below: readonly string[] },
): RequestTarget | undefined {
  const watched = below[0] === 'watch' && below.length > 1;
  const path = watched ? below.slice(1) : below;
  // `namespaces/NAME` and its subresources mean the namespace itself. A longer path means a resource in it.
  const within = path[0] === 'namespaces' && path.length > 2 && !['status', 'finalize'].includes(path[2] ?? '');
  const namespace = within ? path[1] : undefined;
  const [resource = '', name, subresource, ...more] = within ? path.slice(2) : path;
  const storage = storages.find(({ kind }) => kind.resource === resource);
  if (storage === undefined || more.length > 0) return undefined;
  const { kind } = storage;
  if (kind.namespaced ? namespace === undefined && name !== undefined : namespace !== undefined) return methodOnly(kind, method, name);
  const isLog = subresource === 'log' && kind.group === '' && kind.resource === 'pods';
  if (isLog && method !== 'GET') return { type: 'methodNotAllowed' };
  const isPart = (subresource === 'status' && kind.hasStatus) || (subresource === 'scale' && kind.scale !== undefined);
  if (subresource !== undefined && !isLog && !isPart) return undefined;
  if (isPart && (method === 'DELETE' || method === 'POST')) return { type: 'methodNotAllowed' };
  const verb = verbOf(method, { named: name !== undefined, watch: watched || isTrueParameter(query.get('watch')) });
  // No path exists for DELETE or POST over all namespaces.
  const nowhere = kind.namespaced && namespace === undefined && (verb === 'create' || verb === 'deletecollection');
  if (verb === undefined || nowhere) return { type: 'methodNotAllowed' };
  return { type: 'resource', storage, resource: requested({ verb, group, version, resource, namespace, name, subresource }) };
}

function methodOnly(kind: SimKind, method: string, name: string | undefined): RequestTarget | undefined {
  return kind.namespaced && name !== undefined && method !== 'GET' ? { type: 'methodNotAllowed' } : undefined;
}

function requested(resource: { readonly [Key in keyof RequestedResource]: RequestedResource[Key] | undefined }): RequestedResource {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined)) as unknown as RequestedResource;
}

function verbOf(method: string, { named, watch }: { readonly named: boolean; readonly watch: boolean }): SimVerb | undefined {
  if (named) return ({ GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const)[method];
  if (method === 'GET') return watch ? 'watch' : 'list';
  return ({ POST: 'create', DELETE: 'deletecollection' } as const)[method];
}

/** Parses a boolean of a query as Kubernetes does: any value except empty, `0` and `false` is true. */
export function isTrueParameter(value: string | null): boolean {
  return value !== null && value !== '' && value !== '0' && value !== 'false';
}

function segmentsOf(path: string): readonly string[] {
  const parts = path.slice(1).split('/');
  if (parts.at(-1) === '') parts.pop();
  try {
    return parts.map((part) => decodeURIComponent(part));
  } catch {
    return [];
  }
}
