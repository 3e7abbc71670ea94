import type { Json } from '../../core/json.ts';
import { clusterName } from '../../core/names.ts';
import type { ClusterView } from '../../load/reads.ts';
import type { AggregatedStatus, CompletionStatus, PropagationRevision, RolloutProgress } from '../../propagate/propagation.ts';
import { health as healthDefinition } from '../../propagate/spec/inventory.ts';
import { completion, progress } from '../../propagate/spec/status.ts';
import { schemaSpelling } from '../../propagate/spelling.ts';
import { chargedList } from '../budget.ts';
import type { GraphBuilder, ObjectRefOf } from '../builder.ts';
import type { Changing } from '../changing.ts';
import type { GraphContext } from '../context.ts';
import { clusterNamed, namedCluster } from '../faults.ts';
import type { DefinedTypes } from './defined-types.ts';

/** A revision, with what was asked for as the schema has it. */
export interface RevisionView extends PropagationRevision {
  readonly input: Json;
}

interface AggregateUsing {
  readonly changing: Changing;
  readonly defined: DefinedTypes;
}

/** A cluster by the name that stands in a document: it may have left. */
export function viewOf(name: string, context: GraphContext): ClusterView {
  return clusterNamed(clusterName(name), context);
}

/** Adds `AggregatedStatus`. */
export function addAggregate({ pothos, types }: GraphBuilder, { changing, defined }: AggregateUsing): ObjectRefOf<AggregatedStatus> {
  const condition = pothos.objectRef<AggregatedStatus['conditions'][number]>('ClusterCondition').implement({
    description: 'A condition of a copy.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'Where.', resolve: namedCluster }),
      condition: t.field({ type: 'JSON', nullable: false, description: 'As the copy has it.', resolve: (of) => of.condition as never }),
    }),
  });
  return pothos.objectRef<AggregatedStatus>('AggregatedStatus').implement({
    description: 'The status of one object of the template over all clusters.',
    fields: (t) => ({
      key: t.field({ type: changing.objectKey, nullable: false, description: 'The object.', resolve: ({ key }) => key }),
      status: t.field({
        type: 'JSON',
        nullable: false,
        description: 'As one object would have it: counts are sums.',
        resolve: ({ status }) => status,
      }),
      observed: t.exposeBoolean('observed', { nullable: false, description: 'All copies are counted, and none is stale.' }),
      health: t.field({
        type: defined.enum(healthDefinition),
        nullable: false,
        description: 'How its copies do.',
        resolve: ({ health }) => schemaSpelling(health),
      }),
      conditions: t.field({
        type: [condition],
        nullable: false,
        description: 'The conditions of the copies.',
        resolve: chargedList('conditions'),
      }),
    }),
  });
}

/** Adds `RolloutProgress`. */
export function addProgress({ pothos }: GraphBuilder, defined: DefinedTypes): ObjectRefOf<RolloutProgress> {
  return pothos.objectRef<RolloutProgress>('RolloutProgress').implement({
    description: 'How far a rollout is.',
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
    description: 'What a propagation was.',
    fields: (t) => ({
      revision: t.exposeInt('revision', { nullable: false, description: 'Its number.' }),
      createdAt: t.field({ type: 'DateTime', nullable: false, description: 'When it was new.', resolve: ({ createdAt }) => createdAt }),
      requester: t.exposeString('requester', { description: 'Who asked for it.' }),
      digest: t.exposeString('digest', { nullable: false, description: 'Of its plan.' }),
      spec: t.field({
        type: 'JSON',
        nullable: false,
        description: 'What was asked for: a `PropagationInput`.',
        resolve: ({ input }) => input as never,
      }),
    }),
  });
}
