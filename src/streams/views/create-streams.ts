import { createHash } from 'node:crypto';
import type { Access } from '../../access/access.ts';
import { boundedList } from '../../core/bounded-list.ts';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { type ClusterName, clusterName } from '../../core/names.ts';
import { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import { createSensitiveKinds, type SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import { createQueueBudget, type QueueBudget } from '../../load/queue-budget.ts';
import { type ClusterViews, createClusterViews } from '../../load/reads/cluster-views.ts';
import { createSeal, foreignCursor, type Seal, type StreamScope } from '../../load/reads/cursor-seal.ts';
import { checkArguments, type RelationsByKind } from '../../load/reads/list-arguments.ts';
import type { ReadContext } from '../../load/reads/reads.ts';
import { kindByAnyName } from '../../model/any-name.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import { changesMessage, jobStatusMessage } from '../messages/message-makers.ts';
import type { ResumePoint } from '../messages/stream-cursor.ts';
import { parseStreamCursor } from '../messages/stream-cursor.ts';
import type { StreamArguments, Streams } from '../messages/streams.ts';
import { createSourceBudget, type SourceBudget } from './source-budget.ts';
import { type CheckedStream, ViewRegistry } from './view-registry.ts';

export interface StreamsOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Returns the model of the current schema. */
  readonly model: () => Model;
  /**
   * Calls back after each change of the model, until the signal aborts. A change ends the streams of kinds that the new model does not
   * have. Default: streams ignore changes of the model.
   */
  readonly onModel?: (callback: () => void, signal: AbortSignal) => void;
  /** Returns the settings of a cluster in the config. Undefined if the cluster has just left. */
  readonly settingsOf: (name: ClusterName) => MemberSettings | undefined;
  /** The key that seals cursors: 32 bytes. Gateways that share it can read each other's cursors. */
  readonly sealKey: Uint8Array;
  /** Kinds that are treated like Secrets, by `keyOfKind`. Default: none. */
  readonly sensitiveKinds?: readonly string[];
  /** Bounds the bytes in the queues of all readers. Default: a budget of its own. */
  readonly budget?: QueueBudget;
  /** Bounds the sources that all views hold open. Default: a budget of its own. */
  readonly sources?: SourceBudget;
  /** Schedules the work of all views. Default: a scheduler of its own. */
  readonly scheduler?: WorkScheduler;
  readonly clock: Clock;
  readonly log: Log;
}

/** The streams that exist now. All counts are 0 once no reader is left. */
interface StreamCounts {
  readonly views: number;
  readonly readers: number;
  /** Estimated bytes that wait for readers that are not in step. */
  readonly queuedBytes: number;
}

/** The streams, with counts for their owner. */
export interface OwnedStreams extends Streams {
  counts(): StreamCounts;
}

/**
 * Creates the streams over these mirrors. When the signal aborts, all views end and their readers are disposed without a message.
 *
 * Next: `checkStream` checks the arguments, and the view registry (view-registry.ts) opens the reader.
 */
export function createStreams(options: StreamsOptions, signal: AbortSignal): OwnedStreams {
  const { mirrors, access, settingsOf, sealKey, sensitiveKinds, clock, log, budget = createQueueBudget() } = options;
  const { scheduler = new WorkScheduler(clock), sources = createSourceBudget() } = options;
  const views = createClusterViews({ mirrors, access, settingsOf });
  const seal = createSeal(sealKey);
  const sensitive = createSensitiveKinds(sensitiveKinds);
  const dependencies = { mirrors, access, views, seal, sensitive, scheduler, sources, clock, log };
  const changes = new ViewRegistry({ dependencies, budget, maker: changesMessage }, signal);
  const jobStatus = new ViewRegistry({ dependencies, budget, maker: jobStatusMessage }, signal);
  const check = (context: ReadContext, requested: Omit<RequestedStream, 'context'>) =>
    checkStream({ views, seal, sensitive }, { ...requested, context });
  options.onModel?.(() => {
    for (const registry of [changes, jobStatus]) registry.modelChanged(options.model());
  }, signal);
  return {
    changes: (context, kind, args) => changes.source(check(context, { model: options.model(), kinds: [kind], args })),
    changesOfKinds: (context, { model, kinds }, args) => changes.source(check(context, { model, kinds: kindsOf(model, kinds), args })),
    jobStatus: (context, kind, args) => jobStatus.source(check(context, { model: options.model(), kinds: [kind], args, countsJobs: true })),
    counts: () => ({
      views: changes.views + jobStatus.views,
      readers: changes.readers + jobStatus.readers,
      queuedBytes: budget.bytes,
    }),
  };
}

interface RequestedStream {
  readonly context: ReadContext;
  readonly model: Model;
  readonly kinds: readonly ModelKind[];
  readonly args: StreamArguments;
  readonly countsJobs?: boolean;
}

interface Checkers {
  readonly views: ClusterViews;
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
}

function checkStream(
  { views, seal, sensitive }: Checkers,
  { context, model, kinds, args, countsJobs = false }: RequestedStream,
): CheckedStream {
  const { caller } = context;
  const { namespaces, selector, where, search, filter, after, clusters, relations } = checkArguments(args, { model, kinds, sensitive });
  refuseRelations(relations);
  if (countsJobs) refuseMetadataOnly(kinds.filter((kind) => sensitive.has(kind)));
  const point = after === undefined ? undefined : resumePointOf(seal, after, { stream: filter });
  // A message is always about one cluster. So a request for no cluster becomes a request for no namespace of any cluster: it gets only
  // SYNCED.
  const isEmpty = clusters?.length === 0;
  // A resumed stream may name clusters that have left meanwhile. They are kept, so that the client receives `GONE` for them.
  const named =
    point === undefined && clusters !== undefined
      ? views.named(caller, clusters).map(({ name }) => name)
      : clusters && [...new Set(clusters)].map(clusterName);
  return {
    caller,
    model,
    after: point,
    query: {
      kinds,
      clusters: isEmpty ? undefined : named,
      conditions: { namespaces: isEmpty ? [] : namespaces, selector, where, search },
      countsJobs: countsJobs,
      filter,
    },
  };
}

/** Refuses a kind whose mirror holds only metadata, because Jobs are counted by their status. */
function refuseMetadataOnly([kind]: readonly ModelKind[]): void {
  if (kind === undefined) return;
  throw new MusterError('BAD_INPUT', `expected a kind of which more than metadata is mirrored, got ${keyOfKind(kind)}`);
}

/** Refuses filters that continue into another object. A change of that object would send no message. */
function refuseRelations(relations: RelationsByKind): void {
  const [name] = [...relations.values()].flat().map((relation) => relation.name);
  if (name === undefined) return;
  throw new MusterError(
    'BAD_INPUT',
    `expected no path that begins with ${name} in a stream: a change of the ${name} would change which objects match, without a message`,
  );
}

/**
 * The resume point for every cursor that another key sealed. Its digest differs from the digest of every real cursor, because those are
 * base64, which has no spaces.
 */
const ofOtherKey: ResumePoint = { digest: 'of another key', cursor: { scope: '', positions: new Map(), isUnreadable: true } };

function resumePointOf(seal: Seal, after: string, scope: StreamScope): ResumePoint {
  if (seal.isOfOtherKey(after, scope)) return ofOtherKey;
  const bytes = seal.open(after, scope);
  const cursor = parseStreamCursor(bytes);
  if (cursor === undefined) throw foreignCursor();
  return { digest: createHash('sha256').update(bytes).digest('base64'), cursor };
}

/** Resolves the names of kinds. Each kind appears once, even if it was named twice. */
function kindsOf(model: Model, names: readonly string[]): readonly ModelKind[] {
  if (names.length === 0) throw new MusterError('BAD_INPUT', 'expected at least one kind, got none');
  return [...new Set(boundedList('kinds', names).map((name) => kindByAnyName(model, name)))];
}
