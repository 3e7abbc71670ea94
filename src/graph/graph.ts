import type { GraphQLSchema } from 'graphql';
import { runAtOnce, type Steps } from '../core/scheduling/operation-scheduler.ts';
import type { Model } from '../model/model.ts';
import { createGraphBuilder } from './builder/builder.ts';
import { addFederation } from './federation/add-federation.ts';
import { addClusters, addGateway } from './fleet/clusters.ts';
import { addFaults } from './fleet/faults.ts';
import { addKinds } from './fleet/kinds.ts';
import { addSync } from './fleet/sync.ts';
import { addMigration } from './migration/migration-root.ts';
import { addAggregates } from './objects/aggregates.ts';
import { addColumns } from './objects/columns.ts';
import { addConnections, addKindConnections } from './objects/connections.ts';
import { addGenerated } from './objects/generated.ts';
import { addObjectMutations } from './objects/object-mutations.ts';
import { addQuery } from './objects/query.ts';
import { addQueryInputs } from './objects/query-inputs.ts';
import { addResource } from './objects/resource.ts';
import { addPropagation } from './propagation/propagation-root.ts';
import { addRelations } from './relations/add-relations.ts';
import { addOwnRights } from './rights/own-rights-fields.ts';
import { schemaInSteps } from './schema-in-steps.ts';
import { addChanges } from './streams/changes.ts';
import { addJobs } from './streams/job-status.ts';
import { addLogs } from './streams/logs.ts';
import { addSubscription } from './streams/subscription.ts';

export interface GraphOptions {
  /** True: the schema is a subgraph for routers of Apollo Federation. Default: false. */
  readonly federation?: boolean;
}

/**
 * Builds the schema of these kinds, in the order of the model. Its resolvers need a `GraphContext`.
 *
 * Root fields return promises. The fields below them return values, except `Pod.logs` and relations that must wait for a mirror.
 *
 * @throws {Error} if the model makes no valid schema. The message names the types or fields.
 */
export function buildGraph(model: Model, options?: GraphOptions): GraphQLSchema {
  return runAtOnce(buildGraphInSteps(model, options));
}

/** Like `buildGraph`, but the caller can interrupt it between steps. */
export function* buildGraphInSteps(model: Model, { federation = false }: GraphOptions = {}): Steps<GraphQLSchema> {
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
  addQuery(builder, connections);
  addOwnRights(builder);
  yield;
  addRelations(builder, connections);
  yield;
  addSubscription(builder, addChanges(builder));
  yield;
  const enums = addColumns(builder);
  yield;
  const propagation = addPropagation(builder, addObjectMutations(builder), connections.ofKinds.get('Job'));
  addMigration(builder, propagation);
  addJobs(builder, { enums, ...propagation });
  addLogs(builder);
  if (federation) addFederation(builder, propagation.propagation);
  yield;
  return yield* schemaInSteps(builder);
}
