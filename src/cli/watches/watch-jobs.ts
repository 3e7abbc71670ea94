import { cellsOfJob, countInPhase, type JobState } from '../../core/columns/job-cells.ts';
import type { JsonObject } from '../../core/json.ts';
import { type StreamedChange, StreamedObjects } from '../../core/streams/streamed-objects.ts';
import { exitCodes } from '../client/command-failure.ts';
import { followSubscriptionField } from '../client/follow-subscription.ts';
import type { Session } from '../client/session.ts';
import { ChangeLines, eventHeader, MessageLines } from './change-lines.ts';
import { judgeJobs, type UntilChoice } from './job-ends.ts';
import { jobFrame } from './job-frame.ts';
import { type JobMessage, type JobSummary, jobStatusQuery } from './job-status.ts';
import { createLiveTable } from './live-table.ts';

/** The Jobs to watch, the output format, and the condition to stop. */
export interface WatchJobsOptions {
  /** Values of the variables `clusters`, `namespaces` and `labels`. */
  readonly selection: JsonObject;
  readonly output: 'json' | undefined;
  readonly until: UntilChoice | undefined;
}

/**
 * Shows the live status of Jobs until the signal aborts, or until the condition `until` is true or can no longer become true. The
 * condition is judged once every cluster with Jobs has sent its first state. A lost stream resumes where it was.
 *
 * @returns The exit code: 1 if the condition can no longer become true.
 */
export async function watchJobs(session: Session, { selection, output, until }: WatchJobsOptions): Promise<number> {
  const { terminal } = session;
  let cursor: string | null = null;
  const variables = (how: 'first' | 'resumed' | 'anew') => ({ ...selection, after: how === 'anew' ? null : cursor });
  const withState = new Set<string>();
  const show = output === 'json' ? jsonShow(session) : terminal.isInteractive ? tableShow(session) : lineShow(session);
  try {
    for await (const event of followSubscriptionField<JobMessage>(session, { query: jobStatusQuery, field: 'jobStatus', variables })) {
      if (event.type === 'restarted') {
        withState.clear();
        await show.restart();
      }
      if (event.type !== 'message') continue;
      const { message } = event;
      await show.show(message);
      cursor = message.cursor;
      noteState(withState, message);
      const verdict = until === undefined || !isComplete(withState, message.summary) ? 'open' : judgeJobs(until, tallyOf(message.summary));
      if (verdict === 'open') continue;
      await show.end();
      return ended(session, message.summary, verdict === 'true');
    }
    return exitCodes.good;
  } finally {
    await show.end();
  }
}

/**
 * Adds the cluster to `withState` once it has sent its whole first state. A message of type `INITIAL` or `RESET` is a piece of a first
 * state. The first message of another type shows that the state is complete.
 */
function noteState(withState: Set<string>, { type, cluster }: JobMessage): void {
  if (type === 'INITIAL' || type === 'RESET') withState.delete(cluster.name);
  else withState.add(cluster.name);
}

/** True if each cluster that has Jobs has sent its first state. The summary also counts Jobs whose messages have not arrived yet. */
function isComplete(withState: ReadonlySet<string>, { byCluster }: JobSummary): boolean {
  return byCluster.every(({ cluster, total }) => total === 0 || withState.has(cluster.name));
}

function ended({ terminal }: Session, { total, byPhase }: JobSummary, isGood: boolean): number {
  const [complete, failed] = [countInPhase(byPhase, 'COMPLETE'), countInPhase(byPhase, 'FAILED')];
  terminal.settle();
  terminal.err(`${total} ${total === 1 ? 'Job' : 'Jobs'}: ${complete} complete, ${failed} failed\n`);
  return isGood ? exitCodes.good : exitCodes.failed;
}

function tallyOf({ total, byPhase, byCluster }: JobSummary) {
  return {
    total,
    complete: countInPhase(byPhase, 'COMPLETE'),
    failed: countInPhase(byPhase, 'FAILED'),
    isWhole: byCluster.every(({ sync }) => sync.phase === 'SYNCED'),
  };
}

interface JobShow {
  show(message: JobMessage): Promise<void>;
  restart(): Promise<void>;
  /** Shows the last state, then stops. A second call does nothing. */
  end(): Promise<void>;
}

function jsonShow({ terminal }: Session): JobShow {
  const lines = new MessageLines((text) => terminal.out(text));
  return { show: (message) => lines.print(message), restart: () => lines.restart(), end: async () => undefined };
}

function lineShow(session: Session): JobShow {
  const row = ({ type, item }: StreamedChange<JobState>) => {
    const { status, completions, duration, age } = cellsOfJob(item, session.clock.now());
    return [item.cluster.name, item.namespace, item.name, type, status, completions, duration, age];
  };
  const header = ['CLUSTER', 'NAMESPACE', 'NAME', eventHeader, 'STATUS  ', 'COMPLETIONS', 'DURATION', 'AGE'];
  const lines = new ChangeLines(session, { header, row, changes: new StreamedObjects(versionOf) });
  return { show: (message) => lines.add(message), restart: async () => lines.restart(), end: () => lines.flush() };
}

/** Shows a table that is redrawn after changes and every second. The table contains the faults. */
function tableShow(session: Session): JobShow {
  const { terminal, clock } = session;
  const held = new StreamedObjects(versionOf);
  let summary: JobSummary | undefined;
  const { hasColor } = terminal;
  const table = createLiveTable(session, () =>
    jobFrame({ jobs: held.values(), summary, size: terminal.size(), nowMs: clock.now(), hasColor }),
  );
  return {
    show: async (message) => {
      held.apply(message);
      summary = message.summary;
      table.wake();
    },
    restart: async () => held.restart(),
    end: async () => table.end(),
  };
}

/** Returns the version of a Job. It contains the uid, because a recreated Job may have the same name. */
function versionOf({ job }: JobState): string {
  return `${job.metadata.uid} ${job.metadata.resourceVersion}`;
}
