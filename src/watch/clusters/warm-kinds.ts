import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';

function warm(resource: Pick<ServedResource, 'group' | 'kind' | 'version' | 'resource' | 'singular'>): ServedResource {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  return { ...resource, versions: [resource.version], namespaced: false, verbs, shortNames: [], categories: [] };
}

/** Kinds every cluster's view rests on (docs/internals/mirror.md 5): mirrored from the start, as discovery would describe them, and never evicted. */
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

/** Where namespaces are found that a narrow right may be for. */
export const namespaceKind: GroupKind = { group: '', kind: 'Namespace' };

/** What changes when kinds come and go. */
export const crdKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** What changes when aggregated APIs come and go: mirrored once discovery shows it, but nobody waits for it. */
export const apiServiceKind: GroupKind = { group: 'apiregistration.k8s.io', kind: 'APIService' };

/** Never evicted, by `keyOfKind`. */
export const neverEvictedKinds: ReadonlySet<string> = new Set([...warmKinds.map(keyOfKind), keyOfKind(apiServiceKind)]);
