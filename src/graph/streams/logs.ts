import { responsePathAsArray } from 'graphql';
import type { LogBatchView, LogLineView, PodLogView } from '../../load/logs/logs.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type FieldsOf, type ObjectRefOf, type RootFields } from '../builder/pothos.ts';
import { chargeList, charsPerObject, costOfText } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { personal } from '../context/personal.ts';
import { SourceCarrier } from '../context/subscribe.ts';
import { faultWithCluster } from '../fleet/faults.ts';

/** Adds `Query.podLogs`, `Subscription.podLogs` and `Pod.logs`, with their types. `Pod.logs` only if the model has Pods. */
export function addLogs(builder: GraphBuilder): void {
  const { model, kinds } = builder;
  const line = addLine(builder);
  const log = addPodLog(builder, line);
  addQuery(builder, log);
  addStream(builder, addBatch(builder, line));
  const pod = kinds.get(model.kinds.get('Pod')?.type ?? '');
  if (pod !== undefined) addField(builder, pod, log);
}

function addQuery({ pothos }: GraphBuilder, log: ObjectRefOf<PodLogView>): void {
  pothos.queryField('podLogs', (t) =>
    t.field({
      type: [log],
      nullable: false,
      description:
        'The logs of matching containers in all clusters, ordered by cluster, namespace, Pod and container. At most 20 containers may match. The ' +
        'caller needs the permission `get` on `pods/log`. For the logs of a Job, use `labels: "job-name=x"`.',
      args: {
        ...containerArguments(t.arg),
        ...extentArguments(t.arg),
        previous: t.arg.boolean({ defaultValue: false, description: 'True: read the log of the previous run of the container.' }),
        tailLines: t.arg.int({ defaultValue: 200, description: 'The maximum number of lines of each log, counted from its end.' }),
        limitBytes: t.arg.int({
          defaultValue: 1_048_576,
          description:
            'The maximum number of bytes of each log. Each line counts 31 bytes more for its time, also if `time` is not selected.',
        }),
      },
      ...personal,
      resolve: async (_root, args, context, { path }) => {
        const { items, faults } = await context.logs.read(context.read, args, args);
        for (const fault of faults) context.read.reportFault(fault, responsePathAsArray(path));
        return chargeList(items, context);
      },
    }),
  );
}

function addStream({ pothos }: GraphBuilder, batch: ObjectRefOf<LogBatchView>): void {
  pothos.subscriptionField('podLogs', (t) =>
    t.field({
      type: batch,
      nullable: false,
      description:
        'Follows the logs of matching containers in all clusters, also of Pods that appear later: at most 20 containers at the same time. The caller ' +
        'needs the permission `get` on `pods/log`. The stream has no cursor: to resume it, pass `sinceTime`.',
      args: {
        ...containerArguments(t.arg),
        ...extentArguments(t.arg),
        tailLines: t.arg.int({
          defaultValue: 10,
          description: 'The maximum number of existing lines of each log to start with, counted from its end.',
        }),
      },
      ...personal,
      subscribe: (_root, args, { logs, read }): AsyncIterable<LogBatchView> => new SourceCarrier(logs.follow(read, args, args)),
      resolve: (message) => message,
    }),
  );
}

function addField({ pothos }: GraphBuilder, pod: ObjectRefOf<Row>, log: ObjectRefOf<PodLogView>): void {
  pothos.objectField(pod, 'logs', (t) =>
    t.field({
      type: log,
      nullable: false,
      description: 'The log of one container of the Pod, read from the API server. One answer has the logs of at most 20 Pods.',
      args: {
        container: t.arg.string({ description: 'The name of the container. Default: the container that `kubectl logs` chooses.' }),
        previous: t.arg.boolean({ defaultValue: false, description: 'True: read the log of the previous run of the container.' }),
        tailLines: t.arg.int({ defaultValue: 200, description: 'The maximum number of lines, counted from the end of the log.' }),
        sinceSeconds: t.arg.int({ description: 'Only lines that are at most this many seconds old. Default: no limit.' }),
      },
      ...personal,
      resolve: (row, args, { logs, read }) => logs.readOfPod(read, row, args),
    }),
  );
}

function containerArguments(arg: RootFields['arg']) {
  return {
    clusters: arg.stringList({ description: 'Only containers in these clusters. Default: all clusters. An empty list means no cluster.' }),
    namespaces: arg.stringList({ description: 'Only containers in these namespaces. Default: all namespaces.' }),
    labels: arg.string({
      description: 'Only containers of Pods that match this label selector, such as `app=web`, as `kubectl get -l` takes it.',
    }),
    names: arg.stringList({ description: 'Only containers of the Pods with these names. Default: all Pods.' }),
    container: arg.string({
      description: 'Only containers with this name. Default: all containers of each Pod, including init and ephemeral containers.',
    }),
  };
}

function extentArguments(arg: RootFields['arg']) {
  return {
    sinceSeconds: arg.int({ description: 'Only lines that are at most this many seconds old. Default: no limit.' }),
    sinceTime: arg({ type: 'DateTime', description: 'Only lines that were written since this time. Default: no limit.' }),
  };
}

function addLine({ pothos }: GraphBuilder): ObjectRefOf<LogLineView> {
  return pothos.objectRef<LogLineView>('LogLine').implement({
    description: 'One line of a log.',
    fields: (t) => ({
      time: t.field({
        type: 'DateTime',
        description: 'The time at which the line was written, by the clock of the Node. Null if the log has no time for it.',
        resolve: ({ time }) => time,
      }),
      text: t.exposeString('text', { nullable: false, description: 'The line without its line break.' }),
    }),
  });
}

/** Returns the fields with the origin of a log. */
function containerFields(t: FieldsOf<PodLogView | LogBatchView>, types: GraphBuilder['types']) {
  return {
    cluster: t.field({
      type: types.cluster,
      nullable: false,
      description: 'The cluster that runs the container.',
      resolve: ({ cluster }) => cluster,
    }),
    namespace: t.exposeString('namespace', { nullable: false, description: 'The namespace of the Pod.' }),
    pod: t.exposeString('pod', { nullable: false, description: 'The name of the Pod.' }),
    container: t.exposeString('container', { nullable: false, description: 'The name of the container.' }),
  };
}

function addPodLog({ pothos, types }: GraphBuilder, line: ObjectRefOf<LogLineView>): ObjectRefOf<PodLogView> {
  return pothos.objectRef<PodLogView>('PodLog').implement({
    description: 'The log of one container, or the reason why it cannot be read.',
    fields: (t) => ({
      ...containerFields(t, types),
      lines: t.field({
        type: [line],
        nullable: false,
        description: `The lines of the log, oldest first. Each line counts as one object, and every ${charsPerObject} characters count as one more.`,
        resolve: linesOf,
      }),
      text: t.string({
        nullable: false,
        description: `The lines of the log as one text, each with its line break. Every ${charsPerObject} characters count as one object.`,
        resolve: textOf,
      }),
      truncated: t.exposeBoolean('truncated', {
        nullable: false,
        description: 'True if the log is larger than `limitBytes`, so that its end is missing.',
      }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the log cannot be read. Null if it can.',
        resolve: ({ cluster, fault }) => fault && faultWithCluster(cluster, fault),
      }),
    }),
  });
}

function addBatch({ pothos, types }: GraphBuilder, line: ObjectRefOf<LogLineView>): ObjectRefOf<LogBatchView> {
  const type = enumsOf(pothos)('LogBatchType', 'The type of a message of a followed log.', batchMeanings);
  return pothos.objectRef<LogBatchView>('LogBatch').implement({
    description:
      'One message of a followed log, about one container. If the Pods of a cluster cannot be read, a message `FAILED` is about the cluster: its namespace, pod and container are empty.',
    fields: (t) => ({
      type: t.field({ type, nullable: false, description: 'The type of the message.', resolve: (batch) => batch.type }),
      ...containerFields(t, types),
      lines: t.field({
        type: [line],
        nullable: false,
        description: `The new lines, oldest first. Each line counts as one object, and every ${charsPerObject} characters count as one more.`,
        resolve: linesOf,
      }),
      dropped: t.exposeInt('dropped', {
        nullable: false,
        description: 'The number of lines that were lost before these lines, because the client reads too slowly.',
      }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the log cannot be followed. Null unless the type is FAILED.',
        resolve: ({ cluster, fault }) => fault && faultWithCluster(cluster, fault),
      }),
    }),
  });
}

interface HasLines {
  readonly lines: readonly LogLineView[];
}

function linesOf({ lines }: HasLines, _args: unknown, { budget }: GraphContext): readonly LogLineView[] {
  budget.charge(lines.length + costOfText(lines));
  return lines;
}

function textOf({ lines }: HasLines, _args: unknown, { budget }: GraphContext): string {
  budget.charge(costOfText(lines));
  return lines.map(({ text }) => `${text}\n`).join('');
}

const batchMeanings: Readonly<Record<LogBatchView['type'], string>> = {
  LINES: 'New lines of the container.',
  ENDED: 'The container has ended. No line follows unless it is started again.',
  FAILED: 'The log cannot be followed: see `fault`.',
};
