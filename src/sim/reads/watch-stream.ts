import { type Refusal, statusOf } from '../kinds/api-status.ts';
import { parsed, type StoredObject, storedOf, type WireForm, wireText } from '../kinds/stored-object.ts';
import { isSelected, type Selection } from '../requests/list-options.ts';
import type { Outlet } from '../requests/outlet.ts';
import type { AskedResource } from '../requests/request-target.ts';
import { streamHeaders } from '../requests/send-answer.ts';
import type { ResourceContext, ServedRequest, ServedWatch } from '../requests/sim-server.ts';
import { bookmarkText } from '../requests/wire-list.ts';
import type { Change, KindStorage } from '../state/kind-storage.ts';

export interface WatchStreamOptions {
  readonly form: WireForm;
  readonly selection: Selection;
  readonly allowsBookmarks: boolean;
  /** Changes up to this revision are not told. */
  readonly after: number;
}

/** A watch that is open: what happens to its kind goes out of it, one line per event. */
export class WatchStream implements ServedWatch {
  readonly asked: AskedResource;
  readonly request: ServedRequest;
  readonly allowsBookmarks: boolean;
  readonly #outlet: Outlet;
  readonly #form: WireForm;
  readonly #selection: Selection;
  #after: number;
  /** Changes that wait until the first state has been told. */
  #backlog: Change[] | undefined;

  constructor({ asked, request, outlet }: ResourceContext, options: WatchStreamOptions) {
    this.asked = asked;
    this.request = request;
    this.allowsBookmarks = options.allowsBookmarks;
    this.#outlet = outlet;
    this.#form = options.form;
    this.#selection = options.selection;
    this.#after = options.after;
    outlet.head(200, streamHeaders);
  }

  get signal(): AbortSignal {
    return this.#outlet.signal;
  }

  get storage(): KindStorage {
    return this.asked.storage;
  }

  /** Tells the objects as ADDED. Changes wait until `live` is called. */
  async tellState(objects: readonly StoredObject[]): Promise<void> {
    for (const object of objects) {
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
    void this.#outlet.write(bytes);
  }

  end(): void {
    this.#outlet.end();
  }

  reset(): void {
    this.#outlet.reset();
  }

  #event(type: string, text: string): void {
    this.emit(`{"type":"${type}","object":${text}}\n`);
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
