import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { QueueBudget } from '../../load/queue-budget.ts';
import type { Model } from '../../model/model.ts';
import type { ChangesMessage } from '../messages/changes-message.ts';
import type { MessageMaker } from '../messages/message-makers.ts';
import type { ResumePoint } from '../messages/stream-cursor.ts';
import { ViewReader } from '../readers/view-reader.ts';
import type { StreamListener, StreamReader, StreamSource } from '../stream-source.ts';
import { StreamView } from './view.ts';
import type { ViewDependencies } from './view-dependencies.ts';
import type { ViewQuery } from './view-sources.ts';
import { type WatchScope, watchScopeOf } from './watch-scope.ts';

/** A requested stream whose arguments are checked. */
export interface CheckedStream {
  readonly caller: Caller;
  /** The model against which the query was checked. The meaning of a filter depends on it. */
  readonly model: Model;
  readonly query: ViewQuery;
  readonly after: ResumePoint | undefined;
}

interface ViewRegistryOptions<Message extends ChangesMessage> {
  readonly dependencies: ViewDependencies;
  readonly budget: QueueBudget;
  readonly maker: MessageMaker<Message>;
}

/** The views of one type of message. Streams with the same query, model and rights share one view. All views end when the signal aborts. */
export class ViewRegistry<Message extends ChangesMessage> {
  readonly #options: ViewRegistryOptions<Message>;
  readonly #signal: AbortSignal;
  readonly #views = new Map<string, StreamView<Message>>();
  /** A number for each model, as a part of the keys of views. */
  readonly #modelNumbers = new WeakMap<Model, number>();
  #lastModelNumber = 0;

  constructor(options: ViewRegistryOptions<Message>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    signal.addEventListener('abort', () => {
      for (const view of [...this.#views.values()]) view.endSilently();
    });
  }

  get views(): number {
    return this.#views.size;
  }

  get readers(): number {
    return this.#views.values().reduce((sum, view) => sum + view.readers, 0);
  }

  /** Returns the source of a stream. Opening it joins the view of the caller's scope, or starts that view. */
  source(requested: CheckedStream): StreamSource<Message> {
    return { open: (listener, signal) => this.#open(requested, listener, signal) };
  }

  /** Ends the streams of kinds that the new model does not have. */
  modelChanged(model: Model): void {
    for (const view of [...this.#views.values()]) view.modelChanged(model);
  }

  async #open(requested: CheckedStream, listener: StreamListener, signal: AbortSignal): Promise<StreamReader<Message>> {
    signal.throwIfAborted();
    const scope = await this.#settledScope(requested, signal);
    if (this.#signal.aborted) throw new MusterError('SHUTTING_DOWN', 'the gateway is stopping');
    if (scope.isEmpty) throw new MusterError('FORBIDDEN', 'the caller may watch none of the requested kinds in any cluster');
    const view = this.#viewOf(requested, scope, 'opening');
    const { caller, after } = requested;
    const { budget, dependencies } = this.#options;
    const onThrow = (error: unknown) =>
      dependencies.log.error({ err: loggableError(error) }, 'a listener of a stream threw: its stream was ended');
    const reader = new ViewReader<Message>({ caller, listener, signal, host: view, openShare: budget.open, onThrow, after });
    view.join(reader);
    return reader;
  }

  /**
   * Returns the scope of the caller. Requests the rights again if clusters join or leave meanwhile, so that the scope covers the current
   * members.
   */
  async #settledScope({ query, caller }: CheckedStream, signal: AbortSignal): Promise<WatchScope> {
    const { mirrors } = this.#options.dependencies;
    for (;;) {
      const members = mirrors.members();
      const scope = this.#currentScope(query, caller, signal);
      if (!(scope instanceof Promise)) return scope;
      const known = await scope;
      signal.throwIfAborted();
      if (mirrors.members() === members) return known;
    }
  }

  /** Returns the scope of the caller now. Finds out first which clusters are visible, because that may have changed since the stream began. */
  #currentScope(query: ViewQuery, caller: Caller, signal: AbortSignal): WatchScope | Promise<WatchScope> {
    const preparing = this.#options.dependencies.access.prepare(caller, signal);
    return preparing === undefined ? this.#scopeOf(query, caller, signal) : preparing.then(() => this.#scopeOf(query, caller, signal));
  }

  #scopeOf({ kinds, clusters, conditions }: ViewQuery, caller: Caller, signal: AbortSignal): WatchScope | Promise<WatchScope> {
    const { mirrors, access } = this.#options.dependencies;
    const { namespaces } = conditions;
    const requested = clusters ?? [...mirrors.members()];
    const visible = requested.filter((name) => access.maySeeCluster(caller, name));
    return watchScopeOf(access, { caller, kinds, namespaces, clusters: visible, hidden: visible.length < requested.length }, signal);
  }

  #viewOf({ model, query }: Pick<CheckedStream, 'model' | 'query'>, scope: WatchScope, from: 'opening' | 'moving'): StreamView<Message> {
    const { dependencies, maker } = this.#options;
    const { mirrors, sources } = dependencies;
    const key = JSON.stringify([this.#numberOf(model), query.filter, scope.digest]);
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    // The budget is checked only for a new stream. A reader that moves was admitted with its old view.
    if (from === 'opening') sources.admit(query.kinds.length * (query.clusters?.length ?? mirrors.members().size));
    const view = new StreamView<Message>({
      dependencies,
      query,
      scope,
      maker,
      scopeFor: (caller, signal) => this.#currentScope(query, caller, signal),
      viewFor: (other) => this.#viewOf({ model, query }, other, 'moving'),
      onEnd: () => {
        if (this.#views.get(key) === view) this.#views.delete(key);
      },
    });
    this.#views.set(key, view);
    return view;
  }

  #numberOf(model: Model): number {
    const number = this.#modelNumbers.get(model) ?? ++this.#lastModelNumber;
    this.#modelNumbers.set(model, number);
    return number;
  }
}
