import { structureSchema } from '../../core/json/documents.ts';
import { type CustomResource, customResourceDefinitionOf } from '../../propagate/hub/custom-resource.ts';
import { migrationSpec } from '../model/migration-spec-definition.ts';
import { migrationStatus } from '../model/migration-status-definition.ts';

/** The kind `Migration`, which Muster keeps on the hub. */
export const migrationResource: CustomResource = {
  kind: 'Migration',
  plural: 'migrations',
  shortNames: ['mig'],
  categories: ['muster', 'all'],
  hasStatus: true,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'From', type: 'string', jsonPath: '.spec.from' },
    { name: 'To', type: 'string', jsonPath: '.spec.to' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  content: structureSchema({
    spec: migrationSpec.describe('The applications to move, the two clusters, and how to move.'),
    status: migrationStatus.exactOptional().describe('The step of each application, and what its undo needs.'),
  }).describe('One move of applications from one cluster to another. It can be undone as long as it exists.'),
};

/** Returns the CustomResourceDefinition of `Migration`. `deploy/crds/migrations.yaml` contains it. */
export function migrationDefinition() {
  return customResourceDefinitionOf(migrationResource);
}
