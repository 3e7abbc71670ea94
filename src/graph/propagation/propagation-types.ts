import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import { parseClusterName } from '../../core/names.ts';
import { idOfObject, idOfPropagation } from '../../core/object-ids.ts';
import type { ListArguments, ListPage, Row } from '../../load/reads/reads.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { InventoryEntry, RecordedFault } from '../../propagate/model/inventory.ts';
import { entry } from '../../propagate/model/inventory-definition.ts';
import type { AggregatedStatus, ClusterLine, CompletionStatus, Propagation, RolloutProgress } from '../../propagate/model/propagation.ts';
import type { PropagationView } from '../../propagate/model/propagations.ts';
import { line, propagationPhase, status as statusDefinition } from '../../propagate/model/status-definition.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { FieldsOf, ObjectRefOf } from '../builder/pothos.ts';
import { chargeList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { personal } from '../context/personal.ts';
import { namedCluster } from '../fleet/faults.ts';
import { aggregatedPaths } from '../objects/aggregates.ts';
import type { MutationTypes } from '../objects/object-mutations.ts';
import type { DefinedTypes } from './defined-types.ts';
import type { NoteView } from './plan-types.ts';
import { addAggregate, addCompletion, addProgress, addRevision, clusterViewOf, type RevisionView } from './status-types.ts';

/** The types that the types of a Propagation refer to. */
export interface PropagationTypesUsing {
  readonly changing: MutationTypes;
  readonly defined: DefinedTypes;
  readonly note: ObjectRefOf<NoteView>;
  /** The type of a page of Jobs. Undefined if the model has no Jobs. */
  readonly jobs?: ObjectRefOf<ListPage> | undefined;
}

/** The types that root fields return. */
export interface PropagationTypes {
  readonly propagation: ObjectRefOf<PropagationView>;
  readonly completion: ObjectRefOf<CompletionStatus>;
  readonly object: ObjectRefOf<EntryView>;
}

const maxRevisions = 10;

interface LineView extends ClusterLine {
  readonly entries: readonly InventoryEntry[];
}

/** An object of an inventory, and its cluster. */
interface EntryView {
  readonly cluster: string;
  readonly entry: InventoryEntry;
}

/** Adds `Propagation` and its parts. */
export function addPropagationTypes(builder: GraphBuilder, using: PropagationTypesUsing): PropagationTypes {
  const { pothos, types } = builder;
  const completion = addCompletion(builder, using.defined);
  const object = addObject(builder, using);
  const cluster = addCluster(builder, using, object);
  const aggregate = addAggregate(builder, using);
  const progress = addProgress(builder, using.defined);
  const revision = addRevision(builder);
  const propagation = pothos.objectRef<PropagationView>('Propagation').implement({
    description: 'An intent on the hub, and its state in all clusters as far as it is known.',
    fields: (t) => ({
      ...identityFields(t),
      ...decisionFields(t, { defined: using.defined, progress }),
      ...figureFields(t, { types, completion }),
      ...partFields(t, { builder, using, cluster, aggregate, revision }),
    }),
  });
  addJobsOf(builder, propagation, using.jobs);
  return { propagation, completion, object };
}

/** Returns the fields about the request and the requester. */
function identityFields(t: FieldsOf<PropagationView>) {
  return {
    id: t.id({
      nullable: false,
      description: 'An opaque id of the Propagation. It stays the same until the Propagation is deleted.',
      resolve: ({ propagation: { metadata } }) => idOfPropagation(metadata),
    }),
    namespace: t.string({
      nullable: false,
      description: 'The namespace of the Propagation on the hub.',
      resolve: (view) => view.propagation.metadata.namespace,
    }),
    name: t.string({ nullable: false, description: 'The name of the Propagation.', resolve: (view) => view.propagation.metadata.name }),
    labels: t.field({
      type: 'StringMap',
      nullable: false,
      description: 'The labels of the Propagation.',
      resolve: (view) => view.propagation.metadata.labels,
    }),
    generation: t.int({
      nullable: false,
      description: 'The generation: a number that grows with each change of the spec.',
      resolve: (view) => view.propagation.metadata.generation,
    }),
    spec: t.field({
      type: 'JSON',
      nullable: false,
      description: 'The spec of the Propagation, in the form of a `PropagationInput`.',
      resolve: ({ propagation }, _args, { propagations }) => propagations.inputOf(propagation) as never,
    }),
    requester: t.string({
      description: 'The user who requested this generation. Null if it is unknown.',
      resolve: ({ propagation: { spec } }) => ('problems' in spec ? undefined : spec.requester?.user),
    }),
  };
}

const statusFields = ['digest', 'scheduledAt', 'affinityGroup', 'desired', 'placed', 'ready'];

/** Returns the fields about the current plan and its progress. */
function decisionFields(
  t: FieldsOf<PropagationView>,
  { defined, progress }: { readonly defined: DefinedTypes; readonly progress: ObjectRefOf<RolloutProgress> },
) {
  return {
    observedGeneration: t.int({
      nullable: false,
      description: 'The generation that the status fields are about. 0 before the first status.',
      resolve: ({ propagation: { status } }) => status.observedGeneration ?? 0,
    }),
    revision: t.int({
      nullable: false,
      description: 'The number of the current revision. 0 before the first.',
      resolve: ({ propagation: { status } }) => status.revision ?? 0,
    }),
    ...defined.fields(t, statusDefinition, { names: statusFields, of: ({ propagation: { status } }) => status }),
    phase: t.field({
      type: defined.enum(propagationPhase),
      nullable: false,
      description: 'The phase of the Propagation.',
      resolve: ({ phase }) => schemaSpelling(phase),
    }),
    paused: t.boolean({
      nullable: false,
      description: 'True if no further work starts until the Propagation is resumed.',
      resolve: ({ isPaused }) => isPaused,
    }),
    progress: t.field({
      type: progress,
      nullable: false,
      description: 'The progress of the rollout.',
      resolve: ({ propagation: { status } }) => status.progress ?? { wave: 0, waves: 0, clusters: 0, done: 0, failed: 0 },
    }),
  };
}

/** Returns the fields with sums over clusters. */
function figureFields(
  t: FieldsOf<PropagationView>,
  { types, completion }: { readonly types: GraphBuilder['types']; readonly completion: ObjectRefOf<CompletionStatus> },
) {
  return {
    unplaced: t.int({
      nullable: false,
      description: 'The number of requested replicas that no cluster gets.',
      resolve: ({ propagation: { status } }) => status.unplaced ?? 0,
    }),
    completion: t.field({
      type: completion,
      description: 'Whether the Jobs of the Propagation count as done. Null if it has no Jobs.',
      resolve: ({ propagation: { status } }) => status.completion,
    }),
    unknown: t.field({
      type: [types.cluster],
      nullable: false,
      description:
        'The clusters whose state is unknown. `clusters` shows their last known numbers, but `ready` of the Propagation does not count them.',
      resolve: ({ propagation: { status } }, _args, context) =>
        chargeList(
          (status.unknown ?? []).map((name) => clusterViewOf(name, context)),
          context,
        ),
    }),
  };
}

interface PartTypes {
  readonly builder: GraphBuilder;
  readonly using: PropagationTypesUsing;
  readonly cluster: ObjectRefOf<LineView>;
  readonly aggregate: ObjectRefOf<AggregatedStatus>;
  readonly revision: ObjectRefOf<RevisionView>;
}

/** Returns the fields with lists: clusters, aggregates, conditions, revisions, notes and faults. */
function partFields(t: FieldsOf<PropagationView>, { builder, using, cluster, aggregate, revision }: PartTypes) {
  return {
    clusters: t.field({
      type: [cluster],
      nullable: false,
      description: 'The clusters that have copies or should have copies, ordered by name.',
      resolve: (view, _args, context) => chargeList(linesOf(view), context),
    }),
    aggregate: t.field({
      type: [aggregate],
      nullable: false,
      description: 'One status over all clusters for each object of the template.',
      resolve: ({ propagation: { status } }, _args, context) => chargeList(status.aggregate ?? [], context),
    }),
    conditions: t.field({
      type: builder.outputOf({ list: { type: 'Condition' } }),
      nullable: false,
      description:
        'The conditions Accepted, Planned, Applied, Healthy, Complete, Progressing, Fresh and Led. Led is False while no gateway ' +
        'carries out Propagations.',
      resolve: ({ propagation: { status } }, _args, context) => chargeList(status.conditions ?? [], context),
    }),
    revisions: t.field({
      type: [revision],
      nullable: false,
      description: 'The earlier revisions, newest first.',
      args: { first: t.arg.int({ defaultValue: 10, description: 'The maximum number of revisions: 1 to 10.' }) },
      ...personal,
      resolve: ({ propagation: of }, { first }, context) => revisionsOf(of, first ?? 10, context),
    }),
    notes: t.field({
      type: [using.note],
      nullable: false,
      description: 'The notes about the spec.',
      resolve: ({ propagation: { status } }, _args, context) => chargeList(status.notes ?? [], context),
    }),
    faults: t.field({
      type: [builder.types.fault],
      nullable: false,
      description: 'The faults of the clusters.',
      resolve: (view, _args, context) => chargeList(view.faults, context),
    }),
  };
}

/** Returns at most `first` revisions, and charges them to the budget. */
async function revisionsListed(of: Propagation, first: number, context: GraphContext): Promise<readonly RevisionView[]> {
  const { propagations, read } = context;
  const revisions = await propagations.revisions(read, of.metadata, first);
  context.budget.charge(revisions.length);
  return revisions.map((revision) => ({
    ...revision,
    input: propagations.inputOf({ ...of, document: revision.document, spec: { problems: [] } }),
  }));
}

/**
 * Returns at most `first` revisions.
 *
 * @throws {MusterError} `BAD_INPUT` unless `first` is from 1 to `maxRevisions`.
 */
function revisionsOf(of: Propagation, first: number, context: GraphContext): Promise<readonly RevisionView[]> {
  if (first >= 1 && first <= maxRevisions) return revisionsListed(of, first, context);
  throw new MusterError('BAD_INPUT', `first: expected 1 to ${maxRevisions}, got ${first}`);
}

function addJobsOf(
  { pothos, model }: GraphBuilder,
  propagation: ObjectRefOf<PropagationView>,
  jobs: ObjectRefOf<ListPage> | undefined,
): void {
  const kind = model.kinds.get('Job.batch');
  if (jobs === undefined || kind === undefined) return;
  pothos.objectField(propagation, 'jobs', (t) =>
    t.field({
      type: jobs,
      nullable: false,
      description: 'The Jobs among the copies of the Propagation.',
      args: { first: t.arg.int({ defaultValue: 20, description: 'The maximum number of Jobs: 1 to 500.' }) },
      ...personal,
      resolve: (view, { first }, context, info) => jobsOf(view, { kind, first: first ?? 20, aggregated: aggregatedPaths(info) }, context),
    }),
  );
}

function linesOf({ propagation: { status }, objects }: PropagationView): readonly LineView[] {
  const entries = new Map(objects.map((of) => [of.cluster, of.entries]));
  return (status.clusters ?? []).map((line) => ({ ...line, entries: entries.get(line.cluster) ?? [] }));
}

function faultOf(cluster: string, fault: RecordedFault | undefined): Fault | undefined {
  const name = parseClusterName(cluster);
  if (fault === undefined || name === undefined) return undefined;
  return { code: fault.code, cluster: name, message: fault.message, retry: 'LATER', sinceMs: Date.parse(fault.since) };
}

/** The members of a cluster status that GraphQL returns unchanged. The other fields of `PropagationCluster` have their own resolvers. */
const lineFields = ['phase', 'reason', 'message', 'wave', 'replicas', 'ready', 'health', 'since', 'asOf'];

function addCluster(builder: GraphBuilder, using: PropagationTypesUsing, object: ObjectRefOf<EntryView>): ObjectRefOf<LineView> {
  const { pothos, types } = builder;
  return pothos.objectRef<LineView>('PropagationCluster').implement({
    description: 'The state of a Propagation in one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster.', resolve: namedCluster }),
      ...using.defined.fields(t, line, { names: lineFields, of: (source) => source }),
      objects: t.field({
        type: [object],
        nullable: false,
        description: 'The copies in this cluster, as the inventory lists them.',
        resolve: ({ cluster, entries }, _args, context) =>
          chargeList(
            entries.map((entry) => ({ cluster, entry })),
            context,
          ),
      }),
      fault: t.field({
        type: types.fault,
        description: 'The fault of the cluster. Null if it has none.',
        resolve: ({ cluster, fault }) => faultOf(cluster, fault),
      }),
    }),
  });
}

function addObject({ pothos, types, model }: GraphBuilder, { changing, defined }: PropagationTypesUsing): ObjectRefOf<EntryView> {
  return pothos.objectRef<EntryView>('PropagatedObject').implement({
    description: 'A copy: one object of a Propagation in one cluster.',
    fields: (t) => ({
      key: t.field({
        type: changing.objectKey,
        nullable: false,
        description: 'The identity of the object.',
        resolve: ({ entry }) => entry.key,
      }),
      ...defined.fields(t, entry, { names: ['state', 'uid', 'action', 'health'], of: (source) => source.entry }),
      resource: t.field({
        type: types.resource,
        description: 'The object itself. Null if it no longer exists or the caller may not read it.',
        ...personal,
        resolve: ({ cluster, entry }, _args, context) => resourceOf({ cluster, entry }, { model, context }),
      }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the last write of the copy failed. Null if it succeeded.',
        resolve: ({ cluster, entry }) => faultOf(cluster, entry.fault),
      }),
    }),
  });
}

/** Maximum number of values in one condition (docs/guide/query.md, "Filter"). */
const maxUids = 1_000;

/** Returns the copy as the caller sees it. Undefined if it is gone, hidden, of an unknown kind, or if another object has its name now. */
async function resourceOf(
  { cluster, entry }: { readonly cluster: string; readonly entry: InventoryEntry },
  { model, context }: { readonly model: Model; readonly context: GraphContext },
): Promise<Row | undefined> {
  const { apiVersion, kind, namespace = '', name } = entry.key;
  if (entry.uid === undefined) return undefined;
  const id = idOfObject({ cluster, group: groupOfApiVersion(apiVersion), kind, namespace, name, uid: entry.uid });
  const { row } = await context.reads.getById(context.read, { model, id, from: 'mirror' });
  return row?.object.metadata.uid === entry.uid ? row : undefined;
}

/**
 * Lists the Jobs in the inventory by their uids. So other Jobs with the same labels are not listed. Uses at most 1,000 Jobs of the
 * inventory.
 */
function jobsOf(
  { objects }: PropagationView,
  { kind, ...page }: { readonly kind: ModelKind; readonly first: number } & Pick<ListArguments, 'aggregated'>,
  { reads, read }: GraphContext,
): Promise<ListPage> {
  const jobs = objects.flatMap(({ entries, cluster }) =>
    entries.filter(({ key }) => key.kind === kind.kind && key.apiVersion.startsWith(`${kind.group}/`)).map(({ uid }) => ({ cluster, uid })),
  );
  const uids = jobs.map(({ uid }) => uid).filter((uid) => uid !== undefined);
  const clusters = [...new Set(jobs.map(({ cluster }) => cluster))].filter((name) => reads.cluster(read, name) !== undefined);
  return reads.list(read, kind, { clusters, where: { path: 'metadata.uid', in: uids.slice(0, maxUids) }, ...page });
}
