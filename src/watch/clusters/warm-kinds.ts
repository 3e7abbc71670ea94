import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';

function warm(resource: Pick<ServedResource, 'group' | 'kind' | 'version' | 'resource' | 'singular'>): ServedResource {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  return { ...resource, versions: [resource.version], namespaced: false, verbs, shortNames: [], categories: [] };
}

/**
 * Kinds that every cluster needs (docs/internals/mirror.md 5). They are mirrored from the start, without waiting for discovery, and never
 * evicted.
 */
const warmKinds: readonly ServedResource[] = [
  warm({ group: '', kind: 'Namespace', version: 'v1', resource: 'namespaces', singular: 'namespace' }),
  warm({ group: '', kind: 'Node', version: 'v1', resource: 'nodes', singular: 'node' }),
  warm({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    version: 'v1',
    resource: 'customresourcedefinitions',
    singular: 'customresourcedefinition',
  }),
];

/** The `keyOfKind` of each warm kind. */
export const warmKeys: readonly string[] = warmKinds.map(keyOfKind);

/** The kind of namespaces. Their names are needed for kinds that may be listed in some namespaces only. */
export const namespaceKind: GroupKind = { group: '', kind: 'Namespace' };

/** The kind of definitions of custom kinds. A change of a definition adds or removes a kind. */
export const crdKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** The kind of services of aggregated APIs. It is mirrored once discovery reports the kind, and no other mirror waits for it. */
export const apiServiceKind: GroupKind = { group: 'apiregistration.k8s.io', kind: 'APIService' };

/** The kinds that are never evicted, by `keyOfKind`. */
export const neverEvictedKinds: ReadonlySet<string> = new Set([...warmKeys, keyOfKind(apiServiceKind)]);

/** The kinds of a cluster with `reads: 'live'` that the gateway mirrors for itself, by `keyOfKind`: for the schema, and to propose namespaces. */
export const ownKinds: ReadonlySet<string> = new Set([
  ...[namespaceKind, crdKind, apiServiceKind].map(keyOfKind),
  ...['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map((kind) => keyOfKind({ group: 'rbac.authorization.k8s.io', kind })),
]);

/** Returns the warm kinds of a cluster. One with `reads: 'live'` has only those that the gateway mirrors for itself. */
export function warmKindsOf({ reads }: { readonly reads?: 'mirrored' | 'live' | undefined }): readonly ServedResource[] {
  return reads === 'live' ? warmKinds.filter((kind) => ownKinds.has(keyOfKind(kind))) : warmKinds;
}
