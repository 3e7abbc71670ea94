import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';

function warm(resource: Pick<ServedResource, 'group' | 'kind' | 'version' | 'resource' | 'singular'>): ServedResource {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  return { ...resource, versions: [resource.version], namespaced: false, verbs, shortNames: [], categories: [] };
}

/**
 * Kinds that every cluster needs (docs/internals/mirror.md 5). They are mirrored from the start, without waiting for discovery, and never
 * evicted.
 */
export const warmKinds: readonly ServedResource[] = [
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

/** The names of namespaces, for kinds that may be listed in some namespaces only. */
export const namespaceKind: GroupKind = { group: '', kind: 'Namespace' };

/** The definitions of custom kinds. A change of them adds or removes kinds. */
export const crdKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** The services of aggregated APIs. Mirrored once discovery reports the kind; nothing waits for it. */
export const apiServiceKind: GroupKind = { group: 'apiregistration.k8s.io', kind: 'APIService' };

/** The kinds that are never evicted, by `keyOfKind`. */
export const neverEvictedKinds: ReadonlySet<string> = new Set([...warmKinds.map(keyOfKind), keyOfKind(apiServiceKind)]);
