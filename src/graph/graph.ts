import { type GraphQLSchema, validateSchema } from 'graphql';
import type { Model } from '../model/model.ts';
import { addAggregates } from './aggregates.ts';
import { createGraphBuilder } from './builder.ts';
import { addChanges } from './changes.ts';
import { addChanging } from './changing.ts';
import { addClusters } from './clusters.ts';
import { addColumns } from './columns.ts';
import { addConnections, addKindConnections } from './connections.ts';
import { addFaults } from './faults.ts';
import { addGateway } from './gateway.ts';
import { addGenerated } from './generated.ts';
import { addJobs } from './jobs.ts';
import { addKinds } from './kinds.ts';
import { addLogs } from './logs.ts';
import { addPropagation } from './propagation/propagation-root.ts';
import { addQueryInputs } from './query-inputs.ts';
import { addRelations } from './relations/add-relations.ts';
import { addResource } from './resource.ts';
import { addRoot } from './root.ts';
import { addSubscription } from './subscription.ts';
import { addSync } from './sync.ts';

/**
 * The schema of these kinds, in the order of the model. Its resolvers need a `GraphContext`; those below the root fields return values, never
 * promises, but for `Pod.logs`, and relations to what has to be waited for.
 *
 * @throws {Error} if the model makes no valid schema: which types or fields are at fault.
 */
export function buildGraph(model: Model): GraphQLSchema {
  const builder = createGraphBuilder(model);
  addFaults(builder);
  addKinds(builder);
  addSync(builder);
  addClusters(builder);
  addGateway(builder);
  addResource(builder);
  addQueryInputs(builder);
  addGenerated(builder);
  addAggregates(builder);
  const connections = { any: addConnections(builder), ofKinds: addKindConnections(builder) };
  addRoot(builder, connections);
  addRelations(builder, connections);
  addSubscription(builder, addChanges(builder));
  const enums = addColumns(builder);
  addJobs(builder, { enums, ...addPropagation(builder, addChanging(builder), connections.ofKinds.get('Job')) });
  addLogs(builder);
  const schema = builder.pothos.toSchema({ sortSchema: false });
  const errors = validateSchema(schema);
  if (errors.length > 0) throw new Error(`the model makes no valid schema: ${errors.map(({ message }) => message).join('; ')}`);
  return schema;
}
