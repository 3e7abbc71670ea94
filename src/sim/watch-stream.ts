import { Buffer } from 'node:buffer';
import type { AnswerContext, SimServer } from './answer-context.ts';
import { streamHeaders } from './answer-context.ts';
import { type Refusal, statusOf } from './api-status.ts';
import type { AskedResource, RequestFacts } from './asked.ts';
import type { Cut } from './behaviour.ts';
import type { Change, KindStorage } from './kind-storage.ts';
import { isSelected, type Selection } from './list-options.ts';
import type { Outlet } from './outlet.ts';
import type { SimRequest } from './sim-cluster.ts';
import { parsed, type StoredObject, storedOf, type WireForm, wireText } from './stored-object.ts';
import { bookmarkText } from './wire-list.ts';

export interface StreamOptions {
  readonly form: WireForm;
  readonly selection: Selection;
  readonly allowsBookmarks: boolean;
  /** Changes up to this revision are not told. */
  readonly after: number;
}

/** A watch that is open: what happens to its kind goes out of it, one line per event. */
export class OpenStream {
  readonly asked: AskedResource;
  readonly facts: RequestFacts;
  readonly request: SimRequest;
  readonly allowsBookmarks: boolean;
  readonly #server: SimServer;
  readonly #outlet: Outlet;
  readonly #form: WireForm;
  readonly #selection: Selection;
  #after: number;
  /** Changes that wait until the first state has been told. */
  #backlog: Change[] | undefined;
  #headSent = false;

  constructor({ asked, facts, request, server, outlet }: AnswerContext & { readonly asked: AskedResource }, options: StreamOptions) {
    this.asked = asked;
    this.facts = facts;
    this.request = request;
    this.allowsBookmarks = options.allowsBookmarks;
    this.#server = server;
    this.#outlet = outlet;
    this.#form = options.form;
    this.#selection = options.selection;
    this.#after = options.after;
  }

  get signal(): AbortSignal {
    return this.#outlet.signal;
  }

  get storage(): KindStorage {
    return this.asked.storage;
  }

  /** Tells the objects as ADDED. Changes wait until `live` is called. */
  async tellState(objects: readonly StoredObject[], upTo: number = objects.length): Promise<void> {
    this.#backlog ??= [];
    for (const object of objects.slice(0, upTo)) {
      if (this.signal.aborted) return;
      this.#event('ADDED', this.#text(object));
      await this.#outlet.room();
    }
  }

  /** The objects that the watch has selected. */
  selected(objects: readonly StoredObject[]): readonly StoredObject[] {
    return objects.filter((object) => isSelected(this.storage.kind, object, this.#selection));
  }

  /** Holds changes back until `live`. */
  hold(): void {
    this.#backlog ??= [];
  }

  /** From now on changes are told as they happen; those held back come first. */
  live(): void {
    const held = this.#backlog ?? [];
    this.#backlog = undefined;
    for (const change of held) this.tell(change);
  }

  /** Tells a change, if it is of this watch. */
  tell(change: Change): void {
    if (change.storage !== this.storage || change.revision <= this.#after) return;
    if (this.#backlog !== undefined) return void this.#backlog.push(change);
    this.#after = change.revision;
    const { kind } = this.storage;
    const was = change.before !== undefined && isSelected(kind, change.before, this.#selection);
    const is = change.type !== 'DELETED' && isSelected(kind, change.object, this.#selection);
    if (is) this.#event(was ? 'MODIFIED' : 'ADDED', this.#text(change.object));
    else if (was) this.#event('DELETED', this.#text(this.#lastState(change)));
  }

  bookmark(version: string, options: { readonly endsInitialEvents: boolean }): void {
    this.#event('BOOKMARK', bookmarkText(this.storage.kind, this.#form, version, options));
  }

  /** Tells an ERROR, which is the last event, and ends. */
  fail(refused: Refusal): void {
    this.#event('ERROR', JSON.stringify(statusOf(refused)));
    this.end();
  }

  /** Bytes as they are. */
  emit(bytes: Uint8Array | string): void {
    this.openHead();
    this.#outlet.write(bytes);
  }

  end(): void {
    this.openHead();
    this.#outlet.end();
  }

  reset(): void {
    this.#outlet.reset();
  }

  /** Sends the headers, if they have not been sent. */
  openHead(): void {
    if (this.#headSent) return;
    this.#headSent = true;
    this.#outlet.head(200, streamHeaders);
  }

  #event(type: string, text: string): void {
    const line = `{"type":"${type}","object":${text}}\n`;
    const cut = this.#server.behaviour.cuts.find(this.facts);
    if (cut === undefined || cut.where === 'gzip') {
      this.emit(line);
      return;
    }
    this.#server.behaviour.cuts.take(this.facts);
    this.emit(cutOff(line, cut));
    if (cut.end === 'clean') this.end();
    else this.reset();
  }

  #text(object: StoredObject): string {
    return wireText(this.storage.kind, object, this.#form);
  }

  /** What leaves a selector is told as it was last seen, at the revision at which it left. */
  #lastState({ type, object, before, revision }: Change): StoredObject {
    if (type === 'DELETED' || before === undefined) return object;
    const { kind } = this.storage;
    const last = parsed(kind, before);
    return storedOf(kind, { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } }, revision);
  }
}

function cutOff(line: string, { where }: Cut): Uint8Array {
  const bytes = Buffer.from(line);
  // The first byte of a character of several has its two highest bits set.
  const character = where === 'character' ? bytes.findIndex((byte) => byte >= 0xc0) : -1;
  return bytes.subarray(0, character < 0 ? bytes.length >> 1 : character + 1);
}
