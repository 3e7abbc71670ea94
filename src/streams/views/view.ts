import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ScheduledWorker } from '../../core/scheduling/work-scheduler.ts';
import type { StreamScope } from '../../load/reads/cursor-seal.ts';
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
import { failedViewError, lostRightError, type RightsVerdict, ViewRights } from './view-rights.ts';
import type { ViewSource } from './view-source.ts';
import { type ViewPositions, type ViewQuery, ViewSources } from './view-sources.ts';
import type { WatchScope } from './watch-scope.ts';

interface ViewOptions<Message extends ChangesMessage> {
  readonly surroundings: ViewDependencies;
  readonly query: ViewQuery;
  readonly scope: WatchScope;
  readonly maker: MessageMaker<Message>;
  /** What a caller may watch of the query now. */
  readonly scopeFor: (caller: Caller, signal: AbortSignal) => WatchScope | Promise<WatchScope>;
  /** The view of the same query for another scope. */
  readonly viewFor: (scope: WatchScope) => StreamView<Message>;
  /** It has ended: nobody else is to join it. */
  readonly onEnd: () => void;
}

/** Clusters that have changed, in one piece of work. */
const heardAtOnce = 32;
const bookmarkEveryMs = 30_000;
const checkEveryMs = 60_000;

/**
 * What all who ask the same with the same rights are told: the sources' news, cut into batches that are the same objects for all (docs/internals/streams.md 2).
 *
 * Begins with its first reader and ends with its last; nothing is left of it then. All it does is done in pieces, in the row in which all views
 * stand: thousands of them take several turns for what concerns them all.
 */
export class StreamView<Message extends ChangesMessage> implements ReaderHost<Message>, MoveTarget, ScheduledWorker {
  readonly #options: ViewOptions<Message>;
  readonly #life = new AbortController();
  readonly #rights: ViewRights;
  readonly #sources: ViewSources;
  readonly #sealScope: StreamScope;
  readonly #pace: CutPace;
  readonly #openings: Openings<Message>;
  readonly #moves: ViewMoves<Message, StreamView<Message>>;
  readonly #judging: ViewJudging;
  /** Who is told. */
  readonly #readers = new Set<ViewReader<Message>>();
  /** Who will be, from the next attempt on. */
  readonly #joining = new Set<ViewReader<Message>>();
  /** Who has come in this turn. */
  readonly #newcomers = new Set<ViewReader<Message>>();
  /** Readers in step that have something of the last batch still to take, and have not paused. */
  readonly #untaken = new Set<ViewReader<Message>>();
  /** What has become of clusters and mirrors, still to be looked at. */
  #heard: MirrorsChange[] = [];
  /** The members, once those who are in no place to see all of them have moved. */
  #arrived: ReadonlySet<ClusterName> | undefined;
  #standing: ViewPositions;

  constructor(options: ViewOptions<Message>) {
    this.#options = options;
    const { surroundings, query, scope, scopeFor, viewFor } = options;
    const { access, mirrors, clock } = surroundings;
    this.#sealScope = { stream: query.filter };
    this.#rights = new ViewRights({ access, scope, scopeFor }, this.#life.signal);
    this.#sources = new ViewSources({
      ...surroundings,
      query,
      scope,
      onNews: () => this.#stir(),
      guard: (action) => this.#guarded(action),
    });
    this.#standing = this.#sources.positions;
    this.#openings = new Openings({
      scope: scope.digest,
      kinds: query.kinds,
      sources: () => this.#sources.all,
      run: (said) => this.#run(said),
    });
    this.#moves = new ViewMoves({ clock, viewFor });
    this.#judging = new ViewJudging({ clock, isCostly: isCostly(query.conditions), sources: () => this.#sources.all.values() });
    const onImpatient = () => {
      this.#untaken.clear();
      this.#stir();
    };
    this.#pace = new CutPace({ clock, onElapsed: () => this.#stir(), onImpatient }, this.#life.signal);
    mirrors.onChange((change) => this.#hear(change), this.#life.signal);
    void this.#checkNowAndThen();
  }

  get readers(): number {
    return this.#readers.size + this.#joining.size + this.#newcomers.size;
  }

  /** It will be told its first messages in a later turn. */
  join(reader: ViewReader<Message>): void {
    this.#newcomers.add(reader);
    this.#rights.add(reader.caller);
    if (this.#newcomers.size > 1) return;
    // Not in this turn: whoever opens a stream has no reader yet.
    setImmediate(() => {
      for (const newcomer of this.#newcomers) this.#joining.add(newcomer);
      this.#newcomers.clear();
      this.#stir();
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
    this.#stir();
  }

  make(draft: MessageDraft, over: ReadonlyMap<string, SourcePosition | undefined>): Message {
    return this.#make(draft, { base: this.#standing, over: () => over }, false);
  }

  /** Ends those streams whose kinds the model has no more, or nobody serves any more. */
  modelChanged({ kinds }: Model): void {
    const { query } = this.#options;
    const now = query.kinds.map((kind) => ({ kind, known: kinds.get(keyOfKind(kind)) }));
    const isAbsent = now.some(({ known }) => known === undefined);
    const isForsaken = now.every(({ kind, known }) => known?.deprecated !== undefined && kind.deprecated === undefined);
    if (isAbsent || isForsaken) this.#endAll(new MusterError('GONE', 'no cluster serves what was asked for any more'));
  }

  areSourcesReady(): boolean {
    if (!this.#sources.areComplete) this.#stir();
    return this.#sources.areComplete;
  }

  endUnread(): void {
    if (this.readers === 0) this.#end();
  }

  /** Ends it without a word to its readers. */
  endSilently(): void {
    for (const reader of this.#all()) reader[Symbol.dispose]();
    this.#end();
  }

  #all(): readonly ViewReader<Message>[] {
    return [...this.#readers, ...this.#joining, ...this.#newcomers];
  }

  #end(): void {
    if (this.#life.signal.aborted) return;
    this.#life.abort();
    this.#options.surroundings.scheduler.cancel(this);
    this.#sources.end();
    this.#moves.end();
    this.#options.onEnd();
  }

  #endAll(reason: MusterError): void {
    for (const reader of this.#all()) reader.end(reason);
  }

  /** A bug ends the streams of this view, and nothing else. */
  #guarded(action: () => void): void {
    if (this.#life.signal.aborted) return;
    try {
      action();
    } catch (error) {
      const isKnown = error instanceof MusterError;
      if (!isKnown) this.#options.surroundings.log.error({ err: loggableError(error) }, 'a view of streams failed and was ended');
      this.#endAll(isKnown ? error : failedViewError());
    }
  }

  #stir(): void {
    if (!this.#life.signal.aborted) this.#options.surroundings.scheduler.schedule(this);
  }

  /** The next piece of what there is to do. */
  work(): boolean {
    let isMore = false;
    this.#guarded(() => {
      isMore = this.#proceed();
    });
    return isMore && !this.#life.signal.aborted;
  }

  #proceed(): boolean {
    for (const change of this.#heard.splice(0, heardAtOnce)) this.#take(change);
    if (this.#heard.length > 0) return true;
    if (!this.#sources.areComplete) {
      const isMore = this.#sources.makeMissing(this.#readers.size > 0 ? 'some' : 'none');
      if (this.#readers.size === 0 && this.#sources.areComplete) this.#standing = this.#sources.positions;
      return isMore;
    }
    if (!this.#moves.areDone) {
      this.#moves.proceed(this.#all(), (reader, target) => this.#move(reader, target));
      return true;
    }
    if (this.#arrived !== undefined) {
      this.#sources.addMissing(this.#arrived);
      this.#arrived = undefined;
      return true;
    }
    return this.#attempt();
  }

  /** Cuts if there is news and everybody is ready for it, and lets in who waits for that. True if there is more to do at once. */
  #attempt(): boolean {
    if (this.#pace.isWindowOpen && this.#joining.size === 0) return false;
    // What is told first is all there is, also of sources that have said nothing.
    this.#sources.pull(this.#joining.size > 0 ? 'all' : 'news');
    if (!this.#judging.proceed(this.#joining)) return true;
    if (this.#sources.hasNews) {
      if (this.#untaken.size > 0) {
        this.#pace.waitForReaders();
        return false;
      }
      this.#cut();
    } else this.#tellBookmark();
    return this.#admit();
  }

  /** Tells all that is new, also to those who have not taken what was told before. */
  #cut(): void {
    this.#pace.stopWaiting();
    this.#untaken.clear();
    const parts = this.#sources.cut(this.#readers.size > 0 ? 'some' : 'none');
    this.#expel(parts);
    this.#standing = this.#sources.positions;
    this.#openings.forget();
    this.#tell(parts);
    // Where one mirror has taken the place of another, the end of the old one is told first.
    if (this.#sources.hasNews) this.#stir();
  }

  #tell(parts: readonly SourceSlice[]): void {
    if (parts.length === 0 || this.#readers.size === 0) return;
    const readers = [...this.#readers];
    const { inStep, behind } = audiencesOf(readers, parts);
    for (const reader of behind) reader.addBacklog(parts);
    const runs = inStep.map(({ readers: together, before, beside }) => {
      const run = this.#run({ parts, before, beside });
      for (const reader of together) reader.deliver(parts, run);
      return run;
    });
    if (runs.length === 0 || runs.some(({ length }) => length > 0)) this.#pace.noteBatch();
    for (const reader of readers) reader.notify();
  }

  #tellBookmark(): void {
    if (this.#pace.quietMs < bookmarkEveryMs || this.#untaken.size > 0) return;
    const source = this.#sources.confirmed;
    if (source === undefined) return;
    this.#sources.cut('none');
    this.#standing = this.#sources.positions;
    this.#openings.forget();
    this.#tell([{ source, before: source.known, after: source.known, news: { type: 'confirmed' } }]);
  }

  /** Lets in who waits, as many as there is time for: to tell what was missed may take a while. True if there are more. */
  #admit(): boolean {
    const { clock } = this.#options.surroundings;
    const endMs = clock.monotonic() + pieceMs;
    const admitted: ViewReader<Message>[] = [];
    for (const reader of this.#joining) {
      this.#joining.delete(reader);
      this.#readers.add(reader);
      const opening = this.#openings.openingAt(reader.after);
      reader.startRun(opening, 'first');
      for (const arrears of opening.awaited()) reader.waitForSource(arrears);
      admitted.push(reader);
      if (clock.monotonic() > endMs) break;
    }
    for (const reader of admitted) reader.notify();
    if (this.#joining.size === 0) this.#judging.forget();
    return this.#joining.size > 0;
  }

  #run({ isOpening = false, ...said }: RunContents): MessageRun<Message> {
    return createMessageRun({ ...said, standing: this.#standing, make: (draft, known) => this.#make(draft, known, isOpening) });
  }

  #make(draft: MessageDraft, { base, over }: KnownPositions<ViewPositions>, isOpening: boolean): Message {
    const { surroundings, scope, maker } = this.#options;
    return maker(draft, {
      isOpening,
      seal: ({ source, position }) => {
        const positions = withPositions(base.positions, new Map([...over(), [source.key, position]]));
        return surroundings.seal.close(printStreamCursor({ scope: scope.digest, positions }), this.#sealScope);
      },
      summarize: () =>
        jobSummaryOf(
          base.counts,
          base.syncs.map((told) => this.#sources.withCurrentAge(told)),
        ),
    });
  }

  #hear(change: MirrorsChange): void {
    if (!this.#sources.concerns(change.cluster)) return;
    this.#heard.push(change);
    this.#stir();
  }

  #take(change: MirrorsChange): void {
    this.#sources.mirrorsChanged(change);
    if (change.type === 'joined') this.#check();
  }

  async #checkNowAndThen(): Promise<void> {
    const { signal } = this.#life;
    for (;;) {
      await this.#options.surroundings.clock.sleep(checkEveryMs, signal);
      if (signal.aborted) return;
      for (const cluster of this.#sources.clusters) this.#heard.push({ type: 'changed', cluster });
      this.#stir();
      this.#guarded(() => this.#check());
    }
  }

  /** Before a byte of these is told: whoever has lost the right to them is told that alone. */
  #expel(parts: readonly SourceSlice[]): void {
    const { mirrors } = this.#options.surroundings;
    const members = mirrors.members();
    const told = parts.map(({ source }) => source).filter(({ cluster }) => members.has(cluster.name));
    const lost = this.#rights.callersWithout(told);
    if (lost.size > 0) for (const reader of this.#all()) if (lost.has(reader.caller.key)) reader.end(lostRightError());
  }

  #check(): void {
    const { mirrors } = this.#options.surroundings;
    const members = mirrors.members();
    this.#rights.check(
      [...this.#sources.all.values()],
      (cluster) => mirrors.members().has(cluster),
      (verdicts) => this.#guarded(() => this.#judge(verdicts, members)),
    );
  }

  #judge(verdicts: ReadonlyMap<string, RightsVerdict>, members: ReadonlySet<ClusterName>): void {
    for (const reader of this.#all()) if (verdicts.get(reader.caller.key)?.type === 'lost') reader.end(lostRightError());
    this.#moves.applyVerdicts(verdicts);
    this.#arrived = members;
    this.#stir();
  }

  /** The reader goes on in the view of its new scope, told whole of what it sees otherwise now. */
  #move(reader: ViewReader<Message>, target: StreamView<Message>): void {
    if (this.#readers.has(reader)) {
      // Both as of this moment, so that what it has not been told by the one is what it has not been told by the other.
      this.#settle();
      target.#guarded(() => target.#settle());
      if (target.#life.signal.aborted) reader.end(failedViewError());
      if (!reader.ended) target.#adopt(reader, this.#sources.all);
    } else {
      reader.moveTo(target);
      target.join(reader);
    }
    this.leave(reader);
  }

  #settle(): void {
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
