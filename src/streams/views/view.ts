import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ScheduledWorker } from '../../core/scheduling/work-scheduler.ts';
import type { Model } from '../../model/model.ts';
import type { MirrorsChange } from '../../watch/mirrors.ts';
import type { ChangesMessage } from '../messages/changes-message.ts';
import { jobSummaryOf } from '../messages/job-phase-counter.ts';
import type { MessageDraft, SourceSlice } from '../messages/message-drafts.ts';
import type { MessageMaker } from '../messages/message-makers.ts';
import { createMessageRun, type KnownPositions, type MessageRun } from '../messages/message-run.ts';
import { printStreamCursor, type SourcePosition, withPositions } from '../messages/stream-cursor.ts';
import { audiencesOf } from '../readers/audiences.ts';
import type { ReaderHost, ViewReader } from '../readers/view-reader.ts';
import { CutPace } from './cut-pace.ts';
import { Openings, type RunContents } from './openings.ts';
import { slicesBetweenViews } from './resume.ts';
import { isCostly } from './selected-mirror.ts';
import type { ViewDependencies } from './view-dependencies.ts';
import { pieceMs, ViewJudging } from './view-judging.ts';
import { type MoveTarget, ViewMoves } from './view-moves.ts';
import { failedViewError, followRights, lostRightError, type RightsVerdict, ViewRights } from './view-rights.ts';
import type { ViewSource } from './view-source.ts';
import { areServed, type ViewPositions, type ViewQuery, ViewSources } from './view-sources.ts';
import type { WatchScope } from './watch-scope.ts';

interface ViewOptions<Message extends ChangesMessage> {
  readonly dependencies: ViewDependencies;
  readonly query: ViewQuery;
  readonly scope: WatchScope;
  /** Makes the message of a draft: see `messages/message-makers.ts`. The resolvers of subscriptions read its fields. */
  readonly maker: MessageMaker<Message>;
  /** Returns what a caller may watch of the query now. */
  readonly scopeFor: (caller: Caller, signal: AbortSignal) => WatchScope | Promise<WatchScope>;
  /** Returns the view of the same query for another scope. */
  readonly viewFor: (scope: WatchScope) => StreamView<Message>;
  /** Called when the view has ended, so that no reader joins it any more. */
  readonly onEnd: () => void;
}

/** Number of changes of clusters and mirrors that one piece of work handles. */
const changesAtOnce = 32;
const bookmarkEveryMs = 30_000;

/**
 * All streams with the same query and the same rights. A cut turns the news of the sources into one run of messages, which all readers in
 * step share (docs/internals/streams.md 2).
 *
 * The view begins with its first reader and ends with its last. It works in pieces, in one queue with all other views: see `work`.
 *
 * Next: a cut gives the messages to the readers (`ViewReader.deliver` and `notify`, readers/view-reader.ts).
 */
export class StreamView<Message extends ChangesMessage> implements ReaderHost<Message>, MoveTarget, ScheduledWorker {
  readonly #options: ViewOptions<Message>;
  readonly #abortController = new AbortController();
  readonly #rights: ViewRights;
  readonly #sources: ViewSources;
  readonly #pace: CutPace;
  readonly #openings: Openings<Message>;
  readonly #moves: ViewMoves<Message, StreamView<Message>>;
  readonly #judging: ViewJudging;
  /** Readers that get messages. */
  readonly #readers = new Set<ViewReader<Message>>();
  /** Readers that get their first messages with the next cut. */
  readonly #joining = new Set<ViewReader<Message>>();
  /** Readers that joined in this event-loop turn. */
  readonly #newcomers = new Set<ViewReader<Message>>();
  /** Readers in step that have not taken all of the latest batch and have not paused. */
  readonly #untaken = new Set<ViewReader<Message>>();
  /** Changes of clusters and mirrors that are not handled yet. */
  #mirrorChanges: MirrorsChange[] = [];
  /** Clusters to add after pending readers have moved to the new view. Undefined: none wait. */
  #membersToAdd: ReadonlySet<ClusterName> | undefined;
  #positions: ViewPositions;

  constructor(options: ViewOptions<Message>) {
    this.#options = options;
    const { dependencies, query, scope, scopeFor, viewFor } = options;
    const { access, mirrors, clock } = dependencies;
    this.#rights = new ViewRights({ access, clock, query, scope, scopeFor }, this.#abortController.signal);
    this.#sources = new ViewSources({
      ...dependencies,
      query,
      scope,
      onNews: () => this.#schedule(),
      guard: (action) => this.#guarded(action),
    });
    this.#positions = this.#sources.positions;
    this.#openings = new Openings({
      scope: scope.digest,
      kinds: query.kinds,
      sources: () => this.#sources.all,
      run: (contents) => this.#createRun(contents),
    });
    this.#moves = new ViewMoves({ clock, viewFor });
    this.#judging = new ViewJudging({ clock, isCostly: isCostly(query.conditions), sources: () => this.#sources.all.values() });
    const onImpatient = () => {
      this.#untaken.clear();
      this.#schedule();
    };
    this.#pace = new CutPace({ clock, onElapsed: () => this.#schedule(), onImpatient }, this.#abortController.signal);
    mirrors.onChange((change) => this.#onMirrorsChange(change), this.#abortController.signal);
    const concerns = (cluster: ClusterName) => this.#sources.concerns(cluster);
    followRights({ access, clock, concerns, onCheck: () => this.#guarded(() => this.#recheck()) }, this.#abortController.signal);
  }

  get readers(): number {
    return this.#readers.size + this.#joining.size + this.#newcomers.size;
  }

  /** Adds a reader. It gets its first messages in a later event-loop turn. */
  join(reader: ViewReader<Message>): void {
    this.#newcomers.add(reader);
    this.#rights.add(reader.caller);
    if (this.#newcomers.size > 1) return;
    // Delayed, because the caller of `open` does not have the reader yet.
    setImmediate(() => {
      for (const newcomer of this.#newcomers) this.#joining.add(newcomer);
      this.#newcomers.clear();
      this.#schedule();
    });
  }

  leave(reader: ViewReader<Message>): void {
    if (!this.#readers.delete(reader) && !this.#joining.delete(reader) && !this.#newcomers.delete(reader)) return;
    this.#rights.remove(reader.caller);
    this.caughtUp(reader);
    this.endUnread();
  }

  hasUntaken(reader: ViewReader<Message>): void {
    this.#untaken.add(reader);
  }

  caughtUp(reader: ViewReader<Message>): void {
    if (!this.#untaken.delete(reader) || this.#untaken.size > 0 || !this.#pace.isWaiting) return;
    this.#pace.stopWaiting();
    this.#schedule();
  }

  make(draft: MessageDraft, over: ReadonlyMap<string, SourcePosition | undefined>): Message {
    return this.#createMessage(draft, { base: this.#positions, over: () => over }, false);
  }

  /** Ends the streams if the model no longer has one of their kinds, or if no cluster serves any of them. */
  modelChanged({ kinds }: Model): void {
    if (!areServed(this.#options.query.kinds, kinds))
      this.#endAll(new MusterError('GONE', 'no cluster serves the requested kinds any more'));
  }

  areSourcesReady(): boolean {
    if (!this.#sources.areComplete) this.#schedule();
    return this.#sources.areComplete;
  }

  endUnread(): void {
    if (this.readers === 0) this.#end();
  }

  /** Ends the view. Its readers are disposed without a message. */
  endSilently(): void {
    for (const reader of this.#all()) reader[Symbol.dispose]();
    this.#end();
  }

  #all(): readonly ViewReader<Message>[] {
    return [...this.#readers, ...this.#joining, ...this.#newcomers];
  }

  #end(): void {
    if (this.#abortController.signal.aborted) return;
    this.#abortController.abort();
    this.#options.dependencies.scheduler.cancel(this);
    this.#sources.end();
    this.#moves.end();
    this.#options.onEnd();
  }

  #endAll(reason: MusterError): void {
    for (const reader of this.#all()) reader.end(reason);
  }

  /** Runs an action. If it throws, the streams of this view end, and no others. */
  #guarded(action: () => void): void {
    if (this.#abortController.signal.aborted) return;
    try {
      action();
    } catch (error) {
      const isKnown = error instanceof MusterError;
      if (!isKnown) this.#options.dependencies.log.error({ err: loggableError(error) }, 'a view of streams failed and was ended');
      this.#endAll(isKnown ? error : failedViewError());
    }
  }

  #schedule(): void {
    if (!this.#abortController.signal.aborted) this.#options.dependencies.scheduler.schedule(this);
  }

  /** Does the next piece of work. True if more work is left. Called by the scheduler after `#schedule`. */
  work(): boolean {
    let isMore = false;
    this.#guarded(() => {
      isMore = this.#workOnce();
    });
    return isMore && !this.#abortController.signal.aborted;
  }

  #workOnce(): boolean {
    for (const change of this.#mirrorChanges.splice(0, changesAtOnce)) this.#applyChange(change);
    if (this.#mirrorChanges.length > 0) return true;
    if (!this.#sources.areComplete) {
      const isMore = this.#sources.makeMissing(this.#readers.size > 0 ? 'some' : 'none');
      if (this.#readers.size === 0 && this.#sources.areComplete) this.#positions = this.#sources.positions;
      return isMore;
    }
    if (!this.#moves.areDone) {
      this.#moves.proceed(this.#all(), (reader, target) => this.#moveReader(reader, target));
      return true;
    }
    if (this.#membersToAdd !== undefined) {
      this.#sources.addMissing(this.#membersToAdd);
      this.#membersToAdd = undefined;
      return true;
    }
    return this.#cutAndAdmit();
  }

  /**
   * Cuts if there is news, then lets waiting readers begin. If there is news but a reader has not taken the latest batch yet, does neither.
   * True if more work is left.
   */
  #cutAndAdmit(): boolean {
    if (this.#pace.isWindowOpen && this.#joining.size === 0) return false;
    // A first state needs all sources, also those without events.
    this.#sources.pull(this.#joining.size > 0 ? 'all' : 'news');
    if (!this.#judging.proceed(this.#joining)) return true;
    if (this.#sources.hasNews) {
      if (this.#untaken.size > 0) {
        this.#pace.waitForReaders();
        return false;
      }
      this.#cut();
    } else this.#sendBookmark();
    return this.#admit();
  }

  /** Sends all news, also to readers that have not taken the latest batch. */
  #cut(): void {
    this.#pace.stopWaiting();
    this.#untaken.clear();
    const slices = this.#sources.cut(this.#readers.size > 0 ? 'some' : 'none');
    this.#endWithoutRights(slices);
    this.#positions = this.#sources.positions;
    this.#openings.forget();
    this.#deliver(slices);
    // If one mirror has replaced another, this cut has sent the end of the old one. The next cut sends the new one.
    if (this.#sources.hasNews) this.#schedule();
  }

  #deliver(slices: readonly SourceSlice[]): void {
    if (slices.length === 0 || this.#readers.size === 0) return;
    const readers = [...this.#readers];
    const { inStep, behind } = audiencesOf(readers, slices);
    for (const reader of behind) reader.addBacklog(slices);
    const runs = inStep.map(({ readers: together, before, incompletePositions }) => {
      const run = this.#createRun({ slices, before, incompletePositions });
      for (const reader of together) reader.deliver(slices, run);
      return run;
    });
    if (runs.length === 0 || runs.some(({ length }) => length > 0)) this.#pace.noteBatch();
    for (const reader of readers) reader.notify();
  }

  #sendBookmark(): void {
    if (this.#pace.quietMs < bookmarkEveryMs || this.#untaken.size > 0) return;
    const source = this.#sources.confirmed;
    if (source === undefined) return;
    this.#sources.cut('none');
    this.#positions = this.#sources.positions;
    this.#openings.forget();
    this.#deliver([{ source, before: source.known, after: source.known, news: { type: 'confirmed' } }]);
  }

  /**
   * Gives waiting readers their first messages, for at most 2 ms: collecting what a reader has missed may take a while. True if readers are
   * left.
   */
  #admit(): boolean {
    const { clock } = this.#options.dependencies;
    const endMs = clock.monotonic() + pieceMs;
    const admitted: ViewReader<Message>[] = [];
    for (const reader of this.#joining) {
      this.#joining.delete(reader);
      this.#readers.add(reader);
      const opening = this.#openings.openingAt(reader.after);
      reader.startRun(opening, 'first');
      for (const backlog of opening.incomplete()) reader.waitForSource(backlog);
      admitted.push(reader);
      if (clock.monotonic() > endMs) break;
    }
    for (const reader of admitted) reader.notify();
    if (this.#joining.size === 0) this.#judging.forget();
    return this.#joining.size > 0;
  }

  #createRun({ isOpening = false, ...run }: RunContents): MessageRun<Message> {
    return createMessageRun({ ...run, positions: this.#positions, make: (draft, known) => this.#createMessage(draft, known, isOpening) });
  }

  #createMessage(draft: MessageDraft, { base, over }: KnownPositions<ViewPositions>, isOpening: boolean): Message {
    const { dependencies, query, scope, maker } = this.#options;
    return maker(draft, {
      isOpening,
      seal: ({ source, position }) => {
        const positions = withPositions(base.positions, new Map([...over(), [source.key, position]]));
        return dependencies.seal.close(printStreamCursor({ scope: scope.digest, positions }), { stream: query.filter });
      },
      summarize: () =>
        jobSummaryOf(
          base.counts,
          base.syncs.map((sent) => this.#sources.withCurrentAge(sent)),
        ),
    });
  }

  #onMirrorsChange(change: MirrorsChange): void {
    if (!this.#sources.concerns(change.cluster)) return;
    this.#mirrorChanges.push(change);
    this.#schedule();
  }

  #applyChange(change: MirrorsChange): void {
    this.#sources.mirrorsChanged(change);
    if (change.type === 'joined') this.#check();
  }

  #recheck(): void {
    for (const cluster of this.#sources.clusters) this.#mirrorChanges.push({ type: 'changed', cluster });
    this.#schedule();
    this.#check();
  }

  /** Ends the readers whose caller has lost the right to one of these sources, before a byte of the slices is sent. */
  #endWithoutRights(slices: readonly SourceSlice[]): void {
    const { mirrors } = this.#options.dependencies;
    const members = mirrors.members();
    const sent = slices.map(({ source }) => source).filter(({ cluster }) => members.has(cluster.name));
    const lost = this.#rights.callersWithout(sent);
    if (lost.size > 0) for (const reader of this.#all()) if (lost.has(reader.caller.key)) reader.end(lostRightError());
  }

  #check(): void {
    const { mirrors } = this.#options.dependencies;
    const members = mirrors.members();
    this.#rights.check(
      [...this.#sources.all.values()],
      (cluster) => mirrors.members().has(cluster),
      (verdicts) => this.#guarded(() => this.#applyVerdicts(verdicts, members)),
    );
  }

  #applyVerdicts(verdicts: ReadonlyMap<string, RightsVerdict>, members: ReadonlySet<ClusterName>): void {
    for (const reader of this.#all()) if (verdicts.get(reader.caller.key)?.type === 'lost') reader.end(lostRightError());
    this.#moves.applyVerdicts(verdicts);
    this.#membersToAdd = members;
    this.#schedule();
  }

  /** Moves a reader to `target`, the view of its current rights. For each source with other rights, the reader gets the whole list. */
  #moveReader(reader: ViewReader<Message>, target: StreamView<Message>): void {
    if (this.#readers.has(reader)) {
      // Cuts both views now, so that the reader has missed the same changes in both.
      this.#cutNow();
      target.#guarded(() => target.#cutNow());
      if (target.#abortController.signal.aborted) reader.end(failedViewError());
      if (!reader.ended) target.#adopt(reader, this.#sources.all);
    } else {
      reader.moveTo(target);
      target.join(reader);
    }
    this.leave(reader);
  }

  #cutNow(): void {
    this.#sources.pull('all');
    if (this.#sources.hasNews) this.#cut();
  }

  #adopt(reader: ViewReader<Message>, from: ReadonlyMap<string, ViewSource>): void {
    this.#readers.add(reader);
    this.#rights.add(reader.caller);
    reader.moveTo(this);
    reader.addBacklog(slicesBetweenViews(from, this.#sources.all));
    reader.notify();
  }
}
