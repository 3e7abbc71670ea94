import { responsePathAsArray } from 'graphql';
import type { LogBatchView, LogLineView, PodLogView } from '../load/logs/logs.ts';
import type { Row } from '../load/reads.ts';
import { charged, charsPerObject, costOfText } from './budget.ts';
import type { FieldsOf, GraphBuilder, ObjectRefOf, RootFields } from './builder.ts';
import type { GraphContext } from './context.ts';
import { enumsOf, faultIn } from './faults.ts';
import { personal } from './personal.ts';
import { SourceCarrier } from './subscribing.ts';

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
        'Logs of containers of every cluster, by cluster, namespace, Pod and container: at most 20, each needing `get` on `pods/log`. Those of a ' +
        'Job over all clusters: `labels: "job-name=x"`.',
      args: {
        ...containerArguments(t.arg),
        ...extentArguments(t.arg),
        previous: t.arg.boolean({ defaultValue: false, description: "Of the container's run before this one." }),
        tailLines: t.arg.int({ defaultValue: 200, description: 'At most so many lines of each, the last ones.' }),
        limitBytes: t.arg.int({
          defaultValue: 1_048_576,
          description: 'At most so many bytes of each, with the time of every line (31 bytes), also where it is not asked for.',
        }),
      },
      ...personal,
      resolve: async (_root, args, context, { path }) => {
        const { items, faults } = await context.logs.read(context.read, args, args);
        for (const fault of faults) context.read.reportFault(fault, responsePathAsArray(path));
        return charged(items, context);
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
        'Follows the logs of containers of every cluster, also of Pods that appear later: at most 20 containers at a time, each needing `get` on ' +
        '`pods/log`. Has no cursor: go on with `sinceTime`.',
      args: {
        ...containerArguments(t.arg),
        ...extentArguments(t.arg),
        tailLines: t.arg.int({ defaultValue: 10, description: 'Begin with at most so many lines of each, the last ones.' }),
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
      description: 'The log of one of its containers, read from the cluster itself: of at most 20 Pods in one answer.',
      args: {
        container: t.arg.string({ description: 'Which; absent, the one that kubectl takes.' }),
        previous: t.arg.boolean({ defaultValue: false, description: "Of the container's run before this one." }),
        tailLines: t.arg.int({ defaultValue: 200, description: 'At most so many lines, the last ones.' }),
        sinceSeconds: t.arg.int({ description: 'Only lines of the last so many seconds.' }),
      },
      ...personal,
      resolve: (row, args, { logs, read }) => logs.readOfPod(read, row, args),
    }),
  );
}

function containerArguments(arg: RootFields['arg']) {
  return {
    clusters: arg.stringList({ description: 'Only these clusters; absent, all; empty, none.' }),
    namespaces: arg.stringList({ description: 'Only these namespaces.' }),
    labels: arg.string({ description: 'Only of Pods with such labels: what kubectl takes after `-l`.' }),
    names: arg.stringList({ description: 'Only of Pods of these names.' }),
    container: arg.string({ description: 'Only containers of this name; absent, all of each Pod, init and ephemeral ones too.' }),
  };
}

function extentArguments(arg: RootFields['arg']) {
  return {
    sinceSeconds: arg.int({ description: 'Only lines of the last so many seconds.' }),
    sinceTime: arg({ type: 'DateTime', description: 'Only lines since then.' }),
  };
}

function addLine({ pothos }: GraphBuilder): ObjectRefOf<LogLineView> {
  return pothos.objectRef<LogLineView>('LogLine').implement({
    description: 'One line of a log.',
    fields: (t) => ({
      time: t.field({ type: 'DateTime', description: 'When it was written, as the node says.', resolve: ({ time }) => time }),
      text: t.exposeString('text', { nullable: false, description: 'What was written, without the end of the line.' }),
    }),
  });
}

/** Where a log comes from, in everything that tells of one. */
function containerFields(t: FieldsOf<PodLogView | LogBatchView>, types: GraphBuilder['types']) {
  return {
    cluster: t.field({ type: types.cluster, nullable: false, description: 'Where it runs.', resolve: ({ cluster }) => cluster }),
    namespace: t.exposeString('namespace', { nullable: false, description: 'The namespace of its Pod.' }),
    pod: t.exposeString('pod', { nullable: false, description: 'The name of its Pod.' }),
    container: t.exposeString('container', { nullable: false, description: 'Its name.' }),
  };
}

function addPodLog({ pothos, types }: GraphBuilder, line: ObjectRefOf<LogLineView>): ObjectRefOf<PodLogView> {
  return pothos.objectRef<PodLogView>('PodLog').implement({
    description: 'The log of one container, or why there is none.',
    fields: (t) => ({
      ...containerFields(t, types),
      lines: t.field({
        type: [line],
        nullable: false,
        description: 'Its lines. Each counts as one object, and their text as in `text`.',
        resolve: linesOf,
      }),
      text: t.string({
        nullable: false,
        description: `Its lines as one text, each with its end. Every ${charsPerObject} characters count as one object.`,
        resolve: textOf,
      }),
      truncated: t.exposeBoolean('truncated', {
        nullable: false,
        description: 'True if there is more than `limitBytes`: the end is missing.',
      }),
      fault: t.field({
        type: types.fault,
        description: 'Why there is none.',
        resolve: ({ cluster, fault }) => fault && faultIn(cluster, fault),
      }),
    }),
  });
}

function addBatch({ pothos, types }: GraphBuilder, line: ObjectRefOf<LogLineView>): ObjectRefOf<LogBatchView> {
  const type = enumsOf(pothos)('LogBatchType', 'What a message of a followed log says, about one container.', batchMeanings);
  return pothos.objectRef<LogBatchView>('LogBatch').implement({
    description: 'One message of a followed log: about one container.',
    fields: (t) => ({
      type: t.field({ type, nullable: false, description: 'What it says.', resolve: (batch) => batch.type }),
      ...containerFields(t, types),
      lines: t.field({
        type: [line],
        nullable: false,
        description: 'What was written, in order. Each line counts as one object, and every so many characters as in `PodLog.text`.',
        resolve: linesOf,
      }),
      dropped: t.exposeInt('dropped', {
        nullable: false,
        description: 'How many lines were lost before these, as the reader was too slow.',
      }),
      fault: t.field({
        type: types.fault,
        description: 'Why it cannot be followed: with FAILED only.',
        resolve: ({ cluster, fault }) => fault && faultIn(cluster, fault),
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
  LINES: 'Lines were written.',
  ENDED: 'The container has ended: no line follows, unless it is started again.',
  FAILED: 'It cannot be followed: see `fault`.',
};
