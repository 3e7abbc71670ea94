import type { Access } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import { type Log, silentLog } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Model } from '../../model/model.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import { createClusterViews } from '../cluster-views.ts';
import { createQueueBudget, type QueueBudget } from '../queue-budget.ts';
import type { LiveMember } from '../singles.ts';
import { followLogs } from './follow-logs.ts';
import type { Logs } from './logs.ts';
import { createPodLogReader, readLogs } from './read-logs.ts';
import { createUpstreamFollows } from './upstream-follows.ts';

interface LogsOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** That of the schema that serves now. */
  readonly model: () => Model;
  /** Undefined if no such cluster belongs to the fleet any more. */
  readonly member: (name: ClusterName) => LiveMember | undefined;
  /** What the queues of all streams may hold together; by default one of its own. */
  readonly budget?: QueueBudget;
  readonly clock: Clock;
  /** Told of listeners that throw; nobody by default. */
  readonly log?: Log;
}

/** Logs over these clusters. It owns nothing that has to be ended: each request and each reader gives back what it holds. */
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
