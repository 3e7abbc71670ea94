import { keyOfKind } from '../core/kinds.ts';
import type { ChangesMessage, ChangeType } from '../streams/messages/changes-message.ts';
import { charged } from './budget.ts';
import type { GraphBuilder, ObjectRefOf } from './builder.ts';
import type { GraphContext } from './context.ts';
import { enumsOf, faultIn } from './faults.ts';

/** The types of messages: about objects of any kind, and of each kind by the name of its type. */
export interface ChangesTypes {
  readonly any: ObjectRefOf<ChangesMessage>;
  readonly ofKinds: ReadonlyMap<string, ObjectRefOf<ChangesMessage>>;
}

/** Adds `Changes`, `ChangeType`, `ResourceChanges`, and `PodChanges` and the same for every other kind. */
export function addChanges(builder: GraphBuilder): ChangesTypes {
  const { pothos, types } = builder;
  const type = enumsOf(pothos)('ChangeType', 'What a message of a stream says, about one cluster and one kind.', typeMeanings);
  types.changes.implement({
    description:
      'One message of a stream: about one kind of one cluster. For each of them INITIAL messages come first, then SYNCED, then LIVE ones. A message ' +
      'has each object at most once.',
    // Nobody asks for one without knowing of what: a field's type is always one of the object types.
    resolveType: () => 'ResourceChanges',
    fields: (t) => ({
      type: t.field({ type, nullable: false, description: 'What it says.', resolve: (message) => message.type }),
      cluster: t.field({
        type: types.cluster,
        nullable: false,
        description: 'The cluster it is about.',
        resolve: ({ cluster }) => cluster,
      }),
      cursor: t.exposeString('cursor', {
        nullable: false,
        description: 'Where whoever has handled this message and all before it stands, in every cluster: `after` goes on from there.',
      }),
      fault: t.field({
        type: types.fault,
        description: 'Why the cluster fell behind: with FAILED only.',
        resolve: ({ cluster, fault }) => fault && faultIn(cluster, fault),
      }),
    }),
  });
  return { any: addResourceChanges(builder), ofKinds: addKindChanges(builder) };
}

function addResourceChanges({ pothos, types }: GraphBuilder): ObjectRefOf<ChangesMessage> {
  return pothos.objectRef<ChangesMessage>('ResourceChanges').implement({
    description: 'One message of a stream of objects of several kinds: about one of them, in one cluster.',
    interfaces: [types.changes],
    fields: (t) => ({
      kind: t.field({ type: types.kind, nullable: false, description: 'The kind it is about.', resolve: ({ kind }) => kind }),
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
      description: `One message of a stream of objects of the kind ${keyOfKind(kind)}: about one cluster.`,
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

/** What the fields that hold objects have in common, whatever the type of the objects. */
export function listed(which: RowsOf) {
  return {
    description: rowsMeanings[which],
    resolve: (message: ChangesMessage, _args: unknown, context: GraphContext) => charged(message[which], context),
  };
}

const rowsMeanings: Readonly<Record<RowsOf, string>> = {
  added: 'What is part of the selection now and was not before; with INITIAL, what there is.',
  modified: 'What was part of the selection and still is, as it is now.',
  deleted: 'What is no part of the selection any more, in the last state in which it was one: each object once.',
};

const typeMeanings: Readonly<Record<ChangeType, string>> = {
  INITIAL:
    'A part of what there is, at first or after RESET: in `added`. There may be any number of them. After a resume in the middle of them the first ones ' +
    'also tell what has changed of the objects that were told before: in `modified` and `deleted`.',
  SYNCED: 'What there is has been told: only now is empty empty.',
  LIVE: 'What changed. Without any object: the cluster, which had FAILED, is true again.',
  RESET: 'What changed is unknown: forget the objects of this kind in this cluster. INITIAL follows.',
  BOOKMARK: 'No objects: a newer cursor; in `jobStatus` of a propagation also a change of `completion`.',
  FAILED:
    'The cluster fell behind: see `fault`. What it had last still stands, and LIVE or RESET follows when it is back; after the code GONE forget its objects.',
};
