import { structureSchema } from '../../core/json/documents.ts';
import { shareContent } from '../model/inventory-definition.ts';
import { spec } from '../model/spec-definition.ts';
import { status } from '../model/status-definition.ts';
import { type CustomResource, customResourceDefinitionOf } from './custom-resource.ts';

/** The kinds that Muster keeps on the hub. */
export const hubResources: readonly CustomResource[] = [
  {
    kind: 'Propagation',
    plural: 'propagations',
    shortNames: ['prop'],
    categories: ['muster', 'all'],
    hasStatus: true,
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Desired', type: 'integer', jsonPath: '.status.desired' },
      { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
      { name: 'Done', type: 'integer', jsonPath: '.status.progress.done', description: 'Clusters that are done' },
      { name: 'Of', type: 'integer', jsonPath: '.status.progress.clusters', description: 'Clusters chosen' },
      { name: 'Unplaced', type: 'integer', jsonPath: '.status.unplaced', priority: 1 },
      { name: 'Revision', type: 'integer', jsonPath: '.status.revision', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    content: structureSchema({
      spec: spec.describe('The objects to run, the clusters that get them, and the rollout.'),
      status: status.exactOptional().describe('The state in the clusters. Copies that cannot be read count as unknown, never as ready.'),
    }).describe(
      'One intent for many clusters: the objects to run, the clusters that get them, the replicas, the differences between clusters, and the rollout.',
    ),
  },
  {
    kind: 'ClusterShare',
    plural: 'clustershares',
    shortNames: ['share'],
    categories: ['muster'],
    hasStatus: false,
    columns: [
      { name: 'Propagation', type: 'string', jsonPath: '.metadata.ownerReferences[0].name' },
      { name: 'Cluster', type: 'string', jsonPath: '.cluster' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    content: shareContent,
  },
];

/** Returns the CustomResourceDefinitions of `hubResources`. The files in `deploy/crds` contain them as YAML. */
export function hubDefinitions() {
  return hubResources.map(customResourceDefinitionOf);
}
