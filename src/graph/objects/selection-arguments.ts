import type { GraphBuilder } from '../builder/builder.ts';
import type { RootFields } from '../builder/pothos.ts';

type ArgumentBuilder = RootFields['arg'];

/** Returns the arguments that lists and streams of every kind share, so that one component of a client works with all of them. */
export function selectionArguments(arg: ArgumentBuilder, types: GraphBuilder['types']) {
  return {
    clusters: arg.stringList({
      description: 'Only objects in these clusters. Default: all clusters that serve the kind. An empty list means no cluster.',
    }),
    namespaces: arg.stringList({ description: 'Only objects in these namespaces. Default: all namespaces.' }),
    labels: arg.string({ description: 'Only objects that match this label selector, such as `app=web`, as `kubectl get -l` takes it.' }),
    where: arg({ type: types.where, description: 'Only objects that match this filter.' }),
  };
}

/** Returns the argument `search`, which lists and streams of objects have. */
export function searchArgument(arg: ArgumentBuilder) {
  return arg.string({
    description: 'Only objects that contain this text in their name or in a label. Upper and lower case are not distinguished.',
  });
}

/** Returns the argument with the position at which a stream resumes. */
export function afterArgument(arg: ArgumentBuilder) {
  return arg.string({
    description:
      'The cursor of a message. The stream resumes after it with the missed changes. A cluster whose missed changes are unknown starts with RESET. ' +
      'Default: the stream starts with the current objects.',
  });
}
