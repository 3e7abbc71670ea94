import type { Access, Caller } from '../access/access.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import type { Model } from '../model/model.ts';
import type { Mirrors, MirrorsChange } from '../watch/mirrors.ts';
import type { ClusterViews } from './cluster-views.ts';
import { CutPace } from './cut-pace.ts';
import type { Seal, StreamScope } from './seal.ts';
import type { SensitiveKinds } from './sensitive-kinds.ts';
import { audiencesOf } from './stream-audience.ts';
import { type Position, printStreamCursor, withPositions } from './stream-cursor.ts';
import type { Draft, Part } from './stream-draft.ts';
import type { MessageMaker } from './stream-message.ts';
import { Openings, type RunOf } from './stream-openings.ts';
import type { ReaderHost, ViewReader } from './stream-reader.ts';
import { differences } from './stream-resume.ts';
import { createRun, type Known, type Run } from './stream-run.ts';
import type { Scope } from './stream-scope.ts';
import type { ChangesMessage } from './streams.ts';
import { summaryOf } from './tally.ts';
import { type Verdict, ViewRights } from './view-rights.ts';
import type { ViewSource } from './view-source.ts';
import { type Standing, type ViewQuestion, ViewSources } from './view-sources.ts';

/** What all views share. */
export interface ViewSurroundings {
  readonly mirrors: Mirrors;
  readonly access: Access;
  readonly views: ClusterViews;
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ViewOptions<Message extends ChangesMessage> {
  readonly surroundings: ViewSurroundings;
  readonly question: ViewQuestion;
  readonly scope: Scope;
  readonly maker: MessageMaker<Message>;
  /** What a caller may watch of the question now. */
  readonly scopeFor: (caller: Caller, signal: AbortSignal) => Scope | Promise<Scope>;
  /** The view of the same question for another scope. */
  readonly viewFor: (scope: Scope) => View<Message>;
  /** It has ended: nobody else is to join it. */
  readonly onEnd: () => void;
}

/** In one turn. */
const admittingMs = 5;
const bookmarkEveryMs = 30_000;
const checkEveryMs = 60_000;

/**
 * What all who ask the same with the same rights are told: the sources' news, cut into batches that are the same objects for all (docs/streams.md 2).
 *
 * Begins with its first reader and ends with its last; nothing is left of it then.
 */
export class View<Message extends ChangesMessage> implements ReaderHost<Message> {
  readonly #options: ViewOptions<Message>;
  readonly #life = new AbortController();
  readonly #rights: ViewRights;
  readonly #sources: ViewSources;
  readonly #sealScope: StreamScope;
  readonly #pace: CutPace;
  readonly #openings: Openings<Message>;
  /** Who is told. */
  readonly #readers = new Set<ViewReader<Message>>();
  /** Who will be, from the next attempt on. */
  readonly #joining = new Set<ViewReader<Message>>();
  /** Who has come in this turn. */
  readonly #newcomers = new Set<ViewReader<Message>>();
  /** Readers in step that have something of the last batch still to take, and have not paused. */
  readonly #untaken = new Set<ViewReader<Message>>();
  #standing: Standing;
  #stirred = false;

  constructor(options: ViewOptions<Message>) {
    this.#options = options;
    const { surroundings, question, scope, scopeFor } = options;
    const { access, mirrors, clock } = surroundings;
    this.#sealScope = { stream: question.filter };
    this.#rights = new ViewRights({ access, scope, scopeFor }, this.#life.signal);
    this.#sources = new ViewSources({
      ...surroundings,
      question,
      scope,
      onNews: () => this.#stir(),
      guard: (action) => this.#guarded(action),
    });
    this.#standing = this.#sources.standing;
    this.#openings = new Openings({
      scope: scope.digest,
      kinds: question.kinds,
      sources: () => this.#sources.all,
      run: (said) => this.#run(said),
    });
    const attempt = () => this.#guarded(() => this.#attempt());
    const onImpatient = () => {
      this.#untaken.clear();
      attempt();
    };
    this.#pace = new CutPace({ clock, onElapsed: attempt, onImpatient }, this.#life.signal);
    mirrors.onChange((change) => this.#guarded(() => this.#heard(change)), this.#life.signal);
    void this.#checkNowAndThen();
  }

  get scope(): Scope {
    return this.#options.scope;
  }

  get readers(): number {
    return this.#readers.size + this.#joining.size + this.#newcomers.size;
  }

  /** It will be told its first messages in a later turn. */
  join(reader: ViewReader<Message>): void {
    this.#newcomers.add(reader);
    this.#rights.add(reader.caller);
    // Not in this turn: whoever opens a stream has no reader yet.
    setImmediate(() => {
      if (this.#newcomers.delete(reader)) this.#joining.add(reader);
      this.#guarded(() => this.#attempt());
    });
  }

  leave(reader: ViewReader<Message>): void {
    if (!this.#readers.delete(reader) && !this.#joining.delete(reader) && !this.#newcomers.delete(reader)) return;
    this.#rights.remove(reader.caller);
    this.caughtUp(reader);
    if (this.readers === 0) this.#end();
  }

  fellBehind(reader: ViewReader<Message>): void {
    this.#untaken.add(reader);
  }

  caughtUp(reader: ViewReader<Message>): void {
    if (!this.#untaken.delete(reader) || this.#untaken.size > 0 || !this.#pace.waiting) return;
    this.#pace.waitNoLonger();
    this.#stir();
  }

  make(draft: Draft, over: ReadonlyMap<string, Position | undefined>): Message {
    return this.#make(draft, { base: this.#standing, over: () => over });
  }

  /** Ends those streams whose kinds the model has no more, or nobody serves any more. */
  modelChanged({ kinds }: Model): void {
    const { question } = this.#options;
    const now = question.kinds.map((kind) => ({ kind, known: kinds.get(keyOfKind(kind)) }));
    const isAbsent = now.some(({ known }) => known === undefined);
    const isForsaken = now.every(({ kind, known }) => known?.deprecated !== undefined && kind.deprecated === undefined);
    if (isAbsent || isForsaken) this.#endAll(new MusterError('GONE', 'no cluster serves what was asked for any more'));
  }

  /** Ends it without a word to its readers. */
  cease(): void {
    for (const reader of this.#all()) reader[Symbol.dispose]();
    this.#end();
  }

  #all(): readonly ViewReader<Message>[] {
    return [...this.#readers, ...this.#joining, ...this.#newcomers];
  }

  #end(): void {
    if (this.#life.signal.aborted) return;
    this.#life.abort();
    this.#sources.end();
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
      this.#options.surroundings.log.error({ err: error, filter: this.#options.question.filter }, 'a view of streams failed and was ended');
      this.#endAll(new MusterError('UNAVAILABLE', 'this stream has failed: go on with after'));
    }
  }

  #stir(): void {
    if (this.#stirred) return;
    this.#stirred = true;
    queueMicrotask(() => {
      this.#stirred = false;
      this.#guarded(() => this.#attempt());
    });
  }

  /** Cuts if there is news and everybody is ready for it, and lets in who waits for that. */
  #attempt(): void {
    if (this.#pace.windowOpen && this.#joining.size === 0) return;
    this.#sources.pull();
    if (this.#sources.hasNews) {
      if (this.#untaken.size > 0) {
        this.#pace.wait();
        return;
      }
      this.#cut();
    } else this.#tellBookmark();
    this.#admit();
  }

  /** Tells all that is new, also to those who have not taken what was told before. */
  #cut(): void {
    this.#pace.waitNoLonger();
    this.#untaken.clear();
    const parts = this.#sources.cut(this.#readers.size > 0 ? 'some' : 'none');
    this.#expel(parts);
    this.#standing = this.#sources.standing;
    this.#openings.forget();
    this.#tell(parts);
    // Where one mirror has taken the place of another, the end of the old one is told first.
    if (this.#sources.hasNews) this.#stir();
  }

  #tell(parts: readonly Part[]): void {
    if (parts.length === 0 || this.#readers.size === 0) return;
    const readers = [...this.#readers];
    const { inStep, behind } = audiencesOf(readers, parts);
    for (const reader of behind) reader.owe(parts);
    const runs = inStep.map(({ readers: together, before, beside }) => {
      const run = this.#run({ parts, before, beside });
      for (const reader of together) reader.follow(parts, run);
      return run;
    });
    if (runs.length === 0 || runs.some(({ length }) => length > 0)) this.#pace.left();
    for (const reader of readers) reader.notify();
  }

  #tellBookmark(): void {
    const source = this.#sources.confirmed;
    if (source === undefined || this.#pace.quietMs < bookmarkEveryMs || this.#untaken.size > 0) return;
    this.#sources.cut('none');
    this.#standing = this.#sources.standing;
    this.#openings.forget();
    this.#tell([{ source, before: source.known, after: source.known, news: { type: 'confirmed' } }]);
  }

  /** Lets in who waits, as many as there is time for in one turn: to tell what was missed may take a while. */
  #admit(): void {
    const { clock } = this.#options.surroundings;
    const endMs = clock.monotonic() + admittingMs;
    const admitted: ViewReader<Message>[] = [];
    for (const reader of this.#joining) {
      this.#joining.delete(reader);
      this.#readers.add(reader);
      const opening = this.#openings.at(reader.after);
      reader.give(opening, 'first');
      for (const arrears of opening.awaited()) reader.awaits(arrears);
      admitted.push(reader);
      if (clock.monotonic() > endMs) break;
    }
    if (this.#joining.size > 0) setImmediate(() => this.#guarded(() => this.#attempt()));
    for (const reader of admitted) reader.notify();
  }

  #run(said: RunOf): Run<Message> {
    return createRun({ ...said, standing: this.#standing, make: (draft, known) => this.#make(draft, known) });
  }

  #make(draft: Draft, { base, over }: Known<Standing>): Message {
    const { surroundings, scope, maker } = this.#options;
    return maker(draft, {
      seal: () =>
        surroundings.seal.close(printStreamCursor({ scope: scope.digest, vector: withPositions(base.vector, over()) }), this.#sealScope),
      summarize: () =>
        summaryOf(
          base.counts,
          base.syncs.map((told) => this.#sources.aged(told)),
        ),
    });
  }

  #heard(change: MirrorsChange): void {
    if (!this.#sources.asksFor(change.cluster)) return;
    if (change.type !== 'joined') {
      this.#sources.heard(change);
      return;
    }
    this.#sources.refresh(change.cluster);
    this.#check();
  }

  async #checkNowAndThen(): Promise<void> {
    const { signal } = this.#life;
    for (;;) {
      await this.#options.surroundings.clock.sleep(checkEveryMs, signal);
      if (signal.aborted) return;
      this.#guarded(() => {
        this.#sources.refreshAll();
        this.#check();
      });
    }
  }

  /** Before a byte of these is told: whoever has lost the right to them is told that alone. */
  #expel(parts: readonly Part[]): void {
    const { mirrors } = this.#options.surroundings;
    const told = parts.map(({ source }) => source).filter(({ cluster }) => mirrors.cluster(cluster.name) !== undefined);
    const lost = this.#rights.lostAmong(told);
    if (lost.size > 0) for (const reader of this.#all()) if (lost.has(reader.caller.key)) reader.end(rightLost());
  }

  #check(): void {
    const { mirrors } = this.#options.surroundings;
    const members = new Set(mirrors.clusters().map(({ name }) => name));
    const told = [...this.#sources.all.values()];
    this.#rights.check(
      told,
      (cluster) => mirrors.cluster(cluster) !== undefined,
      (verdicts) => this.#guarded(() => this.#judge(verdicts, members)),
    );
  }

  #judge(verdicts: ReadonlyMap<string, Verdict>, members: ReadonlySet<ClusterName>): void {
    for (const reader of this.#all()) {
      const verdict = verdicts.get(reader.caller.key);
      if (verdict?.type === 'lost') reader.end(rightLost());
      if (verdict?.type === 'gained') this.#move(reader, this.#options.viewFor(verdict.scope));
    }
    if (!this.#life.signal.aborted) this.#sources.addMissing(members);
  }

  /** The reader goes on in the view of its new scope, told whole of what it sees otherwise now. */
  #move(reader: ViewReader<Message>, target: View<Message>): void {
    if (this.#readers.has(reader)) {
      // Both as of this moment, so that what it has not been told by the one is what it has not been told by the other.
      this.#settle();
      target.#settle();
      if (!reader.ended) target.#adopt(reader, this.#sources.all);
    } else {
      reader.move(target);
      target.join(reader);
    }
    this.leave(reader);
  }

  #settle(): void {
    this.#sources.pull();
    if (this.#sources.hasNews) this.#cut();
  }

  #adopt(reader: ViewReader<Message>, from: ReadonlyMap<string, ViewSource>): void {
    this.#readers.add(reader);
    this.#rights.add(reader.caller);
    reader.move(this);
    reader.owe(differences(from, this.#sources.all));
    reader.notify();
  }
}

function rightLost(): MusterError {
  return new MusterError('FORBIDDEN', 'the right to watch some of what is streamed has been lost');
}
