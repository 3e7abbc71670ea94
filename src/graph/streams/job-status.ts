import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Row } from '../../load/reads/reads.ts';
import { phaseOfJob } from '../../model/columns/job-phase.ts';
import type { ModelKind } from '../../model/model.ts';
import type { CompletionStatus } from '../../propagate/model/propagation.ts';
import type { PropagationName } from '../../propagate/model/propagations.ts';
import type { JobClusterCountView, JobPhaseCountView, JobStatusMessage, JobSummaryView } from '../../streams/messages/changes-message.ts';
import type { StreamArguments } from '../../streams/messages/streams.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { InputRefOf, ObjectRefOf } from '../builder/pothos.ts';
import { resolveChargedList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { volatile } from '../context/personal.ts';
import { SourceCarrier } from '../context/subscribe.ts';
import type { ColumnEnums } from '../objects/columns.ts';
import { idOf } from '../objects/resource.ts';
import { afterArgument, selectionArguments } from '../objects/selection-arguments.ts';
import { labelsOfPropagation, withCompletion } from '../propagation/job-completion.ts';
import { listed } from './changes.ts';

/** The types that the stream of Jobs refers to. */
export interface TypesOfJobs {
  /** The enums of computed columns. The stream uses `JobPhase`. */
  readonly enums: ColumnEnums;
  readonly namespacedName: InputRefOf<PropagationName>;
  readonly completion: ObjectRefOf<CompletionStatus>;
}

/** Adds `Subscription.jobStatus` with its types, if the model has Jobs. */
export function addJobs(builder: GraphBuilder, { enums, namespacedName, completion }: TypesOfJobs): void {
  const kind = builder.model.kinds.get('Job.batch');
  const job = kind && builder.kinds.get(kind.type);
  const phase = enums.get('JobPhase');
  if (kind === undefined || job === undefined || phase === undefined) return;
  const summary = addSummary(builder, { phase, completion });
  addStream(builder, kind, { state: addJobState(builder, job, phase), summary, namespacedName });
}

type PhaseRef = NonNullable<ReturnType<ColumnEnums['get']>>;

interface StatusTypes {
  readonly state: ObjectRefOf<Row>;
  readonly summary: ObjectRefOf<SummaryView>;
  readonly namespacedName: InputRefOf<PropagationName>;
}

/** A summary of Jobs. `completion` is set only for the Jobs of a Propagation. */
interface SummaryView extends JobSummaryView {
  readonly completion?: CompletionStatus;
}

function addStream({ pothos, types }: GraphBuilder, kind: ModelKind, { state, summary, namespacedName }: StatusTypes): void {
  const changes = pothos.objectRef<JobStatusMessage>('JobStatusChanges').implement({
    description: 'One message of the live status of Jobs. It is about one cluster, and has a summary of all clusters.',
    interfaces: [types.changes],
    fields: (t) => ({
      added: t.field({ type: [state], nullable: false, ...listed('added') }),
      modified: t.field({ type: [state], nullable: false, ...listed('modified') }),
      deleted: t.field({ type: [state], nullable: false, ...listed('deleted') }),
      summary: t.field({
        type: summary,
        nullable: false,
        description: 'The summary of all matching Jobs in all clusters, exact as of this message.',
        resolve: (message) => message.summary,
      }),
    }),
  });
  pothos.subscriptionField('jobStatus', (t) =>
    t.field({
      type: changes,
      nullable: false,
      description: 'The live status of Jobs in all clusters that serve them. Each message has a summary of all clusters.',
      args: {
        ...selectionArguments(t.arg, types),
        propagation: t.arg({
          type: namespacedName,
          description: 'Only the Jobs of this Propagation. The summary then has their `completion`.',
        }),
        after: afterArgument(t.arg),
      },
      subscribe: (_root, { propagation, ...args }, context): AsyncIterable<JobStatusMessage> | Promise<AsyncIterable<JobStatusMessage>> =>
        propagation === undefined || propagation === null
          ? new SourceCarrier(context.streams.jobStatus(context.read, kind, args))
          : jobsOfPropagation(propagation, { kind, args }, context),
      resolve: (message) => message,
    }),
  );
}

async function jobsOfPropagation(
  name: PropagationName,
  { kind, args }: { readonly kind: ModelKind; readonly args: StreamArguments },
  context: GraphContext,
): Promise<AsyncIterable<JobStatusMessage>> {
  const { labels, view } = await labelsOfPropagation(context, { name, labels: args.labels });
  return new SourceCarrier(withCompletion(context.streams.jobStatus(context.read, kind, { ...args, labels }), { context, view }));
}

function addJobState({ pothos, types, outputOf }: GraphBuilder, job: ObjectRefOf<Row>, phase: PhaseRef): ObjectRefOf<Row> {
  return pothos.objectRef<Row>('JobState').implement({
    description: 'The current state of one Job.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'The id of the Job.', resolve: idOf }),
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster that runs the Job.',
        resolve: ({ cluster }) => cluster,
      }),
      namespace: t.string({
        nullable: false,
        description: 'The namespace of the Job.',
        resolve: ({ object }) => object.metadata.namespace ?? '',
      }),
      name: t.string({ nullable: false, description: 'The name of the Job.', resolve: ({ object }) => object.metadata.name }),
      phase: t.field({ type: phase, nullable: false, description: 'The phase of the Job.', resolve: ({ object }) => phaseOfJob(object) }),
      active: t.int({
        nullable: false,
        description: 'The number of Pods that run or wait to run.',
        resolve: (row) => countIn(row, 'active'),
      }),
      ready: t.int({
        description: 'The number of active Pods that are ready. Null if the cluster does not report it.',
        resolve: ({ object }) => intOf(partOf(object, 'status').ready),
      }),
      succeeded: t.int({ nullable: false, description: 'The number of Pods that succeeded.', resolve: (row) => countIn(row, 'succeeded') }),
      failed: t.int({ nullable: false, description: 'The number of Pods that failed.', resolve: (row) => countIn(row, 'failed') }),
      parallelism: t.int({
        description: 'The maximum number of Pods that may run at the same time. Null if the Job does not set it.',
        resolve: ({ object }) => intOf(partOf(object, 'spec').parallelism),
      }),
      completions: t.int({
        description: 'The number of Pods that must succeed. Null if the success of any Pod completes the Job.',
        resolve: ({ object }) => intOf(partOf(object, 'spec').completions),
      }),
      startTime: t.field({
        type: 'DateTime',
        description: 'The time at which the Job started. Null if it has not started.',
        resolve: (row) => textIn(row, 'startTime'),
      }),
      completionTime: t.field({
        type: 'DateTime',
        description: 'The time at which the Job was complete. Null if it is not.',
        resolve: (row) => textIn(row, 'completionTime'),
      }),
      conditions: t.field({
        type: outputOf({ list: { type: 'JobCondition' } }),
        nullable: false,
        description: 'The conditions of the status of the Job.',
        resolve: ({ object }) => conditionsOf(object),
      }),
      job: t.field({ type: job, nullable: false, description: 'The whole Job.', resolve: (row) => row }),
    }),
  });
}

interface SummaryTypes {
  readonly phase: PhaseRef;
  readonly completion: ObjectRefOf<CompletionStatus>;
}

function addSummary({ pothos, types }: GraphBuilder, { phase, completion }: SummaryTypes): ObjectRefOf<SummaryView> {
  const phaseCount = pothos.objectRef<JobPhaseCountView>('JobPhaseCount').implement({
    description: 'The number of Jobs in one phase.',
    fields: (t) => ({
      phase: t.field({ type: phase, nullable: false, description: 'The phase.', resolve: (counted) => counted.phase }),
      count: t.exposeInt('count', { nullable: false, description: 'The number of Jobs in the phase.' }),
    }),
  });
  const clusterCount = pothos.objectRef<JobClusterCountView>('JobClusterCount').implement({
    description: 'The number of Jobs in one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster.', resolve: ({ cluster }) => cluster }),
      total: t.exposeInt('total', { nullable: false, description: 'The number of matching Jobs in the cluster.' }),
      byPhase: t.field({
        type: [phaseCount],
        nullable: false,
        description: 'The number of Jobs in each phase. Every phase has an entry, in the order of `JobPhase`.',
        resolve: resolveChargedList('byPhase'),
      }),
      sync: t.field({
        type: types.sync,
        nullable: false,
        description: 'How complete and current the Jobs of this cluster are.',
        resolve: ({ sync }) => sync,
      }),
    }),
  });
  return pothos.objectRef<SummaryView>('JobSummary').implement({
    description: 'The summary of all matching Jobs that the caller may see, in all clusters.',
    fields: (t) => ({
      total: t.exposeInt('total', { nullable: false, description: 'The number of matching Jobs.' }),
      stale: t.exposeInt('stale', {
        nullable: false,
        description: 'The number of Jobs in clusters that are not SYNCED. Their phase is the last known one.',
      }),
      byPhase: t.field({
        type: [phaseCount],
        nullable: false,
        description: 'The number of Jobs in each phase. Every phase has an entry, in the order of `JobPhase`.',
        resolve: resolveChargedList('byPhase'),
      }),
      byCluster: t.field({
        type: [clusterCount],
        nullable: false,
        description: 'The number of Jobs in each requested cluster, ordered by the name of the cluster.',
        resolve: resolveChargedList('byCluster'),
      }),
      completion: t.field({
        type: completion,
        description: 'Whether the Jobs of the Propagation count as done. Null without the argument `propagation`.',
        ...volatile,
        resolve: (summary) => summary.completion,
      }),
    }),
  });
}

function countIn({ object }: Row, name: string): number {
  return intOf(partOf(object, 'status')[name]) ?? 0;
}

function textIn({ object }: Row, name: string): string | undefined {
  const value = partOf(object, 'status')[name];
  return typeof value === 'string' ? value : undefined;
}

function conditionsOf(object: JsonObject): readonly JsonObject[] {
  const { conditions } = partOf(object, 'status');
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

function partOf(object: JsonObject, name: string): JsonObject {
  const part = object[name];
  return isJsonObject(part) ? part : {};
}

/** Returns the value if it is an `Int`, else undefined, so that one strange value does not break a message about 250 Jobs. */
function intOf(value: Json | undefined): number | undefined {
  return Number.isInteger(value) && typeof value === 'number' && Math.abs(value) < 2 ** 31 ? value : undefined;
}
