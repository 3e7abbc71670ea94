import type { LiveRequest } from '../cluster/cluster-api.ts';
import type { Model } from '../model/model.ts';

/** The verb and the resource of a request to a cluster, for its span. */
export interface UpstreamCall {
  /** The verb as RBAC rules name it. For a path without a resource, such as `/version`: the HTTP method in lower case. */
  readonly verb: string;
  /** The API group of the resource. Empty for the core group and for a path without a resource. */
  readonly group: string;
  /** The plural of the resource, such as `pods`. Empty for a path without a resource. */
  readonly plural: string;
}

/** The call that reads a log. */
export const callOfLog: UpstreamCall = { verb: 'get', group: '', plural: 'pods' };

/**
 * Returns the verb and the resource of a request, from its method and path. Source of the verbs: the page "Authorization" of Kubernetes, section
 * "Determine the request verb".
 */
export function callOfRequest({ method, path }: Pick<LiveRequest, 'method' | 'path'>): UpstreamCall {
  const resource = resourceIn(path);
  if (resource === undefined) return { verb: method.toLowerCase(), group: '', plural: '' };
  const { name, ...rest } = resource;
  return { verb: verbOf(method, name), ...rest };
}

function verbOf(method: LiveRequest['method'], name: string | undefined): string {
  switch (method) {
    case 'GET':
      return name === undefined ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === undefined ? 'deletecollection' : 'delete';
  }
}

/** Returns the resource in a path such as `/apis/apps/v1/namespaces/shop/deployments/web`. Undefined for a path without one. */
function resourceIn([root, ...path]: readonly string[]) {
  if (root !== 'api' && root !== 'apis') return undefined;
  const [group, [, ...rest]] = root === 'api' ? ['', path] : [path[0] ?? '', path.slice(1)];
  // `/namespaces/shop` is the Namespace itself; `/namespaces/shop/pods` is a resource in it.
  const [plural, name] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  return plural === undefined ? undefined : { group, plural, name };
}

/**
 * Returns a function that finds the name of a kind, such as `Deployment.apps`, by its group and plural. It returns undefined for kinds that
 * the model does not have.
 */
export function kindFinder(model: () => Model | undefined): (group: string, plural: string) => string | undefined {
  const names = new WeakMap<Model, ReadonlyMap<string, string>>();
  return (group, plural) => {
    const current = model();
    if (current === undefined) return undefined;
    const known = names.get(current) ?? new Map([...current.kinds].map(([key, kind]) => [`${kind.plural}.${kind.group}`, key]));
    names.set(current, known);
    return known.get(`${plural}.${group}`);
  };
}
