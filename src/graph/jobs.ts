import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { Row } from '../load/reads.ts';
import { phaseOfJob } from '../model/columns/job-phase.ts';
import type { ModelKind } from '../model/model.ts';
import type { CompletionStatus } from '../propagate/propagation.ts';
import type { PropagationName } from '../propagate/propagations.ts';
import type { JobClusterCountView, JobPhaseCountView, JobStatusMessage, JobSummaryView } from '../streams/messages/changes-message.ts';
import type { StreamArguments } from '../streams/messages/streams.ts';
import { chargedList } from './budget.ts';
import type { GraphBuilder, InputRefOf, ObjectRefOf } from './builder.ts';
import { listed } from './changes.ts';
import type { ColumnEnums } from './columns.ts';
import type { GraphContext } from './context.ts';
import { volatile } from './personal.ts';
import { labelsOfPropagation, withCompletion } from './propagation/job-completion.ts';
import { idOf } from './resource.ts';
import { afterArgument, selectionArguments } from './selection-arguments.ts';
import { SourceCarrier } from './subscribing.ts';

/** What of others the streams of Jobs refer to. */
export interface TypesOfJobs {
  /** With `JobPhase`. */
  readonly enums: ColumnEnums;
  readonly namespacedName: InputRefOf<PropagationName>;
  readonly completion: ObjectRefOf<CompletionStatus>;
}

/** Adds `Subscription.jobStatus` with its types. Nothing if the model has no Jobs. */
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

/** Of the Jobs of a propagation, with their completion. */
interface SummaryView extends JobSummaryView {
  readonly completion?: CompletionStatus;
}

function addStream({ pothos, types }: GraphBuilder, kind: ModelKind, { state, summary, namespacedName }: StatusTypes): void {
  const changes = pothos.objectRef<JobStatusMessage>('JobStatusChanges').implement({
    description: 'One message of the live status of Jobs: about one cluster, with a summary over all of them.',
    interfaces: [types.changes],
    fields: (t) => ({
      added: t.field({ type: [state], nullable: false, ...listed('added') }),
      modified: t.field({ type: [state], nullable: false, ...listed('modified') }),
      deleted: t.field({ type: [state], nullable: false, ...listed('deleted') }),
      summary: t.field({
        type: summary,
        nullable: false,
        description: 'All matching Jobs of all clusters, exact as of this message.',
        resolve: (message) => message.summary,
      }),
    }),
  });
  pothos.subscriptionField('jobStatus', (t) =>
    t.field({
      type: changes,
      nullable: false,
      description: 'The live status of Jobs in every cluster that serves them, with a summary in each message.',
      args: {
        ...selectionArguments(t.arg, types),
        propagation: t.arg({ type: namespacedName, description: 'Only the Jobs of this propagation; `completion` is told of them.' }),
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
    description: 'What became of one Job so far.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'The id of the Job.', resolve: idOf }),
      cluster: t.field({ type: types.cluster, nullable: false, description: 'Where it runs.', resolve: ({ cluster }) => cluster }),
      namespace: t.string({
        nullable: false,
        description: 'The namespace it lives in.',
        resolve: ({ object }) => object.metadata.namespace ?? '',
      }),
      name: t.string({ nullable: false, description: 'Its name.', resolve: ({ object }) => object.metadata.name }),
      phase: t.field({ type: phase, nullable: false, description: 'What it is in.', resolve: ({ object }) => phaseOfJob(object) }),
      active: t.int({ nullable: false, description: 'Pods that run or wait to.', resolve: (row) => countIn(row, 'active') }),
      ready: t.int({ description: 'Of these, Pods that are ready.', resolve: ({ object }) => intOf(partOf(object, 'status').ready) }),
      succeeded: t.int({ nullable: false, description: 'Pods that did their work.', resolve: (row) => countIn(row, 'succeeded') }),
      failed: t.int({ nullable: false, description: 'Pods that failed.', resolve: (row) => countIn(row, 'failed') }),
      parallelism: t.int({
        description: 'Most Pods that may run at once.',
        resolve: ({ object }) => intOf(partOf(object, 'spec').parallelism),
      }),
      completions: t.int({
        description: 'How many Pods have to succeed. Null if any of them that succeeds completes the Job.',
        resolve: ({ object }) => intOf(partOf(object, 'spec').completions),
      }),
      startTime: t.field({ type: 'DateTime', description: 'When it began.', resolve: (row) => textIn(row, 'startTime') }),
      completionTime: t.field({ type: 'DateTime', description: 'When it was complete.', resolve: (row) => textIn(row, 'completionTime') }),
      conditions: t.field({
        type: outputOf({ list: { type: 'JobCondition' } }),
        nullable: false,
        description: 'What it says of itself.',
        resolve: ({ object }) => conditionsOf(object),
      }),
      job: t.field({ type: job, nullable: false, description: 'The Job itself.', resolve: (row) => row }),
    }),
  });
}

interface SummaryTypes {
  readonly phase: PhaseRef;
  readonly completion: ObjectRefOf<CompletionStatus>;
}

function addSummary({ pothos, types }: GraphBuilder, { phase, completion }: SummaryTypes): ObjectRefOf<SummaryView> {
  const phaseCount = pothos.objectRef<JobPhaseCountView>('JobPhaseCount').implement({
    description: 'How many Jobs are in one phase.',
    fields: (t) => ({
      phase: t.field({ type: phase, nullable: false, description: 'The phase.', resolve: (counted) => counted.phase }),
      count: t.exposeInt('count', { nullable: false, description: 'How many Jobs are in it.' }),
    }),
  });
  const clusterCount = pothos.objectRef<JobClusterCountView>('JobClusterCount').implement({
    description: 'The Jobs of one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster.', resolve: ({ cluster }) => cluster }),
      total: t.exposeInt('total', { nullable: false, description: 'How many match.' }),
      byPhase: t.field({
        type: [phaseCount],
        nullable: false,
        description: 'The same by phase: every phase, in the order of `JobPhase`.',
        resolve: chargedList('byPhase'),
      }),
      sync: t.field({ type: types.sync, nullable: false, description: 'How complete and old they are.', resolve: ({ sync }) => sync }),
    }),
  });
  return pothos.objectRef<SummaryView>('JobSummary').implement({
    description: 'All matching Jobs that the caller may see, over all clusters.',
    fields: (t) => ({
      total: t.exposeInt('total', { nullable: false, description: 'How many there are.' }),
      stale: t.exposeInt('stale', {
        nullable: false,
        description: 'How many of them are in clusters that are not SYNCED: their phase is the last known.',
      }),
      byPhase: t.field({
        type: [phaseCount],
        nullable: false,
        description: 'How many are in each phase: every phase, in the order of `JobPhase`.',
        resolve: chargedList('byPhase'),
      }),
      byCluster: t.field({
        type: [clusterCount],
        nullable: false,
        description: 'How many are in each cluster: every cluster asked, by name.',
        resolve: chargedList('byCluster'),
      }),
      completion: t.field({
        type: completion,
        description: 'With `propagation`: whether its Jobs count as done. Null without.',
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

/** What is no `Int` reads as absent: a message about 250 Jobs must not go with one strange value. */
function intOf(value: Json | undefined): number | undefined {
  return Number.isInteger(value) && typeof value === 'number' && Math.abs(value) < 2 ** 31 ? value : undefined;
}
