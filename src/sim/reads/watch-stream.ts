import { type ApiRefusal, statusDocument } from '../kinds/api-status.ts';
import { parseSimObject, type SimObject, simObjectOf, type WireForm, wireText } from '../kinds/sim-object.ts';
import { isListed, type ListSelection } from '../requests/list-options.ts';
import type { ResourceTarget } from '../requests/request-target.ts';
import type { ResponseOutlet } from '../requests/response-outlet.ts';
import { streamHeaders } from '../requests/send-answer.ts';
import type { ResourceContext, ServedRequest, ServedWatch } from '../requests/sim-server.ts';
import { bookmarkText } from '../requests/wire-list.ts';
import type { KindStorage, StorageChange } from '../state/kind-storage.ts';

export interface WatchStreamOptions {
  readonly form: WireForm;
  readonly selection: ListSelection;
  readonly allowsBookmarks: boolean;
  /** Changes up to this revision are not sent. */
  readonly after: number;
}

/** An open watch. Sends each change of its kind as one line. */
export class WatchStream implements ServedWatch {
  readonly target: ResourceTarget;
  readonly request: ServedRequest;
  readonly allowsBookmarks: boolean;
  readonly #outlet: ResponseOutlet;
  readonly #form: WireForm;
  readonly #selection: ListSelection;
  #after: number;
  /** Changes that wait until the initial events are sent. */
  #backlog: StorageChange[] | undefined;

  constructor({ target, request, outlet }: ResourceContext, options: WatchStreamOptions) {
    this.target = target;
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
    return this.target.storage;
  }

  /** Sends the objects as ADDED. Changes wait until `live` is called. */
  async sendState(objects: readonly SimObject[]): Promise<void> {
    for (const object of objects) {
      if (this.signal.aborted) return;
      this.#event('ADDED', this.#text(object));
      await this.#outlet.room();
    }
  }

  /** Returns the objects that the watch selects. */
  selected(objects: readonly SimObject[]): readonly SimObject[] {
    return objects.filter((object) => isListed(this.storage.kind, object, this.#selection));
  }

  /** Holds changes back until `live` is called. */
  hold(): void {
    this.#backlog ??= [];
  }

  /** Sends the changes held back, then every new change at once. */
  live(): void {
    const held = this.#backlog ?? [];
    this.#backlog = undefined;
    for (const change of held) this.send(change);
  }

  /**
   * Sends the change if the watch selects the object. An object that enters the selection is ADDED, and one that leaves it is DELETED.
   * While changes are held back, the change waits for `live`.
   */
  send(change: StorageChange): void {
    if (change.storage !== this.storage || change.revision <= this.#after) return;
    if (this.#backlog !== undefined) return void this.#backlog.push(change);
    this.#after = change.revision;
    const { kind } = this.storage;
    const was = change.before !== undefined && isListed(kind, change.before, this.#selection);
    const is = change.type !== 'DELETED' && isListed(kind, change.object, this.#selection);
    if (is) this.#event(was ? 'MODIFIED' : 'ADDED', this.#text(change.object));
    else if (was) this.#event('DELETED', this.#text(this.#lastState(change)));
  }

  bookmark(version: string, options: { readonly endsInitialEvents: boolean }): void {
    this.#event('BOOKMARK', bookmarkText(this.storage.kind, this.#form, version, options));
  }

  /** Sends an ERROR as the last event, and ends. */
  fail(refused: ApiRefusal): void {
    this.#event('ERROR', JSON.stringify(statusDocument(refused)));
    this.end();
  }

  /** Sends bytes unchanged. */
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

  #text(object: SimObject): string {
    return wireText(this.storage.kind, object, this.#form);
  }

  /**
   * Returns the object of a DELETED event. An object that leaves the selection is sent in its last selected state, with the revision at
   * which it left.
   */
  #lastState({ type, object, before, revision }: StorageChange): SimObject {
    if (type === 'DELETED' || before === undefined) return object;
    const { kind } = this.storage;
    const last = parseSimObject(kind, before);
    return simObjectOf(kind, { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } }, revision);
  }
}
