import { printYaml } from '../../core/json/print-yaml.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { SyncView } from '../../load/reads.ts';
import type { Note } from '../../propagate/notes.ts';
import { kindOfKey } from '../../propagate/object-key.ts';
import type { Share } from '../../propagate/placement.ts';
import type { FieldConflict, PlannedCluster, PlannedObject, PropagationPlan } from '../../propagate/plan.ts';
import { replicaStrategy } from '../../propagate/spec/placement.ts';
import { schemaSpelling } from '../../propagate/spelling.ts';
import { charged, chargedList } from '../budget.ts';
import type { GraphBuilder, ObjectRefOf } from '../builder.ts';
import type { Changing } from '../changing.ts';
import type { GraphContext } from '../context.ts';
import { clusterNamed, enumsOf, faultIn, namedCluster } from '../faults.ts';
import { personal } from '../personal.ts';
import { isoOf } from '../times.ts';
import type { DefinedTypes } from './defined-types.ts';

/** A note as status and plans have it. */
export type NoteView = Pick<Note, 'message' | 'path'> & { readonly severity: string; readonly code: string };

/** Adds `Note` and `Severity`. */
export function addNotes({ pothos }: GraphBuilder): ObjectRefOf<NoteView> {
  const severity = enumsOf(pothos)('Severity', 'How grave a note is.', {
    INFO: 'Good to know.',
    WARNING: 'Probably not what was meant. With `strict` an error.',
    ERROR: 'Nothing is done.',
  });
  return pothos.objectRef<NoteView>('Note').implement({
    description: 'Something about the input. What is about a cluster is a fault.',
    fields: (t) => ({
      severity: t.field({ type: severity, nullable: false, description: 'How grave it is.', resolve: (note) => severityOf(note.severity) }),
      code: t.exposeString('code', { nullable: false, description: 'One word for machines, such as `UNMATCHED_OVERRIDE`.' }),
      message: t.exposeString('message', {
        nullable: false,
        description: 'What was expected and what came. Holds no values of manifests.',
      }),
      path: t.exposeString('path', { description: 'The field of the input.' }),
    }),
  });
}

function severityOf(text: string): Note['severity'] {
  return text === 'INFO' || text === 'WARNING' ? text : 'ERROR';
}

interface PlanTypes {
  readonly changing: Changing;
  readonly defined: DefinedTypes;
  readonly note: ObjectRefOf<NoteView>;
}

/** Adds `PropagationPlan` and its parts. @returns it. */
export function addPlans(builder: GraphBuilder, using: PlanTypes): ObjectRefOf<PropagationPlan> {
  const { pothos, types } = builder;
  const cluster = addClusterPlan(builder, using);
  return pothos.objectRef<PropagationPlan>('PropagationPlan').implement({
    description: 'What an intent would do, cluster by cluster, and why not there. Nothing was written for it.',
    fields: (t) => ({
      digest: t.string({
        nullable: false,
        description:
          'Equal as long as the plan would do the same. `propagate` with it does exactly this plan, or nothing. Empty if the plan has an error.',
        resolve: ({ ok, digest }) => (ok ? digest : ''),
      }),
      ok: t.exposeBoolean('ok', { nullable: false, description: 'No note is an error.' }),
      asOf: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'The age of the oldest state that was looked at.',
        resolve: ({ asOfMs }) => isoOf(asOfMs) ?? '',
      }),
      desired: t.exposeInt('desired', { description: 'Replicas that are wanted. Null without a workload.' }),
      placed: t.exposeInt('placed', { description: 'Replicas that get a place.' }),
      unplaced: t.exposeInt('unplaced', { nullable: false, description: 'Replicas that get none.' }),
      waves: t.exposeStringList('waves', { nullable: false, description: 'The waves, in order.' }),
      clusters: t.field({
        type: [cluster],
        nullable: false,
        description: 'Every cluster of the fleet, by name.',
        resolve: chargedList('clusters'),
      }),
      notes: t.field({ type: [using.note], nullable: false, description: 'About the input.', resolve: chargedList('notes') }),
      sync: t.field({
        type: [types.sync],
        nullable: false,
        description: 'How complete and old is what was looked at: one for each kind of object in each cluster that gets or has some.',
        ...personal,
        resolve: (plan, _args, context) => charged(syncOf(plan, context), context),
      }),
      faults: t.field({ type: [types.fault], nullable: false, description: 'What clusters could not do.', resolve: chargedList('faults') }),
    }),
  });
}

function syncOf({ clusters }: PropagationPlan, { reads, read }: GraphContext): readonly SyncView[] {
  return clusters.flatMap(({ cluster, objects }) => {
    const view = objects.length === 0 ? undefined : reads.cluster(read, cluster);
    if (view === undefined) return [];
    const kinds = new Set(objects.map(({ key }) => keyOfKind(kindOfKey(key))));
    return reads
      .servedKinds(read, view)
      .filter(({ kind }) => kinds.has(keyOfKind(kind)))
      .map(({ sync }) => sync);
  });
}

function addClusterPlan(builder: GraphBuilder, using: PlanTypes): ObjectRefOf<PlannedCluster> {
  const { pothos, types } = builder;
  const object = addObjectPlan(builder, using);
  const share = addShare(builder, using.defined);
  return pothos.objectRef<PlannedCluster>('ClusterPlan').implement({
    description: 'What a plan says of one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster.', resolve: namedCluster }),
      chosen: t.boolean({ nullable: false, description: 'It gets copies.', resolve: ({ rendered }) => rendered !== undefined }),
      reason: t.exposeString('reason', { description: 'Why it was not chosen, such as `TAINT`.' }),
      detail: t.exposeString('detail', { description: 'What decided that, such as the taint.' }),
      group: t.string({ description: 'The affinity group that chose it.', resolve: ({ rendered }) => rendered?.chosen.group }),
      tier: t.int({ description: '0: the group itself; k: its k-th overflow.', resolve: ({ rendered }) => rendered?.chosen.tier }),
      wave: t.int({ description: 'The wave it belongs to, from 0.', resolve: ({ rendered }) => rendered?.wave }),
      score: t.int({
        description: 'What it was ranked by: 100 where copies are already.',
        resolve: ({ rendered }) => rendered?.chosen.score,
      }),
      available: t.int({
        description: 'Replicas that have room there, an estimate. Null if that is unknown or unlimited.',
        resolve: ({ rendered }) => rendered?.chosen.available,
      }),
      share: t.field({ type: share, description: 'Its replicas. Null without a workload.', resolve: ({ rendered }) => rendered?.share }),
      overrides: t.stringList({
        nullable: false,
        description: 'The overrides that changed something here.',
        resolve: ({ rendered }) => rendered?.overrides ?? [],
      }),
      unmatched: t.stringList({
        nullable: false,
        description: 'Those that are meant for this cluster, and changed nothing.',
        resolve: ({ rendered }) => rendered?.unmatched ?? [],
      }),
      objects: t.field({
        type: [object],
        nullable: false,
        description: 'What would become of each object, in the order of writes.',
        resolve: chargedList('objects'),
      }),
      fault: t.field({
        type: types.fault,
        description: 'Why nothing can be said of it.',
        resolve: ({ cluster, fault }, _args, context) => (fault === undefined ? undefined : faultIn(clusterNamed(cluster, context), fault)),
      }),
    }),
  });
}

function addShare({ pothos }: GraphBuilder, defined: DefinedTypes): ObjectRefOf<Share> {
  return pothos.objectRef<Share>('ReplicaShare').implement({
    description: 'How many replicas a cluster gets, and what that comes from.',
    fields: (t) => ({
      from: t.exposeInt('from', { nullable: false, description: 'How many it had.' }),
      to: t.exposeInt('to', { nullable: false, description: 'How many it gets.' }),
      strategy: t.field({
        type: defined.enum(replicaStrategy),
        description: 'What they were divided by. Null if they were not divided.',
        resolve: ({ strategy }) => (strategy === undefined ? undefined : schemaSpelling(strategy)),
      }),
      weight: t.exposeFloat('weight', { description: 'Its weight.' }),
      min: t.exposeInt('min', { description: 'The least it may get.' }),
      max: t.exposeInt('max', { description: 'The most it may get.' }),
      capacity: t.exposeInt('capacity', { description: 'How many more have room there.' }),
      kept: t.exposeInt('kept', { nullable: false, description: 'How many of those it had stay.' }),
      completions: t.exposeInt('completions', { description: 'Of a divided Job.' }),
    }),
  });
}

function addObjectPlan({ pothos, types }: GraphBuilder, { changing }: PlanTypes): ObjectRefOf<PlannedObject> {
  const conflict = pothos.objectRef<FieldConflict>('FieldConflict').implement({
    description: 'A field that somebody else manages.',
    fields: (t) => ({
      manager: t.exposeString('manager', { nullable: false, description: 'Who.' }),
      path: t.exposeString('path', { nullable: false, description: 'Which field, as the API server tells it.' }),
    }),
  });
  const action = enumsOf(pothos)('PlanAction', 'What a plan would do to an object.', {
    CREATE: 'It is made.',
    UPDATE: 'It is changed.',
    ADOPT: 'It is there already, and becomes ours.',
    UNCHANGED: 'Nothing is written.',
    DELETE: 'It goes.',
    RELEASE: 'It stays, without our marks and fields.',
    HOLD: 'It is left alone.',
  });
  return pothos.objectRef<PlannedObject>('ObjectPlan').implement({
    description: 'What a plan would do to one object in one cluster.',
    fields: (t) => ({
      key: t.field({ type: changing.objectKey, nullable: false, description: 'The object.', resolve: ({ key }) => key }),
      action: t.field({ type: action, nullable: false, description: 'What would become of it.', resolve: (planned) => planned.action }),
      manifest: t.field({ type: 'JSON', nullable: false, description: 'What would be sent.', resolve: ({ manifest }) => manifest }),
      yaml: t.string({
        nullable: false,
        description: 'The same as YAML.',
        resolve: ({ manifest }, _args, { budget }) => budget.text(printYaml(manifest)),
      }),
      diff: t.exposeString('diff', {
        description: 'What would change, as the API server itself says: a unified diff of YAML. Of Secrets the keys only.',
      }),
      predicted: t.exposeBoolean('predicted', {
        nullable: false,
        description: 'No API server could be asked, as the plan itself makes the namespace or the kind.',
      }),
      conflicts: t.field({
        type: [conflict],
        nullable: false,
        description: 'Fields that somebody else manages.',
        resolve: chargedList('conflicts'),
      }),
      fault: t.field({ type: types.fault, description: 'Why it would fail.', resolve: ({ fault }) => fault }),
    }),
  });
}
