import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import type { Json } from '../../core/json.ts';
import { clusterName } from '../../core/names.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import { health as healthDefinition } from '../../propagate/model/inventory-definition.ts';
import type { AggregatedStatus, CompletionStatus, PropagationRevision, RolloutProgress } from '../../propagate/model/propagation.ts';
import { completion, progress } from '../../propagate/model/status-definition.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { resolveChargedList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { clusterNamed, namedCluster } from '../fleet/faults.ts';
import type { MutationTypes } from '../objects/object-mutations.ts';
import type { DefinedTypes } from './defined-types.ts';

/** A revision, with its spec in the form of a `PropagationInput`. */
export interface RevisionView extends PropagationRevision {
  readonly input: Json;
}

interface AggregateUsing {
  readonly changing: MutationTypes;
  readonly defined: DefinedTypes;
}

/** Returns the cluster with a name from a status. The cluster may have left the fleet. */
export function clusterViewOf(name: string, context: GraphContext): ClusterView {
  return clusterNamed(clusterName(name), context);
}

/** Adds `AggregatedStatus`. */
export function addAggregate({ pothos, types }: GraphBuilder, { changing, defined }: AggregateUsing): ObjectRefOf<AggregatedStatus> {
  const condition = pothos.objectRef<AggregatedStatus['conditions'][number]>('ClusterCondition').implement({
    description: 'A condition of a copy in one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster of the copy.', resolve: namedCluster }),
      condition: t.field({
        type: 'JSON',
        nullable: false,
        description: 'The condition as the copy has it.',
        resolve: (of) => of.condition as never,
      }),
    }),
  });
  return pothos.objectRef<AggregatedStatus>('AggregatedStatus').implement({
    description: 'The status of one object of the template over all clusters.',
    fields: (t) => ({
      key: t.field({ type: changing.objectKey, nullable: false, description: 'The identity of the object.', resolve: ({ key }) => key }),
      status: t.field({
        type: 'JSON',
        nullable: false,
        description: 'The status that one object would have: counts are summed over all clusters.',
        resolve: ({ status }) => status,
      }),
      observed: t.exposeBoolean('observed', {
        nullable: false,
        description: 'True if `status` counts the copy of every cluster. False: the current state of at least one copy is unknown.',
      }),
      health: t.field({
        type: defined.enum(healthDefinition),
        nullable: false,
        description: 'The health of the copies.',
        resolve: ({ health }) => schemaSpelling(health),
      }),
      conditions: t.field({
        type: [condition],
        nullable: false,
        description: 'The conditions of the copies.',
        resolve: resolveChargedList('conditions'),
      }),
    }),
  });
}

/** Adds `RolloutProgress`. */
export function addProgress({ pothos }: GraphBuilder, defined: DefinedTypes): ObjectRefOf<RolloutProgress> {
  return pothos.objectRef<RolloutProgress>('RolloutProgress').implement({
    description: 'The progress of a rollout.',
    fields: (t) => ({ ...defined.fields(t, progress, { of: (source) => source }) }),
  });
}

/** Adds `Completion`. */
export function addCompletion({ pothos }: GraphBuilder, defined: DefinedTypes): ObjectRefOf<CompletionStatus> {
  return pothos.objectRef<CompletionStatus>('Completion').implement({
    description: 'Whether Jobs in many clusters count as done.',
    fields: (t) => ({ ...defined.fields(t, completion, { of: (source) => source }) }),
  });
}

/** Adds `PropagationRevision`. */
export function addRevision({ pothos }: GraphBuilder): ObjectRefOf<RevisionView> {
  return pothos.objectRef<RevisionView>('PropagationRevision').implement({
    description: 'A spec that a Propagation had, with its number and plan.',
    fields: (t) => ({
      revision: t.exposeInt('revision', { nullable: false, description: 'The number of the revision.' }),
      createdAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'The time at which the revision was created.',
        resolve: ({ createdAt }) => createdAt,
      }),
      requester: t.exposeString('requester', { description: 'The user who requested the revision. Null if it is unknown.' }),
      digest: t.exposeString('digest', { nullable: false, description: 'The digest of the plan of the revision.' }),
      spec: t.field({
        type: 'JSON',
        nullable: false,
        description: 'The spec of the revision, in the form of a `PropagationInput`.',
        resolve: ({ input }) => input as never,
      }),
    }),
  });
}
