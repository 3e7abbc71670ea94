import type { GraphQLSchema } from 'graphql';
import { runAtOnce, type Steps } from '../core/scheduling/operation-scheduler.ts';
import type { Model } from '../model/model.ts';
import { addAggregates } from './aggregates.ts';
import { createGraphBuilder } from './builder.ts';
import { addChanges } from './changes.ts';
import { addChanging } from './changing.ts';
import { addClusters, addGateway } from './clusters.ts';
import { addColumns } from './columns.ts';
import { addConnections, addKindConnections } from './connections.ts';
import { addFaults } from './faults.ts';
import { addGenerated } from './generated.ts';
import { addJobs } from './jobs.ts';
import { addKinds } from './kinds.ts';
import { addLogs } from './logs.ts';
import { addPropagation } from './propagation/propagation-root.ts';
import { addQueryInputs } from './query-inputs.ts';
import { addRelations } from './relations/add-relations.ts';
import { addResource } from './resource.ts';
import { addRoot } from './root.ts';
import { schemaInSteps } from './schema-in-steps.ts';
import { addSubscription } from './subscription.ts';
import { addSync } from './sync.ts';

/**
 * The schema of these kinds, in the order of the model. Its resolvers need a `GraphContext`; those below the root fields return values, never
 * promises, but for `Pod.logs`, and relations to what has to be waited for.
 *
 * @throws {Error} if the model makes no valid schema: which types or fields are at fault.
 */
export function buildGraph(model: Model): GraphQLSchema {
  return runAtOnce(buildGraphInSteps(model));
}

/** As `buildGraph`, but can be interrupted. */
export function* buildGraphInSteps(model: Model): Steps<GraphQLSchema> {
  const builder = createGraphBuilder(model);
  yield;
  addFaults(builder);
  addKinds(builder);
  yield;
  addSync(builder);
  addClusters(builder);
  addGateway(builder);
  addResource(builder);
  addQueryInputs(builder);
  yield;
  addGenerated(builder);
  yield;
  addAggregates(builder);
  yield;
  const connections = { any: addConnections(builder), ofKinds: addKindConnections(builder) };
  yield;
  addRoot(builder, connections);
  yield;
  addRelations(builder, connections);
  yield;
  addSubscription(builder, addChanges(builder));
  yield;
  const enums = addColumns(builder);
  yield;
  addJobs(builder, { enums, ...addPropagation(builder, addChanging(builder), connections.ofKinds.get('Job')) });
  addLogs(builder);
  yield;
  return yield* schemaInSteps(builder);
}
