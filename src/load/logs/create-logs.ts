import type { Access } from '../../access/access.ts';
import type { CallerOperation } from '../../access/caller-api.ts';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import { type Log, silentLog } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Model } from '../../model/model.ts';
import type { StreamSource } from '../../streams/stream-source.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import { createQueueBudget, type QueueBudget } from '../queue-budget.ts';
import { createClusterViews } from '../reads/cluster-views.ts';
import type { LiveMember } from '../reads/read-object.ts';
import type { ReadContext } from '../reads/reads.ts';
import type { FollowLogsOptions } from './follow-arguments.ts';
import { checkExtent, checkSelection } from './log-arguments.ts';
import { openLogReader } from './log-reader.ts';
import type { LogBatchView, LogExtent, LogSelection, Logs } from './logs.ts';
import { createPodLogReader, podsOf, readLogs } from './read-logs.ts';
import { createUpstreamFollows } from './upstream-follows.ts';

interface LogsOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Returns the model of the schema that is served now. */
  readonly model: () => Model;
  /** Returns the member of this name. Undefined if the cluster has left the fleet. */
  readonly member: (name: ClusterName) => LiveMember | undefined;
  /** Limits the bytes in the queues of all streams. Default: a budget of its own. */
  readonly budget?: QueueBudget;
  readonly clock: Clock;
  /** Logs errors of listeners. Default: no log. */
  readonly log?: Log;
}

/** Creates the logs of these clusters. It needs no disposal: each request and each reader releases what it holds. */
export function createLogs({ mirrors, access, model, member, budget = createQueueBudget(), clock, log = silentLog }: LogsOptions): Logs {
  const views = createClusterViews({ mirrors, access, settingsOf: (name) => member(name)?.settings });
  const options = { mirrors, access, views, model, member, clock };
  const follows = createUpstreamFollows();
  const readOfPod = createPodLogReader(options);
  return {
    read: (context, selection, extent) => readLogs(options, context, { selection, extent }),
    readOfPod: (context, row, extent) => readOfPod(context, { row, extent }),
    follow: (context, selection, extent) => followLogs({ ...options, follows, budget, log }, context, { selection, extent }),
  };
}

const defaultTailLines = 10;

/**
 * Returns the source of a stream of logs: see `Logs.follow`. Each reader sends its own requests, also if two readers follow the same log.
 */
function followLogs(
  options: FollowLogsOptions,
  { caller, requestId }: ReadContext,
  request: { readonly selection: LogSelection; readonly extent: LogExtent },
): StreamSource<LogBatchView> {
  const selection = checkSelection(request.selection);
  const extent = checkExtent(request.extent, defaultTailLines);
  // Unknown clusters are refused now, and not when the stream is opened.
  if (selection.clusters !== undefined) options.views.named(caller, selection.clusters);
  const kind = podsOf(options.model());
  if (kind === undefined) throw new MusterError('BAD_INPUT', 'expected clusters that serve Pods, got a schema without them');
  const operation: CallerOperation = { caller, requestId };
  return {
    open: (listener, signal) => openLogReader({ options, operation, followed: { kind, selection, extent }, listener }, signal),
  };
}
