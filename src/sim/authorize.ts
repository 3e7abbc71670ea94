import type { RbacV1Subject, V1PolicyRule, V1RoleBinding } from '@kubernetes/client-node';
import type { KubernetesObject } from '../core/objects.ts';
import { itemsOf, type Stored, textsOf } from '../core/stored.ts';
import { parseSimObject, type SimObject, storageKey } from './kinds/sim-object.ts';
import type { ApiCaller } from './requests/api-caller.ts';
import type { DesiredAction, SimServer } from './requests/sim-server.ts';
import type { KindStorage } from './state/kind-storage.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/** Returns the access that a request needs. A request for a Namespace has the name of the Namespace as its namespace, as in an API server. */
function accessTo(resource: DesiredAction): DesiredAction {
  const isNamespace = resource.group === '' && resource.resource === 'namespaces' && resource.name !== undefined;
  return isNamespace ? { ...resource, namespace: resource.name } : resource;
}

/** True if the server lets the caller do this. Members of `system:masters` may do everything that no hook forbids. */
export function isAuthorized(server: SimServer, { username, groups }: ApiCaller, action: DesiredAction): boolean {
  const kind = server.state.storage(action.group, action.resource)?.kind.kind;
  if (server.hooks.isForbidden?.(username, action, kind) === true) return false;
  if (server.authorization === 'alwaysAllow' || groups.includes('system:masters')) return true;
  return isAllowedByRbac(server, { username, groups }, accessTo(action));
}

/** Decides by the Roles and bindings of the cluster, as the RBAC authorizer of Kubernetes does. */
function isAllowedByRbac(server: SimServer, caller: Pick<ApiCaller, 'username' | 'groups'>, action: DesiredAction): boolean {
  const bindings = [...objectsOf(server, 'clusterrolebindings'), ...objectsOf(server, 'rolebindings', action.namespace)];
  return bindings.some((binding) => {
    const { subjects, roleRef, metadata }: KubernetesObject & Stored<V1RoleBinding> = binding;
    const namespace = metadata.namespace ?? '';
    if (!itemsOf(subjects).some((subject) => isSubject(subject, caller, namespace))) return false;
    const isLocal = roleRef?.kind === 'Role';
    const roles = server.state.storage(rbacGroup, isLocal ? 'roles' : 'clusterroles');
    const role = roles?.get(storageKey(isLocal ? namespace : '', roleRef?.name ?? ''));
    if (roles === undefined || role === undefined) return false;
    const { rules }: KubernetesObject & { readonly rules?: Stored<V1PolicyRule[]> } = parsed(roles, role);
    return itemsOf(rules).some((rule) => isGranted(rule, action));
  });
}

/** Returns all objects of a kind, or those of one namespace. Empty if a kind with namespaces is wanted without one. */
function objectsOf(server: SimServer, resource: string, namespace?: string): readonly KubernetesObject[] {
  const storage = server.state.storage(rbacGroup, resource);
  if (storage === undefined) return [];
  const objects = storage.sorted().filter((object) => !storage.kind.namespaced || object.namespace === namespace);
  return objects.map((object) => parsed(storage, object));
}

function isSubject(
  { kind, name, namespace }: Stored<RbacV1Subject>,
  { username, groups }: Pick<ApiCaller, 'username' | 'groups'>,
  ownNamespace: string,
): boolean {
  if (kind === 'User') return name === username;
  if (kind === 'Group') return groups.includes(name ?? '');
  return kind === 'ServiceAccount' && username === `system:serviceaccount:${namespace || ownNamespace}:${name}`;
}

function isGranted({ verbs, apiGroups, resources, resourceNames }: Stored<V1PolicyRule>, action: DesiredAction): boolean {
  const { verb, group, resource, subresource, name = '' } = action;
  const has = (values: readonly string[] | null | undefined, ...wanted: string[]) =>
    textsOf(values).some((value) => value === '*' || wanted.includes(value));
  const named = textsOf(resourceNames);
  const parts = subresource === undefined ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  return has(verbs, verb) && has(apiGroups, group) && has(resources, ...parts) && (named.length === 0 || named.includes(name));
}

const cache = new WeakMap<SimObject, KubernetesObject>();

function parsed({ kind }: KindStorage, object: SimObject): KubernetesObject {
  const known = cache.get(object) ?? parseSimObject(kind, object);
  cache.set(object, known);
  return known;
}
