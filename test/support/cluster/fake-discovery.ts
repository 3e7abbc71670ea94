import type { Json } from '../../../src/core/json.ts';
import type { ServedResource } from '../../../src/core/kinds.ts';

/** Makes a kind as discovery describes it. Fields that the test does not name have plain values. */
export function servedKind(
  kind: Pick<ServedResource, 'group' | 'kind' | 'version' | 'resource'> & Partial<ServedResource>,
): ServedResource {
  return {
    versions: [kind.version],
    singular: kind.kind.toLowerCase(),
    namespaced: true,
    verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
    shortNames: [],
    categories: [],
    ...kind,
  };
}

/** Makes an aggregated discovery document (v2) of the core group or of all others. */
export function discoveryDocument(resources: readonly ServedResource[], root: 'api' | 'apis'): Json {
  const here = resources.filter(({ group }) => (group === '') === (root === 'api'));
  const groups = [...new Set(here.map(({ group }) => group))];
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: groups.map((group) => {
      const ofGroup = here.filter((resource) => resource.group === group);
      const versions = [...new Set(ofGroup.map(({ version }) => version))];
      return {
        metadata: { name: group },
        versions: versions.map((version) => ({
          version,
          freshness: 'Current',
          resources: ofGroup.filter((resource) => resource.version === version).map(describe),
        })),
      };
    }),
  };
}

function describe({ group, version, kind, resource, singular, namespaced, verbs, shortNames, categories }: ServedResource): Json {
  return {
    resource,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    shortNames,
    categories,
  };
}
