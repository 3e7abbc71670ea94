import type { GraphBuilder, RootFields } from './builder.ts';

type ArgumentBuilder = RootFields['arg'];

/** What narrows a list and a stream alike: one component of a client serves both, of every kind. */
export function selectionArguments(arg: ArgumentBuilder, types: GraphBuilder['types']) {
  return {
    clusters: arg.stringList({ description: 'Only these clusters; absent, all that serve the kind; empty, none.' }),
    namespaces: arg.stringList({ description: 'Only these namespaces.' }),
    labels: arg.string({ description: 'Only what has such labels: what kubectl takes after `-l`.' }),
    where: arg({ type: types.where, description: 'Only what passes this filter.' }),
  };
}

/** What most of them can be searched by. */
export function searchArgument(arg: ArgumentBuilder) {
  return arg.string({ description: 'Only what has this in its name or a label, whatever the case.' });
}

/** Where a stream of changes goes on. */
export function afterArgument(arg: ArgumentBuilder) {
  return arg.string({
    description:
      'The cursor of a message: the stream goes on behind it, with what was missed. A cluster where that is unknown begins with RESET.',
  });
}
