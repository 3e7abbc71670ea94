import { MusterError } from '../../core/errors.ts';
import type { JobStatusMessage, JobSummaryView, StreamReader, StreamSource } from '../../load/streams/streams.ts';
import { type CompletionStatus, marks } from '../../propagate/propagation.ts';
import type { PropagationName, PropagationView } from '../../propagate/propagations.ts';
import type { GraphContext } from '../context.ts';

/** A message of the Jobs of one propagation. */
export interface PropagatedJobsMessage extends JobStatusMessage {
  readonly summary: JobSummaryView & { readonly completion: CompletionStatus };
}

/**
 * The labels that select the Jobs of a propagation, with those asked for besides.
 *
 * @throws {MusterError} `BAD_INPUT` if there is no such propagation, `UNAVAILABLE` without a hub.
 */
export async function labelsOfPropagation(
  { propagations, read }: GraphContext,
  { name, labels }: { readonly name: PropagationName; readonly labels: string | null | undefined },
): Promise<{ readonly labels: string; readonly view: PropagationView }> {
  const view = await propagations.get(read, name);
  if (view === undefined) {
    throw new MusterError(
      'BAD_INPUT',
      `expected a propagation that exists, got ${JSON.stringify(`${name.namespace}/${name.name}`.slice(0, 160))}`,
    );
  }
  const own = `${marks.propagation}=${view.propagation.metadata.uid}`;
  return { labels: labels === undefined || labels === null || labels.trim() === '' ? own : `${labels},${own}`, view };
}

/** The stream with `completion` in each summary: what the messages themselves count, and what is latched on the hub. */
export function withCompletion(
  source: StreamSource<JobStatusMessage>,
  { context, view }: { readonly context: GraphContext; readonly view: PropagationView },
): StreamSource<PropagatedJobsMessage> {
  return {
    async open(listener, signal) {
      const end = new AbortController();
      let latest = view;
      const { namespace, name } = view.propagation.metadata;
      const reader = await source.open(listener, signal);
      const life = AbortSignal.any([signal, end.signal]);
      await context.propagations.follow(
        context.read,
        { namespace, name },
        (next) => {
          latest = next ?? latest;
        },
        life,
      );
      return completing(reader, { latest: () => latest, end });
    },
  };
}

function completing(
  reader: StreamReader<JobStatusMessage>,
  { latest, end }: { readonly latest: () => PropagationView; readonly end: AbortController },
): StreamReader<PropagatedJobsMessage> {
  return {
    get hasMore() {
      return reader.hasMore;
    },
    take() {
      const message = reader.take();
      return message === undefined ? undefined : withSummary(message, latest());
    },
    pause: () => reader.pause(),
    [Symbol.dispose]() {
      end.abort();
      reader[Symbol.dispose]();
    },
  };
}

/** The cursor is sealed only if it is read. */
function withSummary(message: JobStatusMessage, view: PropagationView): PropagatedJobsMessage {
  const { type, cluster, kind, fault, added, modified, deleted, summary } = message;
  return {
    type,
    cluster,
    kind,
    ...(fault === undefined ? {} : { fault }),
    added,
    modified,
    deleted,
    summary: { ...summary, completion: completionOf(summary, view) },
    get cursor() {
      return message.cursor;
    },
  };
}

/** The hub's word may be a moment behind the Jobs themselves, and is kept when they are gone: so the larger counts. */
function completionOf({ byPhase, total }: JobSummaryView, { propagation: { spec, status } }: PropagationView): CompletionStatus {
  const asked = 'problems' in spec ? undefined : spec.completion;
  const counted = (phase: string) => byPhase.find((count) => count.phase === phase)?.count ?? 0;
  const known = status.completion;
  const mode = asked?.mode ?? known?.mode ?? 'All';
  const needed = known?.needed ?? (mode === 'Any' ? 1 : mode === 'Count' ? (asked?.count ?? 1) : total);
  const complete = Math.max(counted('COMPLETE'), known?.complete ?? 0);
  const failed = Math.max(counted('FAILED'), known?.failed ?? 0);
  return { mode, needed, complete, failed, done: known?.done === true || (needed > 0 && complete >= needed) };
}
