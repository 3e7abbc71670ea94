import type { FieldManagerConflict } from '../../changes/describe-fault.ts';
import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { printYaml } from '../../core/json/print-yaml.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { allPromiseOrValues, mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { SyncView } from '../../load/reads/reads.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import type { Note } from '../../propagate/model/notes.ts';
import type { ReplicaShare } from '../../propagate/model/placement.ts';
import { replicaStrategy } from '../../propagate/model/placement-definition.ts';
import type { PlannedCluster, PlannedObject, PropagationPlan } from '../../propagate/model/plan.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type FieldsOf, type ObjectRefOf, type Pothos } from '../builder/pothos.ts';
import { isoOf } from '../builder/times.ts';
import { chargeList, resolveChargedList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { personal } from '../context/personal.ts';
import { clusterNamed, faultWithCluster, namedCluster } from '../fleet/faults.ts';
import type { MutationTypes } from '../objects/object-mutations.ts';
import type { DefinedTypes } from './defined-types.ts';

/** A note of a status or a plan. */
export type NoteView = Pick<Note, 'message' | 'path'> & { readonly severity: string; readonly code: string };

/** Adds `Note` and `Severity`. */
export function addNotes({ pothos }: GraphBuilder): ObjectRefOf<NoteView> {
  const severity = enumsOf(pothos)('Severity', 'The severity of a note.', {
    INFO: 'The note is for information only.',
    WARNING: 'The input is probably a mistake. With `strict`, the warning counts as an error.',
    ERROR: 'The plan is not carried out. Nothing is written.',
  });
  return pothos.objectRef<NoteView>('Note').implement({
    description: 'A note about the input. Problems of clusters are faults instead.',
    fields: (t) => ({
      severity: t.field({
        type: severity,
        nullable: false,
        description: 'The severity of the note.',
        resolve: (note) => severityOf(note.severity),
      }),
      code: t.exposeString('code', {
        nullable: false,
        description: 'The type of the note as one word for programs, such as `UNMATCHED_OVERRIDE`.',
      }),
      message: t.exposeString('message', {
        nullable: false,
        description: 'The note as text for people: what was expected, and what the input has. It contains no values from inside manifests.',
      }),
      path: t.exposeString('path', { description: 'The path of the field in the input. Null if the note is about no single field.' }),
    }),
  });
}

function severityOf(text: string): Note['severity'] {
  return text === 'INFO' || text === 'WARNING' ? text : 'ERROR';
}

interface PlanTypes {
  readonly changing: MutationTypes;
  readonly defined: DefinedTypes;
  readonly note: ObjectRefOf<NoteView>;
}

/** The types of plans. */
interface AddedPlans {
  readonly plan: ObjectRefOf<PropagationPlan>;
  readonly object: ObjectRefOf<PlannedObject>;
}

/** Adds `PropagationPlan` and its parts. */
export function addPlans(builder: GraphBuilder, using: PlanTypes): AddedPlans {
  const object = addObjectPlan(builder, using);
  return { plan: addPropagationPlan(builder, using, addClusterPlan(builder, using, object)), object };
}

function addPropagationPlan(builder: GraphBuilder, using: PlanTypes, cluster: ObjectRefOf<PlannedCluster>): ObjectRefOf<PropagationPlan> {
  const { pothos, types } = builder;
  return pothos.objectRef<PropagationPlan>('PropagationPlan').implement({
    description:
      'The plan of an intent: its effect in each cluster, and the reasons why clusters are not chosen. Making a plan writes nothing.',
    fields: (t) => ({
      digest: t.string({
        nullable: false,
        description:
          'A hash of the plan. Plans with the same effect have the same digest. `propagate` with this digest carries out exactly this plan or ' +
          'nothing. Empty if the plan has an error.',
        resolve: ({ ok, digest }) => (ok ? digest : ''),
      }),
      ok: t.exposeBoolean('ok', { nullable: false, description: 'True if no note is an error.' }),
      asOf: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'The time of the oldest state that the plan uses.',
        resolve: ({ asOfMs }) => isoOf(asOfMs) ?? '',
      }),
      desired: t.exposeInt('desired', { description: 'The requested number of replicas. Null without a workload.' }),
      placed: t.exposeInt('placed', { description: 'The number of replicas that clusters get. Null without a workload.' }),
      unplaced: t.exposeInt('unplaced', { nullable: false, description: 'The number of requested replicas that no cluster gets.' }),
      waves: t.exposeStringList('waves', { nullable: false, description: 'The names of the waves, in order.' }),
      clusters: t.field({
        type: [cluster],
        nullable: false,
        description: 'The clusters of the fleet, ordered by name, whether they are chosen or not.',
        resolve: resolveChargedList('clusters'),
      }),
      notes: t.field({
        type: [using.note],
        nullable: false,
        description: 'The notes about the input.',
        resolve: resolveChargedList('notes'),
      }),
      sync: t.field({
        type: [types.sync],
        nullable: false,
        description:
          'How complete and current the data of the plan is. There is one entry for each kind in each cluster that has or gets copies.',
        ...personal,
        resolve: (plan, _args, context) => mapPromiseOrValue(syncOf(plan, context), (syncs) => chargeList(syncs, context)),
      }),
      faults: t.field({
        type: [types.fault],
        nullable: false,
        description: 'The faults of the clusters.',
        resolve: resolveChargedList('faults'),
      }),
    }),
  });
}

/** Returns the sync of each kind of these objects, in each of their clusters. */
export function syncOf(
  { clusters }: { readonly clusters: readonly Pick<PlannedCluster, 'cluster' | 'objects'>[] },
  { reads, read }: GraphContext,
): PromiseOrValue<readonly SyncView[]> {
  const syncs = clusters.flatMap(({ cluster, objects }) => {
    const view = objects.length === 0 ? undefined : reads.cluster(read, cluster);
    if (view === undefined) return [];
    const kinds = new Set(objects.map(({ key }) => keyOfKind(groupKindOfKey(key))));
    return reads
      .servedKinds(read, view)
      .filter(({ kind }) => kinds.has(keyOfKind(kind)))
      .map((served) => mapPromiseOrValue(served.mirrored(), ({ sync }) => sync));
  });
  return allPromiseOrValues(syncs);
}

function addClusterPlan(builder: GraphBuilder, using: PlanTypes, object: ObjectRefOf<PlannedObject>): ObjectRefOf<PlannedCluster> {
  const { pothos, types } = builder;
  const share = addShare(builder, using.defined);
  return pothos.objectRef<PlannedCluster>('ClusterPlan').implement({
    description: 'The plan for one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster.', resolve: namedCluster }),
      chosen: t.boolean({
        nullable: false,
        description: 'True if the cluster gets copies.',
        resolve: ({ rendered }) => rendered !== undefined,
      }),
      reason: t.exposeString('reason', {
        description: 'The reason why the cluster was not chosen, such as `TAINT`. Null if it was chosen.',
      }),
      detail: t.exposeString('detail', {
        description: 'The detail that decided against the cluster, such as the taint. Null if there is none.',
      }),
      ...choiceFields(t),
      share: t.field({
        type: share,
        description: 'The planned number of replicas in the cluster, and the values that decided it. Null without a workload.',
        resolve: ({ rendered }) => rendered?.share,
      }),
      overrides: t.stringList({
        nullable: false,
        description: 'The names of the overrides that changed an object in this cluster.',
        resolve: ({ rendered }) => rendered?.overrides ?? [],
      }),
      unmatched: t.stringList({
        nullable: false,
        description: 'The names of the overrides that are for this cluster but changed nothing.',
        resolve: ({ rendered }) => rendered?.unmatched ?? [],
      }),
      objects: t.field({
        type: [object],
        nullable: false,
        description: 'The plan for each object of the cluster, in the order in which the objects are written.',
        resolve: resolveChargedList('objects'),
      }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the cluster could not be planned. Null if it was planned.',
        resolve: ({ cluster, fault }, _args, context) =>
          fault === undefined ? undefined : faultWithCluster(clusterNamed(cluster, context), fault),
      }),
    }),
  });
}

/** Returns the fields that say how a cluster was chosen. They are null for a cluster that was not chosen. */
function choiceFields(t: FieldsOf<PlannedCluster>) {
  return {
    group: t.string({
      description: 'The affinity group that chose the cluster. Null without affinity groups, and if the cluster was not chosen.',
      resolve: ({ rendered }) => rendered?.chosen.group,
    }),
    tier: t.int({
      description:
        'The position of the set that matched the cluster: 0 for the placement or the affinity group itself, n for its n-th overflow. Null if the cluster was not chosen.',
      resolve: ({ rendered }) => rendered?.chosen.tier,
    }),
    wave: t.int({
      description: 'The index of the wave of the cluster, from 0. Null if the cluster was not chosen.',
      resolve: ({ rendered }) => rendered?.wave,
    }),
    score: t.int({
      description:
        'The score by which clusters were ranked. A cluster that already has copies has 100. Null if the cluster was not chosen.',
      resolve: ({ rendered }) => rendered?.chosen.score,
    }),
    available: t.int({
      description:
        'The estimated number of replicas that have room in the cluster. Null if it is unknown or unlimited, or if the caller may not list all Nodes and Pods.',
      resolve: ({ rendered }) => rendered?.chosen.available,
    }),
  };
}

function addShare({ pothos }: GraphBuilder, defined: DefinedTypes): ObjectRefOf<ReplicaShare> {
  return pothos.objectRef<ReplicaShare>('ReplicaShare').implement({
    description: 'The number of replicas of one cluster, and the values that decided it.',
    fields: (t) => ({
      from: t.exposeInt('from', { nullable: false, description: 'The number of replicas that the cluster had before.' }),
      to: t.exposeInt('to', { nullable: false, description: 'The number of replicas that the cluster gets.' }),
      divided: t.exposeInt('divided', {
        description: 'The number of replicas that the division gave the cluster. Null if no override replaces that number.',
      }),
      strategy: t.field({
        type: defined.enum(replicaStrategy),
        description: 'The strategy by which the replicas were divided. Null if they were not divided.',
        resolve: ({ strategy }) => (strategy === undefined ? undefined : schemaSpelling(strategy)),
      }),
      weight: t.exposeFloat('weight', { description: 'The weight of the cluster. Null if the strategy uses no weights.' }),
      min: t.exposeInt('min', {
        description: 'The minimum number of replicas of the cluster, from `replicas.rules` of the intent. Null if no rule sets one.',
      }),
      max: t.exposeInt('max', {
        description: 'The maximum number of replicas of the cluster, from `replicas.rules` of the intent. Null if no rule sets one.',
      }),
      capacity: t.exposeInt('capacity', {
        description:
          'The number of additional replicas that have room in the cluster. Null if it is unknown or unlimited, or if the caller may not list all Nodes and Pods.',
      }),
      kept: t.exposeInt('kept', { nullable: false, description: 'The number of previous replicas that stay.' }),
      completions: t.exposeInt('completions', {
        description: 'The number of completions that the cluster gets of a divided Job. Null for other workloads.',
      }),
    }),
  });
}

function addFieldConflict(pothos: Pothos): ObjectRefOf<FieldManagerConflict> {
  return pothos.objectRef<FieldManagerConflict>('FieldConflict').implement({
    description: 'A field that another field manager owns.',
    fields: (t) => ({
      manager: t.exposeString('manager', { nullable: false, description: 'The name of the field manager.' }),
      path: t.exposeString('path', { nullable: false, description: 'The path of the field, as the API server reports it.' }),
    }),
  });
}

function addObjectPlan({ pothos, types }: GraphBuilder, { changing }: PlanTypes): ObjectRefOf<PlannedObject> {
  const conflict = addFieldConflict(pothos);
  const action = enumsOf(pothos)('PlanAction', 'The effect of a plan on one object.', {
    CREATE: 'The object is created.',
    UPDATE: 'The object is changed.',
    ADOPT: 'The object already exists and becomes a copy of the Propagation.',
    UNCHANGED: 'The object already has the planned state, and is not written.',
    DELETE: 'The object is deleted.',
    RELEASE: 'The object stays, without the marks and fields of Muster.',
    HOLD: 'The object is left as it is.',
  });
  return pothos.objectRef<PlannedObject>('ObjectPlan').implement({
    description: 'The plan for one object in one cluster.',
    fields: (t) => ({
      key: t.field({ type: changing.objectKey, nullable: false, description: 'The identity of the object.', resolve: ({ key }) => key }),
      action: t.field({
        type: action,
        nullable: false,
        description: 'The effect of the plan on the object.',
        resolve: (planned) => planned.action,
      }),
      manifest: t.field({
        type: 'JSON',
        nullable: false,
        description: 'The manifest that would be sent to the API server.',
        resolve: ({ manifest }) => manifest,
      }),
      yaml: t.string({
        nullable: false,
        description: 'The manifest that would be sent, as YAML.',
        resolve: ({ manifest }, _args, { budget }) => budget.text(printYaml(manifest)),
      }),
      diff: t.exposeString('diff', {
        description:
          'The changes that the API server reports for a dry run, as a unified diff of YAML. For Secrets, it shows keys only. Null if nothing ' +
          'changes or no dry run was possible.',
      }),
      predicted: t.exposeBoolean('predicted', {
        nullable: false,
        description: 'True if no dry run was possible, because the plan itself creates the namespace or the kind.',
      }),
      conflicts: t.field({
        type: [conflict],
        nullable: false,
        description: 'The fields that other field managers own.',
        resolve: resolveChargedList('conflicts'),
      }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the write would fail. Null if it would succeed.',
        resolve: ({ fault }) => fault,
      }),
    }),
  });
}
