import { MusterError } from '../../core/errors.ts';
import type { StreamSource } from '../../streams/stream-source.ts';
import type { ReadContext } from '../reads.ts';
import type { FollowLogsOptions } from './followed-logs.ts';
import { checkExtent, checkSelection } from './log-arguments.ts';
import { openLogReader } from './log-reader.ts';
import type { LogBatchView, LogExtent, LogSelection } from './logs.ts';
import { podsOf } from './read-logs.ts';

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
