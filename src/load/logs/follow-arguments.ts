import type { Log } from '../../core/log.ts';
import type { ModelKind } from '../../model/model.ts';
import type { QueueBudget } from '../queue-budget.ts';
import type { CheckedExtent, CheckedSelection } from './log-arguments.ts';
import type { ReadLogsOptions } from './read-logs.ts';
import type { UpstreamFollows } from './upstream-follows.ts';

/** The options for following logs, in addition to those for reading. */
export interface FollowLogsOptions extends ReadLogsOptions {
  readonly follows: UpstreamFollows;
  readonly budget: QueueBudget;
  readonly log: Log;
}

/** The checked arguments of a reader. */
export interface FollowArguments {
  readonly kind: ModelKind;
  readonly selection: CheckedSelection;
  readonly extent: CheckedExtent;
}
