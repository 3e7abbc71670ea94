import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { ModelKind } from '../model/model.ts';
import { type CheckedExtent, type CheckedSelection, checkExtent, checkSelection } from './log-arguments.ts';
import { openLogReader } from './log-reader.ts';
import type { LogBatchView, LogExtent, LogSelection } from './logs.ts';
import type { QueueBudget } from './queue-budget.ts';
import { podsOf, type ReadLogsOptions } from './read-logs.ts';
import type { ReadContext } from './reads.ts';
import type { StreamSource } from './streams.ts';
import type { UpstreamFollows } from './upstream-follows.ts';

export interface FollowLogsOptions extends ReadLogsOptions {
  readonly follows: UpstreamFollows;
  readonly budget: QueueBudget;
  readonly log: Log;
}

/** What is followed, checked. */
export interface FollowedLogs {
  readonly kind: ModelKind;
  readonly selection: CheckedSelection;
  readonly extent: CheckedExtent;
}

const defaultTailLines = 10;

/** `Logs.follow`. Each reader is its own: what one follows no other is given. */
export function followLogs(
  options: FollowLogsOptions,
  { caller }: ReadContext,
  asked: { readonly selection: LogSelection; readonly extent: LogExtent },
): StreamSource<LogBatchView> {
  const selection = checkSelection(asked.selection);
  const extent = checkExtent(asked.extent, defaultTailLines);
  // Unknown ones are refused now, not when it is opened.
  if (selection.clusters !== undefined) options.views.named(caller, selection.clusters);
  const kind = podsOf(options.model());
  if (kind === undefined) throw new MusterError('BAD_INPUT', 'expected clusters that serve Pods, got a schema without them');
  return {
    open: (listener, signal) => openLogReader({ options, caller, followed: { kind, selection, extent }, listener }, signal),
  };
}
