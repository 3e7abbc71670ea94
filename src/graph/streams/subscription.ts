import { keyOfKind } from '../../core/kinds.ts';
import { isSecret } from '../../core/redaction.ts';
import { valueResolver } from '../../execution/known-resolvers.ts';
import type { ChangesMessage } from '../../streams/messages/changes-message.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { maxAnswerObjects } from '../context/budget.ts';
import { SourceCarrier } from '../context/subscribe.ts';
import { kindDeprecation } from '../fleet/kinds.ts';
import { afterArgument, searchArgument, selectionArguments } from '../objects/selection-arguments.ts';
import type { ChangesTypes } from './changes.ts';

/** Adds `Subscription` with the streams of changes. The modules for Jobs, logs and Propagations add their own fields. */
export function addSubscription(builder: GraphBuilder, changes: ChangesTypes): void {
  const { pothos, types, model } = builder;
  pothos.subscriptionType({
    description:
      `Streams changes from all clusters of the fleet. A message is about one kind in one cluster and contains at most ${maxAnswerObjects} objects, ` +
      'counted as in `Query`. To resume a stream that ended with an error, pass the cursor of its last message as `after`.',
  });
  pothos.subscriptionField('resources', (t) =>
    t.field({
      type: changes.any,
      nullable: false,
      description: 'Changes of objects of several kinds in all clusters that serve them. Secrets come with their metadata only.',
      args: {
        kinds: t.arg.stringList({
          required: true,
          description:
            'The kinds, by any of their names, such as `Pod`, `po`, `pods`, `apps.v1.deployments` or `Certificate.cert-manager.io`.',
        }),
        ...selectionArguments(t.arg, types),
        search: searchArgument(t.arg),
        after: afterArgument(t.arg),
      },
      subscribe: (_root, { kinds, ...args }, { streams, read }): AsyncIterable<ChangesMessage> =>
        new SourceCarrier(streams.changesOfKinds(read, { model, kinds }, args)),
      resolve: valueResolver((message) => message),
    }),
  );
  for (const kind of model.kinds.values()) {
    const type = changes.ofKinds.get(kind.type);
    if (type === undefined) continue;
    const part = isSecret(kind) ? ', with their metadata only' : '';
    pothos.subscriptionField(kind.many, (t) =>
      t.field({
        type,
        nullable: false,
        description: `Changes of objects of the kind ${keyOfKind(kind)} in all clusters that serve it${part}.`,
        ...kindDeprecation(kind),
        args: { ...selectionArguments(t.arg, types), search: searchArgument(t.arg), after: afterArgument(t.arg) },
        subscribe: (_root, args, { streams, read }): AsyncIterable<ChangesMessage> => new SourceCarrier(streams.changes(read, kind, args)),
        resolve: valueResolver((message) => message),
      }),
    );
  }
}
