import { isDeepStrictEqual } from 'node:util';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { ClusterView, Row } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import { type CompletionStatus, marks } from '../../propagate/model/propagation.ts';
import type { PropagationName, PropagationView } from '../../propagate/model/propagations.ts';
import type { ChangeType, JobStatusMessage, JobSummaryView } from '../../streams/messages/changes-message.ts';
import { ObjectMessage } from '../../streams/object-message.ts';
import type { StreamListener, StreamReader, StreamSource } from '../../streams/stream-source.ts';
import type { GraphContext } from '../context/context.ts';

/** A message about the Jobs of one Propagation. */
export interface PropagatedJobsMessage extends JobStatusMessage {
  readonly summary: JobSummaryView & { readonly completion: CompletionStatus };
}

/**
 * Returns the label selector for the Jobs of a Propagation, joined with the requested selector, and the state of the Propagation.
 *
 * @throws {MusterError} `BAD_INPUT` if the Propagation does not exist, `UNAVAILABLE` without a hub.
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

/**
 * Adds `completion` to the summary of each message. It combines the counts of the messages with the state that the hub keeps. A change of the
 * completion alone is sent as a `BOOKMARK`.
 */
export function withCompletion(
  source: StreamSource<JobStatusMessage>,
  { context, view }: { readonly context: GraphContext; readonly view: PropagationView },
): StreamSource<PropagatedJobsMessage> {
  return {
    async open(listener, signal) {
      const reader = new CompletingReader(await source.open(listener, signal), { listener, view });
      const { namespace, name } = view.propagation.metadata;
      const life = AbortSignal.any([signal, reader.life]);
      const changed = (next: PropagationView | undefined) => reader.viewChanged(next);
      await context.propagations.follow(context.read, { namespace, name }, { changed, ended: (reason) => listener.ended(reason) }, life);
      return reader;
    },
  };
}

class CompletingReader implements StreamReader<PropagatedJobsMessage> {
  readonly #reader: StreamReader<JobStatusMessage>;
  readonly #listener: StreamListener;
  readonly #life = new AbortController();
  #view: PropagationView;
  #last: PropagatedJobsMessage | undefined;

  constructor(
    reader: StreamReader<JobStatusMessage>,
    { listener, view }: { readonly listener: StreamListener; readonly view: PropagationView },
  ) {
    this.#reader = reader;
    this.#listener = listener;
    this.#view = view;
  }

  get life(): AbortSignal {
    return this.#life.signal;
  }

  get hasMore(): boolean {
    return this.#reader.hasMore || this.#isChanged;
  }

  /**
   * Stores the new state of the Propagation, and notifies the listener if this changes the completion. `next` is undefined if the Propagation
   * was deleted: the last state then stays.
   */
  viewChanged(next: PropagationView | undefined): void {
    if (this.#life.signal.aborted || next === undefined) return;
    const hadMore = this.hasMore;
    this.#view = next;
    if (!hadMore && this.hasMore) this.#listener.ready();
  }

  take(): PropagatedJobsMessage | undefined {
    const message = this.#reader.take();
    const last = this.#last;
    if (message !== undefined) this.#last = new PropagatedMessage(message, this.#view);
    else if (last !== undefined && this.#isChanged) this.#last = new PropagatedMessage(bookmarkAfter(last), this.#view);
    else return undefined;
    return this.#last;
  }

  pause(): void {
    this.#reader.pause();
  }

  [Symbol.dispose](): void {
    this.#life.abort();
    this.#last = undefined;
    this.#reader[Symbol.dispose]();
  }

  /** True if the completion differs from that of the last message. */
  get #isChanged(): boolean {
    if (this.#last === undefined) return false;
    const { summary } = this.#last;
    return !isDeepStrictEqual(completionOf(summary, this.#view), summary.completion);
  }
}

/** Creates a `BOOKMARK` without Jobs, with the cursor and the summary of an earlier message. */
function bookmarkAfter(message: JobStatusMessage): JobStatusMessage {
  const { cluster, kind, cursor, summary } = message;
  return { type: 'BOOKMARK', cluster, kind, cursor, added: [], modified: [], deleted: [], summary };
}

class PropagatedMessage extends ObjectMessage implements PropagatedJobsMessage {
  readonly type: ChangeType;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  declare readonly fault?: Fault;
  readonly summary: PropagatedJobsMessage['summary'];
  readonly #message: JobStatusMessage;
  readonly #view: PropagationView;

  constructor(message: JobStatusMessage, view: PropagationView) {
    super();
    const { type, cluster, kind, fault, summary } = message;
    this.type = type;
    this.cluster = cluster;
    this.kind = kind;
    if (fault !== undefined) this.fault = fault;
    this.summary = { ...summary, completion: completionOf(summary, view) };
    this.#message = message;
    this.#view = view;
  }

  get added(): readonly Row[] {
    return this.#message.added;
  }

  get modified(): readonly Row[] {
    return this.#message.modified;
  }

  get deleted(): readonly Row[] {
    return this.#message.deleted;
  }

  /** The cursor of the message. It is sealed only if it is read. */
  get cursor(): string {
    return this.#message.cursor;
  }

  get objectCount(): number {
    const { added, modified, deleted } = this.#message;
    return added.length + modified.length + deleted.length;
  }

  split(max: number): readonly PropagatedMessage[] {
    const parts: readonly JobStatusMessage[] = this.#message instanceof ObjectMessage ? this.#message.split(max) : [this.#message];
    return parts.map((part) => new PropagatedMessage(part, this.#view));
  }

  renew(): PropagatedMessage | undefined {
    const renewed: JobStatusMessage | undefined = this.#message instanceof ObjectMessage ? this.#message.renew() : undefined;
    return renewed && new PropagatedMessage(renewed, this.#view);
  }
}

/**
 * Computes the completion. The counts on the hub may be older than the Jobs, but stay after the Jobs are gone. So the larger count wins.
 */
function completionOf({ byPhase, total }: JobSummaryView, { propagation: { metadata, spec, status } }: PropagationView): CompletionStatus {
  const requested = 'problems' in spec ? undefined : spec.completion;
  const counted = (phase: string) => byPhase.find((count) => count.phase === phase)?.count ?? 0;
  const mode = requested?.mode ?? status.completion?.mode ?? 'All';
  // The status may be about an earlier spec with another completion. Then its `needed` and `done` do not count.
  const isObserved = status.observedGeneration === metadata.generation;
  const isSameCount = requested?.count === undefined || requested.count === status.completion?.needed;
  const isCurrent = status.completion?.mode === mode && (isObserved || isSameCount);
  const known = isCurrent ? status.completion : undefined;
  const needed = known?.needed ?? (mode === 'Any' ? 1 : mode === 'Count' ? (requested?.count ?? 1) : total);
  const complete = Math.max(counted('COMPLETE'), status.completion?.complete ?? 0);
  const failed = Math.max(counted('FAILED'), status.completion?.failed ?? 0);
  return { mode, needed, complete, failed, done: known?.done === true || (needed > 0 && complete >= needed) };
}
