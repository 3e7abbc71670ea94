import { keyOfKind } from '../../core/kinds.ts';
import { repeatableResolver, valueResolver } from '../../execution/known-resolvers.ts';
import type { ChangesMessage, ChangeType } from '../../streams/messages/changes-message.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type ObjectRefOf } from '../builder/pothos.ts';
import { chargeList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { faultWithCluster } from '../fleet/faults.ts';

/** The types of messages: about objects of any kind, and about each kind by the name of its type. */
export interface ChangesTypes {
  readonly any: ObjectRefOf<ChangesMessage>;
  readonly ofKinds: ReadonlyMap<string, ObjectRefOf<ChangesMessage>>;
}

/** Adds `Changes`, `ChangeType`, `ResourceChanges`, `PodChanges`, and the same for every other kind. */
export function addChanges(builder: GraphBuilder): ChangesTypes {
  const { pothos, types } = builder;
  const type = enumsOf(pothos)(
    'ChangeType',
    'The type of a message of a stream. Each message is about one kind in one cluster.',
    typeMeanings,
  );
  types.changes.implement({
    description:
      'One message of a stream, about one kind in one cluster. For each kind and cluster, INITIAL messages come first, then SYNCED, then LIVE ' +
      'messages. A message contains each object at most once.',
    // Never needed: the type of a field is always one of the object types.
    resolveType: () => 'ResourceChanges',
    fields: (t) => ({
      type: t.field({ type, nullable: false, description: 'The type of the message.', resolve: valueResolver((message) => message.type) }),
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster that the message is about.',
        resolve: valueResolver(({ cluster }) => cluster),
      }),
      cursor: t.exposeString('cursor', {
        nullable: false,
        description:
          'The position of the stream after this message, in all clusters. To resume the stream there, pass this cursor as `after`.',
      }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the cluster is not in sync. Null unless the type is FAILED.',
        resolve: valueResolver(({ cluster, fault }) => fault && faultWithCluster(cluster, fault)),
      }),
    }),
  });
  return { any: addResourceChanges(builder), ofKinds: addKindChanges(builder) };
}

function addResourceChanges({ pothos, types }: GraphBuilder): ObjectRefOf<ChangesMessage> {
  return pothos.objectRef<ChangesMessage>('ResourceChanges').implement({
    description: 'One message of a stream of objects of several kinds. Each message is about one kind in one cluster.',
    interfaces: [types.changes],
    fields: (t) => ({
      kind: t.field({
        type: types.kind,
        nullable: false,
        description: 'The kind that the message is about.',
        resolve: valueResolver(({ kind }) => kind),
      }),
      added: t.field({ type: [types.resource], nullable: false, ...listed('added') }),
      modified: t.field({ type: [types.resource], nullable: false, ...listed('modified') }),
      deleted: t.field({ type: [types.resource], nullable: false, ...listed('deleted') }),
    }),
  });
}

function addKindChanges({ pothos, types, kinds, model }: GraphBuilder): ReadonlyMap<string, ObjectRefOf<ChangesMessage>> {
  const changes = new Map<string, ObjectRefOf<ChangesMessage>>();
  for (const kind of model.kinds.values()) {
    const item = kinds.get(kind.type);
    if (item === undefined) continue;
    const type = pothos.objectRef<ChangesMessage>(`${kind.type}Changes`).implement({
      description: `One message of a stream of objects of the kind ${keyOfKind(kind)}. Each message is about one cluster.`,
      interfaces: [types.changes],
      fields: (t) => ({
        added: t.field({ type: [item], nullable: false, ...listed('added') }),
        modified: t.field({ type: [item], nullable: false, ...listed('modified') }),
        deleted: t.field({ type: [item], nullable: false, ...listed('deleted') }),
      }),
    });
    changes.set(kind.type, type);
  }
  return changes;
}

type RowsOf = 'added' | 'modified' | 'deleted';

/** Returns the description and the resolver of the field `added`, `modified` or `deleted` of a message. */
export function listed(which: RowsOf) {
  return {
    description: rowsMeanings[which],
    resolve: repeatableResolver((message: ChangesMessage, _args: unknown, context: GraphContext) => chargeList(message[which], context)),
  };
}

const rowsMeanings: Readonly<Record<RowsOf, string>> = {
  added: 'Objects that match now and did not match before. In an INITIAL message: current objects.',
  modified: 'Objects that matched before and still match, in their current state.',
  deleted: 'Objects that were deleted or no longer match, in the last state in which they matched. Each object is sent once.',
};

const typeMeanings: Readonly<Record<ChangeType, string>> = {
  INITIAL:
    'Some of the current objects, in `added`, at the start or after RESET. There may be any number of these messages. After a resume in the middle of ' +
    'them, `modified` and `deleted` of the first ones hold changes of objects that were sent before.',
  SYNCED: 'The initial objects are complete. If there are none, no object matches.',
  LIVE: 'Changes of objects. Without any object: the cluster had FAILED and is in sync again.',
  RESET: 'The changes since the last message are unknown. Forget the objects of this kind in this cluster. INITIAL follows.',
  BOOKMARK: 'A newer cursor, without objects. In `jobStatus` with `propagation`, `completion` may have changed too.',
  FAILED:
    `The cluster fell behind: see \`fault\`. Its last known objects stay valid, and LIVE or RESET follows when it is in sync again. After the code GONE, ` +
    'forget its objects.',
};
