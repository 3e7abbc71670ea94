import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { mapPromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { AppPlan, LeavingObject, MigrationPlan, PlannedTargetObject } from '../../migrate/model/migration-plan.ts';
import type { PlannedObject } from '../../propagate/model/plan.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { FieldsOf, ObjectRefOf } from '../builder/pothos.ts';
import { isoOf } from '../builder/times.ts';
import { chargeList, resolveChargedList } from '../context/budget.ts';
import { personal } from '../context/personal.ts';
import { syncOf } from '../propagation/plan-types.ts';
import type { AddedPropagation } from '../propagation/propagation-root.ts';
import type { MigrationTypes } from './migration-types.ts';

/** Adds `MigrationPlan` and its parts. */
export function addMigrationPlan(builder: GraphBuilder, using: AddedPropagation, types: MigrationTypes): ObjectRefOf<MigrationPlan> {
  const app = addAppPlan(builder, using, types);
  return builder.pothos.objectRef<MigrationPlan>('MigrationPlan').implement({
    description: 'The plan of a migration: its applications, whether they can be moved, and why not. Making a plan writes nothing.',
    fields: (t) => ({
      digest: t.exposeString('digest', {
        nullable: false,
        description: 'A hash of the plan. `migrate` with this digest carries out exactly this plan or nothing.',
      }),
      ok: t.exposeBoolean('ok', { nullable: false, description: 'True if no note is an error.' }),
      asOf: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'The time of the oldest state that the plan uses.',
        resolve: ({ asOfMs }) => isoOf(asOfMs) ?? '',
      }),
      needs: t.field({
        type: types.room,
        nullable: false,
        description: 'The Pods and resources that all applications together request, also those that cannot be moved.',
        resolve: ({ needs }) => needs,
      }),
      free: t.field({
        type: types.room,
        nullable: false,
        description: 'The free room of the target. Zeros, with a fault, if the requester may not list all Nodes and Pods of the target.',
        resolve: ({ free }) => free,
      }),
      backup: t.field({
        type: types.backup,
        description: 'The backup from which the manifests are read. Null if they are read from the cluster.',
        resolve: ({ backup }) => backup,
      }),
      apps: t.field({
        type: [app],
        nullable: false,
        description: 'The applications, in the order in which they move.',
        resolve: resolveChargedList('apps'),
      }),
      notes: t.field({
        type: [using.note],
        nullable: false,
        description: 'The notes about the input.',
        resolve: resolveChargedList('notes'),
      }),
      sync: t.field({
        type: [builder.types.sync],
        nullable: false,
        description: 'How complete and current the data of the plan is, for each kind of the applications in both clusters.',
        ...personal,
        resolve: (plan, _args, context) => mapPromiseOrValue(syncOf(clustersOf(plan), context), (syncs) => chargeList(syncs, context)),
      }),
      faults: t.field({
        type: [builder.types.fault],
        nullable: false,
        description: 'The faults of the clusters.',
        resolve: resolveChargedList('faults'),
      }),
    }),
  });
}

function clustersOf({ from, to, apps }: MigrationPlan) {
  return {
    clusters: [
      { cluster: from, objects: apps.flatMap(({ source }) => source.map(shownLeaving)) },
      { cluster: to, objects: apps.flatMap(({ target }) => target.map(shownTarget)) },
    ],
  };
}

function addAppPlan(builder: GraphBuilder, using: AddedPropagation, { room }: MigrationTypes): ObjectRefOf<AppPlan> {
  const { changing, propagation, objectPlan } = using;
  return builder.pothos.objectRef<AppPlan>('AppPlan').implement({
    description: 'The plan for one application.',
    fields: (t) => ({
      key: t.field({ type: changing.objectKey, nullable: false, description: 'The identity of the workload.', resolve: ({ key }) => key }),
      ...verdictFields(t),
      needs: t.field({
        type: room,
        nullable: false,
        description: 'The Pods and resources that the replicas of the application request in the target.',
        resolve: ({ needs }) => needs,
      }),
      free: t.field({
        type: room,
        nullable: false,
        description: 'The free room of the target, less the needs of the applications that move before this one.',
        resolve: ({ free }) => free,
      }),
      propagation: t.field({
        type: propagation,
        description: 'The Propagation of the application, whose placement changes. Null if Muster does not propagate it.',
        resolve: ({ propagated }, _args, { propagations, read }) =>
          propagated === undefined ? undefined : propagations.get(read, propagated.propagation.metadata),
      }),
      target: t.field({
        type: [objectPlan],
        nullable: false,
        description:
          'The plan for each object in the target, in the order in which the objects are written. `CREATE`, or `UNCHANGED` if an ' +
          'equal object of the target is used. Empty if the application is skipped or propagated.',
        resolve: ({ target }, _args, context) => chargeList(target.map(shownTarget), context),
      }),
      source: t.field({
        type: [objectPlan],
        nullable: false,
        description:
          'The plan for each object in the source, in the order in which the objects are deleted. `DELETE`, or `HOLD` for an ' +
          'object that stays, because another workload needs it or because it is a claim. Empty if the application is skipped or propagated.',
        resolve: ({ source }, _args, context) => chargeList(source.map(shownLeaving), context),
      }),
    }),
  });
}

/** Returns the fields about whether an application moves. */
function verdictFields(t: FieldsOf<AppPlan>) {
  return {
    fits: t.boolean({
      nullable: false,
      description: 'True if the application can be moved. Otherwise it is skipped.',
      resolve: ({ skipped }) => skipped === undefined,
    }),
    reason: t.string({
      description: 'Why the application cannot be moved, as one word. Null if it can.',
      resolve: ({ skipped }) => (skipped === undefined ? undefined : schemaSpelling(skipped.reason)),
    }),
    message: t.string({
      description: 'Why the application cannot be moved, for people. Null if it can.',
      resolve: ({ skipped }) => skipped?.message,
    }),
    from: t.exposeInt('from', { nullable: false, description: 'The number of replicas in the source.' }),
    to: t.exposeInt('to', { nullable: false, description: 'The number of replicas in the target.' }),
  };
}

function shownTarget({ key, action, desired }: PlannedTargetObject): PlannedObject {
  return { key, action, manifest: desired, predicted: false, conflicts: [] };
}

/** A removal shows the key of the object only. */
function shownLeaving({ key, action }: LeavingObject): PlannedObject {
  const { apiVersion, kind, namespace, name } = key;
  const manifest = { apiVersion, kind, metadata: { ...(namespace === undefined ? {} : { namespace }), name } };
  return { key, action, manifest, predicted: false, conflicts: [] };
}
